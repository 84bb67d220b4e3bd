// Every scheduler beside PyTorch's, to the last digit; their state, their errors.
#include "tests/core/expect_error.h"
#include "tests/optim/reference.h"

namespace cresset::testing::scheduler_test {
namespace {

using namespace optim;

struct Problem {
  Tensor a = zeros({2}).requires_grad_(), b = zeros({3}).requires_grad_();
  SGD optimizer{std::vector<OptimizerParamGroup>{OptimizerParamGroup({a}),
                                                 OptimizerParamGroup({b}, SGDOptions(0.4).momentum(0.9))},
                SGDOptions(0.1).momentum(0.9)};
};

using Make = std::shared_ptr<LRScheduler> (*)(Optimizer& optimizer);
struct Case {
  const char* name;
  Make make;
};

template <class S, class... Args>
std::shared_ptr<LRScheduler> made(Optimizer& o, Args&&... args) {
  return std::make_shared<S>(o, std::forward<Args>(args)...);
}
double one_over(double x) { return 1 / x; }

const Case kCases[] = {
    {"lambda",
     [](Optimizer& o) {
       return made<LambdaLR>(o,
                             std::vector<LRFunction>{[](int64_t e) { return std::pow(0.95, static_cast<double>(e)); },
                                                     [](int64_t e) { return 1 / (1 + static_cast<double>(e)); }});
     }},
    {"multiplicative",
     [](Optimizer& o) {
       return made<MultiplicativeLR>(o, [](int64_t e) { return 0.9 + 0.001 * static_cast<double>(e); });
     }},
    {"step", [](Optimizer& o) { return made<StepLR>(o, 7, 0.3); }},
    {"multistep",
     [](Optimizer& o) {
       return made<MultiStepLR>(o, std::vector<int64_t>{20, 5, 9, 9}, 0.5);
     }},
    {"constant", [](Optimizer& o) { return made<ConstantLR>(o, 0.3, 6); }},
    {"linear", [](Optimizer& o) { return made<LinearLR>(o, 0.2, 0.9, 8); }},
    {"exponential", [](Optimizer& o) { return made<ExponentialLR>(o, 0.93); }},
    {"polynomial", [](Optimizer& o) { return made<PolynomialLR>(o, 20, 1.7); }},
    {"cosine", [](Optimizer& o) { return made<CosineAnnealingLR>(o, 9, 0.003); }},
    {"restarts", [](Optimizer& o) { return made<CosineAnnealingWarmRestarts>(o, 5, 2, 0.001); }},
    {"restarts_same", [](Optimizer& o) { return made<CosineAnnealingWarmRestarts>(o, 6); }},
    {"cyclic",
     [](Optimizer& o) {
       return made<CyclicLR>(o, CyclicLROptions(0.01, {0.1, 0.3}).step_size_up(4).step_size_down(7));
     }},
    {"cyclic2",
     [](Optimizer& o) {
       return made<CyclicLR>(o, CyclicLROptions(0.01, 0.2).step_size_up(5).mode("triangular2").base_momentum(0.7));
     }},
    {"cyclic_range",
     [](Optimizer& o) {
       return made<CyclicLR>(o, CyclicLROptions(0.01, 0.2).step_size_up(5).mode("exp_range").gamma(0.95));
     }},
    {"cyclic_own",
     [](Optimizer& o) {
       return made<CyclicLR>(o, CyclicLROptions(0.01, 0.2).step_size_up(3).scale_fn(one_over).cycle_momentum(false));
     }},
    {"onecycle", [](Optimizer& o) { return made<OneCycleLR>(o, OneCycleLROptions(0.5).total_steps(41)); }},
    {"onecycle_linear",
     [](Optimizer& o) {
       return made<OneCycleLR>(
           o,
           OneCycleLROptions(PerGroup{0.5, 0.2}).epochs(6).steps_per_epoch(7).anneal_strategy("linear").pct_start(0.2));
     }},
    {"onecycle_three",
     [](Optimizer& o) {
       return made<OneCycleLR>(
           o, OneCycleLROptions(0.5).total_steps(41).three_phase(true).div_factor(10).cycle_momentum(false));
     }},
    {"sequential",
     [](Optimizer& o) {
       LRSchedulers parts = {made<ConstantLR>(o, 0.1, 3), made<ExponentialLR>(o, 0.9),
                             made<CosineAnnealingLR>(o, 8, 0.001)};
       return made<SequentialLR>(o, parts, std::vector<int64_t>{5, 12});
     }},
    {"chained",
     [](Optimizer& o) {
       return std::shared_ptr<LRScheduler>(std::make_shared<ChainedScheduler>(
           LRSchedulers{made<ConstantLR>(o, 0.1, 4), made<ExponentialLR>(o, 0.95), made<StepLR>(o, 7, 0.5)}));
     }},
    {"swa", [](Optimizer& o) { return made<SWALR>(o, 0.05, 6); }},
    {"swa_linear",
     [](Optimizer& o) {
       return made<SWALR>(o, PerGroup{0.05, 0.3}, 4, SWALR::Anneal::linear);
     }},
};

std::vector<double> rates(Optimizer& optimizer) {
  std::vector<double> numbers;
  for (OptimizerParamGroup& group : optimizer.param_groups()) {
    numbers.push_back(group.get_lr());
    numbers.push_back(*momentum_of(group));
  }
  return numbers;
}

class SchedulerParity : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, SchedulerParity, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(SchedulerParity, ToTheLastDigit) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  Problem problem;
  std::shared_ptr<LRScheduler> scheduler = GetParam().make(problem.optimizer);
  std::vector<double> found;
  for (int i = 0; i < 40; i++) {
    for (double number : rates(problem.optimizer)) found.push_back(number);
    scheduler->step();
  }
  EXPECT_EQ(found, reference().runs.at(std::string("lr ") + GetParam().name));
  EXPECT_EQ(scheduler->get_last_lr(), (std::vector<double>{problem.optimizer.param_groups()[0].get_lr(),
                                                           problem.optimizer.param_groups()[1].get_lr()}));
}

TEST_P(SchedulerParity, StateHasPyTorchsKeys) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  Problem problem;
  std::vector<std::string> keys;
  const IValue saved = GetParam().make(problem.optimizer)->state_dict();
  for (const auto& [key, value] : saved.toDict())
    if (key.toStringRef() != "_anneal_func_type") keys.push_back(key.toStringRef());
  EXPECT_EQ(keys, reference().keys.at(std::string("schedule ") + GetParam().name));
}

// Stopped after 13 steps and begun again from the saved states.
TEST_P(SchedulerParity, GoesOnFromItsState) {
  Problem whole;
  std::shared_ptr<LRScheduler> without_stop = GetParam().make(whole.optimizer);
  IValue optimizer_state, scheduler_state;
  std::vector<std::vector<double>> wanted;
  for (int i = 0; i < 30; i++) {
    if (i == 13) {
      optimizer_state = whole.optimizer.state_dict();
      scheduler_state = without_stop->state_dict();
    }
    without_stop->step();
    if (i >= 13) wanted.push_back(rates(whole.optimizer));
  }
  Problem again;
  std::shared_ptr<LRScheduler> resumed = GetParam().make(again.optimizer);
  again.optimizer.load_state_dict(optimizer_state);
  resumed->load_state_dict(scheduler_state);
  for (const std::vector<double>& want : wanted) {
    resumed->step();
    EXPECT_EQ(rates(again.optimizer), want);
  }
}

TEST(Schedulers, OneCycleMovesAdamsFirstBeta) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  Adam optimizer(std::vector<Tensor>{zeros({2}).requires_grad_()}, AdamOptions(0.1));
  OneCycleLR scheduler(optimizer, 0.5, 20);
  std::vector<double> found;
  for (int i = 0; i < 20; i++) {
    for (double number : rates(optimizer)) found.push_back(number);
    scheduler.step();
  }
  EXPECT_EQ(found, reference().runs.at("lr onecycle_adam"));
  EXPECT_EQ(std::get<1>(static_cast<AdamOptions&>(optimizer.param_groups()[0].options()).betas()), 0.999);
}

void run_plateau(const char* name, ReduceLROnPlateau& scheduler, Optimizer& optimizer) {
  if (!reference().available) GTEST_SKIP() << "skipped: no PyTorch";
  std::vector<double> found, metrics = noise(40, 11);
  for (size_t i = 0; i < metrics.size(); i++) {
    scheduler.step(2 + metrics[i] / (1 + static_cast<double>(i)));
    for (OptimizerParamGroup& group : optimizer.param_groups()) found.push_back(group.get_lr());
  }
  EXPECT_EQ(found, reference().runs.at(std::string("lr ") + name));
  std::vector<std::string> keys;
  const IValue saved = scheduler.state_dict();
  for (const auto& [key, value] : saved.toDict()) keys.push_back(key.toStringRef());
  EXPECT_EQ(keys, reference().keys.at(std::string("schedule ") + name));
}

TEST(Schedulers, ReduceOnPlateau) {
  Problem problem;
  ReduceLROnPlateau scheduler(problem.optimizer, ReduceLROnPlateau::min, 0.5, 2);
  run_plateau("plateau", scheduler, problem.optimizer);
}
TEST(Schedulers, ReduceOnPlateauOfTheLargest) {
  Problem problem;
  ReduceLROnPlateauScheduler scheduler(problem.optimizer, ReduceLROnPlateauScheduler::max, 0.3, 1, 0.05,
                                       ReduceLROnPlateauScheduler::abs, 2, PerGroup{0.01, 0.02});
  run_plateau("plateau_max", scheduler, problem.optimizer);
}
TEST(Schedulers, ReduceOnPlateauIsMadeAsLibtorchsIs) {
  Problem problem;
  const std::vector<float> least(problem.optimizer.param_groups().size(), 0.0625F);
  ReduceLROnPlateauScheduler scheduler(problem.optimizer, ReduceLROnPlateauScheduler::min, 0.5, 0, 1e-4,
                                       ReduceLROnPlateauScheduler::rel, 0, least, 1e-8, /*verbose=*/true);
  ReduceLROnPlateauScheduler without(problem.optimizer, ReduceLROnPlateauScheduler::min, 0.5, 0, 1e-4,
                                     ReduceLROnPlateauScheduler::rel, 0, {}, 1e-8, false);
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 5; i++) scheduler.step(1.0);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem.optimizer.get_lr(), 0.0625);
  EXPECT_NE(printed.find("Epoch 2: reducing learning rate of group 0 to "), std::string::npos) << printed;
}
TEST(Schedulers, ReduceOnPlateauGoesOnFromItsState) {
  Problem problem, again;
  ReduceLROnPlateau scheduler(problem.optimizer, ReduceLROnPlateau::min, 0.5, 2), resumed(again.optimizer);
  for (int i = 0; i < 3; i++) scheduler.step(1.0);
  resumed.load_state_dict(scheduler.state_dict());
  scheduler.step(1.0);
  resumed.step(1.0);
  EXPECT_EQ(problem.optimizer.get_lr(), 0.05);
  EXPECT_EQ(again.optimizer.get_lr(), 0.05);
}

// What a libtorch program may derive: counts from 0 at its first step.
class HalvedEveryOtherStep : public LRScheduler {
 public:
  using LRScheduler::LRScheduler;

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> lrs = get_current_lrs();
    if (step_count_ % 2 == 1)
      for (double& lr : lrs) lr /= 2;
    return lrs;
  }
};
TEST(Schedulers, UsersOwn) {
  Problem problem;
  HalvedEveryOtherStep scheduler(problem.optimizer);
  scheduler.step();
  EXPECT_EQ(problem.optimizer.get_lr(), 0.1);
  scheduler.step();
  EXPECT_EQ(problem.optimizer.get_lr(), 0.05);
  EXPECT_EQ(scheduler.get_last_lr(), (std::vector<double>{0.05, 0.2}));
}

TEST(Schedulers, APolynomialWithoutStepsKeepsTheRate) {
  Problem problem;
  PolynomialLR scheduler(problem.optimizer, 0);
  scheduler.step();
  EXPECT_EQ(problem.optimizer.get_lr(), 0.1);
}

TEST(Schedulers, ErrorsSayWhatIsWrong) {
  Problem problem;
  Optimizer& o = problem.optimizer;
  EXPECT_ERROR(ValueError, StepLR(o, 0), "step_size is 0");
  EXPECT_ERROR(ValueError, ConstantLR(o, 1.5), "between 0 and 1 (found 1.5)");
  EXPECT_ERROR(ValueError, LinearLR(o, 0.0), "Starting multiplicative factor");
  EXPECT_ERROR(ValueError, LinearLR(o, 0.5, 2.0), "Ending multiplicative factor");
  EXPECT_ERROR(ValueError, LambdaLR(o, std::vector<LRFunction>(3)), "Expected 2 lr_lambdas");
  EXPECT_ERROR(ValueError, CosineAnnealingWarmRestarts(o, 0), "positive integer T_0");
  EXPECT_ERROR(ValueError, CyclicLR(o, CyclicLROptions(0.1, 0.2).mode("round")), "mode is 'round'");
  EXPECT_ERROR(ValueError, CyclicLR(o, CyclicLROptions(0.1, PerGroup{0.2, 0.3, 0.4})),
               "3 values for max_lr (expected 2");
  EXPECT_ERROR(ValueError, OneCycleLR(o, OneCycleLROptions(0.5)), "either total_steps OR");
  EXPECT_ERROR(ValueError, OneCycleLR(o, OneCycleLROptions(0.5).total_steps(9).pct_start(2)), "pct_start, but got 2");
  EXPECT_ERROR(ValueError, ReduceLROnPlateau(o, ReduceLROnPlateau::min, 1.0), "Factor should be < 1.0");
  EXPECT_ERROR(ValueError, SequentialLR(o, {made<StepLR>(o, 1)}, {3}), "1 schedulers and 1 milestones");
  EXPECT_ERROR(ValueError, ChainedScheduler({}), "no scheduler");
  Problem other;
  EXPECT_ERROR(ValueError, ChainedScheduler({made<StepLR>(o, 1), made<StepLR>(other.optimizer, 1)}),
               "scheduler 1 belongs to another");
  Problem fresh;
  EXPECT_ERROR(ValueError, StepLR(fresh.optimizer, 3, 0.1, 5), "'initial_lr' is not specified in param_groups[0]");
  Rprop without_momentum(std::vector<Tensor>{problem.a});
  EXPECT_ERROR(ValueError, CyclicLR(without_momentum, 0.1, 0.2), "must support momentum");
  EXPECT_ERROR(ValueError, OneCycleLR(without_momentum, 0.1, 5), "must support momentum");
  OneCycleLR short_one(o, 0.1, 2);
  short_one.step();
  short_one.step();
  EXPECT_ERROR(ValueError, short_one.step(), "The specified number of total steps is 2");
  ConstantLR from_zero(o, 0.0, 1);
  EXPECT_ERROR(ValueError, from_zero.step(), "factor is 0, which cannot be taken off again after 1 steps");
  PolynomialLR rising(o, 1, -0.5);
  EXPECT_ERROR(ValueError, rising.step(), "power is -0.5, with which the rate has no bound after 1 steps");
  EXPECT_ERROR(ValueError, OneCycleLR(o, OneCycleLROptions(0.5).total_steps(4).pct_start(0.25)),
               "the phase of step 0 begins and ends at step 0 (expected another pct_start for 4 steps)");
  StepLR step(other.optimizer, 3);
  IValue saved = ExponentialLR(other.optimizer, 0.5).state_dict();
  EXPECT_ERROR(ValueError, step.load_state_dict(saved), "has no 'step_size'");
}

}  // namespace
}  // namespace cresset::testing::scheduler_test
