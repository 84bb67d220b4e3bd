// What all optimizers share: groups, options, closures, gradients, states and their errors.
#include "tests/core/expect_error.h"
#include "tests/optim/reference.h"

namespace cresset::testing::optimizer_test {
namespace {

using namespace optim;
using Params = std::vector<Tensor>;

Tensor parameter(IntArrayRef sizes, int64_t seed = 1, DType dtype = kFloat) {
  return noise_tensor(sizes, seed, dtype).requires_grad_();
}

TEST(Optimizer, CallsTheClosureWithGradientsOn) {
  Tensor w = parameter({3});
  SGD optimizer(Params{w}, 0.1);
  NoGradGuard no_grad;
  int calls = 0;
  Tensor loss = optimizer.step([&] {
    calls++;
    EXPECT_TRUE(GradMode::is_enabled());
    Tensor value = w.square().sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_GT(loss.item<double>(), (w * w).sum().item<double>());
  EXPECT_FALSE(GradMode::is_enabled());
  w.mutable_grad().reset();
  EXPECT_FALSE(optimizer.step().defined());
}

TEST(Optimizer, LearningRateWithoutCasts) {
  Tensor a = parameter({2}), b = parameter({3});
  Adam optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup({a}), OptimizerParamGroup({b}, AdamOptions(0.5))},
                 AdamOptions(0.1));
  EXPECT_EQ(optimizer.get_lr(), 0.1);
  EXPECT_EQ(optimizer.param_groups()[1].get_lr(), 0.5);
  optimizer.param_groups()[1].set_lr(0.25);
  EXPECT_EQ(static_cast<AdamOptions&>(optimizer.param_groups()[1].options()).lr(), 0.25);
  optimizer.set_lr(0.01);
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.01);
  EXPECT_EQ(optimizer.param_groups()[1].options().get_lr(), 0.01);
  EXPECT_EQ(optimizer.defaults().get_lr(), 0.1);
  EXPECT_EQ(optimizer.size(), 2u);
  EXPECT_EQ(optimizer.parameters().size(), 1u);
}

TEST(Optimizer, ZeroGradDropsOrZeroes) {
  Tensor a = parameter({2}), b = parameter({2});
  SGD optimizer(Params{a, b}, 0.1);
  a.square().sum().backward();
  optimizer.zero_grad(false);
  EXPECT_TRUE(a.grad().defined());
  EXPECT_EQ(flat_values({a.grad()}), (std::vector<double>{0, 0}));
  EXPECT_FALSE(b.grad().defined());
  optimizer.zero_grad();
  EXPECT_FALSE(a.grad().defined());

  // A gradient that can itself be differentiated lets go of its graph.
  a.pow(3).sum().backward({}, std::nullopt, true);
  ASSERT_TRUE(a.grad().requires_grad());
  optimizer.zero_grad(false);
  EXPECT_FALSE(a.grad().requires_grad());
}

TEST(Optimizer, ParametersWithoutGradientAreSkipped) {
  Tensor a = parameter({3}, 1, kDouble), b = parameter({3}, 2, kDouble), alone = parameter({3}, 2, kDouble);
  const std::vector<double> before = flat_values({b});
  Adam optimizer(Params{a, b}, 0.1), other(Params{alone}, 0.1);
  for (int i = 0; i < 3; i++) {
    a.mutable_grad() = ones_like(a);
    optimizer.step();
  }
  EXPECT_EQ(flat_values({b}), before);
  EXPECT_EQ(optimizer.state().count(b.impl()), 0u);
  // It then begins with its own first step, beside another's fourth.
  for (int i = 0; i < 2; i++) {
    a.mutable_grad() = ones_like(a);
    b.mutable_grad() = full_like(b, 0.5);
    alone.mutable_grad() = full_like(b, 0.5);
    optimizer.step();
    other.step();
  }
  EXPECT_EQ(flat_values({b}), flat_values({alone}));
  EXPECT_EQ(static_cast<AdamParamState&>(*optimizer.state().at(a)).step(), 5);
  EXPECT_EQ(static_cast<AdamParamState&>(*optimizer.state().at(b)).step(), 2);
}

TEST(Optimizer, StateIsFoundByTensor) {
  Tensor a = parameter({3}), b = parameter({2});
  AdamW optimizer(Params{a, b});
  EXPECT_TRUE(optimizer.state().empty());
  EXPECT_ERROR(IndexError, optimizer.state().at(a), "no state of this tensor");
  b.mutable_grad() = ones_like(b);
  optimizer.step();
  EXPECT_EQ(optimizer.state().size(), 1u);
  int seen = 0;
  for (auto& [key, state] : optimizer.state()) {
    EXPECT_EQ(key, b.unsafeGetTensorImpl());
    EXPECT_EQ(static_cast<AdamWParamState&>(*state).exp_avg().sizes(), b.sizes());
    seen++;
  }
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(static_cast<AdamParamState&>(*optimizer.state()[b.unsafeGetTensorImpl()]).step(), 1);
  EXPECT_TRUE(optimizer.state().find(a.impl()) == optimizer.state().end());
}

TEST(Optimizer, ParametersMayJoinLater) {
  Tensor a = parameter({3}), b = parameter({2}), c = parameter({4});
  SGD optimizer(Params{a}, SGDOptions(0.1).momentum(0.9));
  auto step = [&] {
    for (const Tensor& t : {a, b, c}) t.mutable_grad() = ones_like(t);
    optimizer.step();
  };
  step();
  optimizer.add_param_group(OptimizerParamGroup({b}));
  step();
  optimizer.param_groups()[0].params().insert(optimizer.param_groups()[0].params().begin(), c);
  step();
  EXPECT_EQ(optimizer.size(), 3u);
  // Each has its own buffer: three, two and one steps of it.
  auto buffer = [&](const Tensor& t) {
    return static_cast<SGDParamState&>(*optimizer.state().at(t)).momentum_buffer()[0].item<double>();
  };
  EXPECT_NEAR(buffer(a), 1 + 0.9 * (1 + 0.9), 1e-6);
  EXPECT_NEAR(buffer(b), 1 + 0.9, 1e-6);
  EXPECT_NEAR(buffer(c), 1, 1e-6);
}

TEST(Optimizer, AStepCountsAsAnInPlaceChange) {
  for (bool fused : {true, false}) {
    Tensor w = parameter({3});
    SGD optimizer(Params{w}, SGDOptions(0.1).fused(fused));
    Tensor loss = w.square().sum();  // needs w for its gradient
    w.mutable_grad() = ones_like(w);
    const uint32_t before = w._version();
    optimizer.step();
    EXPECT_GT(w._version(), before);
    EXPECT_TRUE(w.is_leaf());
    EXPECT_TRUE(w.requires_grad());
    EXPECT_ERROR(AutogradError, loss.backward(), "inplace operation");
  }
}

TEST(Optimizer, RefusesGroupsThatDoNotFit) {
  Tensor a = parameter({2, 3}), b = parameter({3});
  EXPECT_ERROR(ValueError, SGD(Params{a, b, a}, 0.1),
               "parameter 2 of group 0, of shape [2, 3], is parameter 0 of group 0");
  SGD optimizer(Params{a}, 0.1);
  EXPECT_ERROR(ValueError, optimizer.add_param_group(OptimizerParamGroup({b, a})),
               "some parameters appear in more than one parameter group: parameter 1 of group 1");
  EXPECT_EQ(optimizer.param_groups().size(), 1u);
  EXPECT_ERROR(TypeError, optimizer.add_param_group(OptimizerParamGroup({b}, AdamOptions(0.1))),
               "group 1 has AdamOptions (expected SGDOptions)");
  EXPECT_ERROR(ValueError, SGD(Params{a * 2}, 0.1), "can't optimize a non-leaf Tensor: parameter 0 of group 0");
  EXPECT_ERROR(ValueError, SGD(Params{a, Tensor()}, 0.1), "parameter 1 of group 0 is undefined");
  EXPECT_ERROR(ValueError, optimizer.add_param_group(OptimizerParamGroup({b}, SGDOptions(-1))),
               "SGD: Invalid learning rate: -1 (expected 0 or more)");
}

TEST(Optimizer, RefusesOptionsOutOfRange) {
  const Params p = {parameter({2, 2})};
  EXPECT_ERROR(ValueError, SGD(p, -0.5), "SGD: Invalid learning rate: -0.5");
  EXPECT_ERROR(ValueError, SGD(p, SGDOptions(0.1).momentum(-1)), "Invalid momentum value: -1");
  EXPECT_ERROR(ValueError, SGD(p, SGDOptions(0.1).nesterov(true)), "Nesterov momentum requires a momentum");
  EXPECT_ERROR(ValueError, Adam(p, AdamOptions(0.1).betas({1.0, 0.9})), "Adam: Invalid beta parameter at index 0: 1");
  EXPECT_ERROR(ValueError, AdamW(p, AdamWOptions(0.1).betas({0.9, -1.0})), "Invalid beta parameter at index 1: -1");
  EXPECT_ERROR(ValueError, AdamW(p, AdamWOptions(0.1).eps(-1)), "AdamW: Invalid epsilon value");
  EXPECT_ERROR(ValueError, Adadelta(p, AdadeltaOptions().rho(2)), "Adadelta: Invalid rho value: 2");
  EXPECT_ERROR(ValueError, Adagrad(p, AdagradOptions().lr_decay(-1)), "Adagrad: Invalid lr_decay value");
  EXPECT_ERROR(ValueError, Adamax(p, AdamaxOptions(-1)), "Adamax: Invalid learning rate");
  EXPECT_ERROR(ValueError, NAdam(p, NAdamOptions().momentum_decay(-1)), "NAdam: Invalid momentum_decay value");
  EXPECT_ERROR(ValueError, RAdam(p, RAdamOptions().weight_decay(-1)), "RAdam: Invalid weight_decay value");
  EXPECT_ERROR(ValueError, RMSprop(p, RMSpropOptions().alpha(-1)), "RMSprop: Invalid alpha value");
  EXPECT_ERROR(ValueError, Rprop(p, RpropOptions().etas({0.5, 0.9})), "Rprop: Invalid eta values: 0.5, 0.9");
  EXPECT_ERROR(ValueError, ASGD(p, ASGDOptions(-1)), "ASGD: Invalid learning rate");
  EXPECT_ERROR(ValueError, SparseAdam(p, SparseAdamOptions(0.0)), "SparseAdam: Invalid learning rate: 0");
  EXPECT_ERROR(ValueError, Adafactor(p, AdafactorOptions().d(0.5)), "clipping threshold d: 0.5");
  EXPECT_ERROR(ValueError, Adafactor(p, AdafactorOptions().beta2_decay(0.5)), "Invalid beta2_decay value: 0.5");
  EXPECT_ERROR(ValueError, Muon(p, MuonOptions().adjust_lr_fn("twice")), "adjust_lr_fn is 'twice'");
  EXPECT_ERROR(ValueError, Muon(Params{parameter({3})}),
               "Muon only supports 2D parameters: parameter 0 is of shape [3]");
  EXPECT_ERROR(ValueError, LBFGS(p, LBFGSOptions().line_search_fn("golden")), "only 'strong_wolfe' is supported");
  EXPECT_ERROR(ValueError,
               LBFGS(std::vector<OptimizerParamGroup>{OptimizerParamGroup(p), OptimizerParamGroup({parameter({1})})}),
               "found 2 groups (expected 1)");
  LBFGS lbfgs(p);
  EXPECT_ERROR(ValueError, lbfgs.step(nullptr), "found no closure");
}

TEST(Optimizer, ComplexParametersAreUpdatedAsPairs) {
  Tensor real = parameter({4, 2}, 3, kDouble);
  auto run = [&](auto make) {
    Tensor pairs = real.detach().clone().requires_grad_();
    Tensor numbers = view_as_complex(real.detach().clone()).detach().requires_grad_();
    auto a = make(pairs), b = make(numbers);
    for (int64_t step = 0; step < 5; step++) {
      Tensor g = noise_tensor({4, 2}, 20 + step, kDouble);
      pairs.mutable_grad() = g;
      numbers.mutable_grad() = view_as_complex(g).clone();
      a->step();
      b->step();
    }
    std::vector<double> found = flat_values({view_as_real(numbers.detach())}), wanted = flat_values({pairs});
    for (size_t i = 0; i < wanted.size(); i++) EXPECT_NEAR(found[i], wanted[i], 1e-14);
  };
  run([](const Tensor& p) { return std::make_unique<SGD>(Params{p}, SGDOptions(0.1).momentum(0.9)); });
  run([](const Tensor& p) { return std::make_unique<Adam>(Params{p}, AdamOptions(0.1).amsgrad(true)); });
  run([](const Tensor& p) { return std::make_unique<AdamW>(Params{p}, AdamWOptions(0.1)); });
  run([](const Tensor& p) { return std::make_unique<RMSprop>(Params{p}, RMSpropOptions(0.1).centered(true)); });
  run([](const Tensor& p) { return std::make_unique<Adagrad>(Params{p}); });
  run([](const Tensor& p) { return std::make_unique<Rprop>(Params{p}); });
}

// As a libtorch program writes its own.
struct SignDescentOptions : OptimizerCloneableOptions<SignDescentOptions> {
  SignDescentOptions(double lr) : lr_(lr) {}
  CRESSET_ARG(double, lr);
};
struct SignDescent : Optimizer {
  SignDescent(Params params, SignDescentOptions options)
      : Optimizer(std::move(params), std::make_unique<SignDescentOptions>(options)) {}
  Tensor step(LossClosure closure = nullptr) override {
    Tensor loss;
    if (closure) {
      AutoGradMode on(true);
      loss = closure();
    }
    NoGradGuard no_grad;
    for (auto& group : param_groups_)
      for (auto& p : group.params())
        if (p.grad().defined()) p.add_(p.grad().sign(), -static_cast<SignDescentOptions&>(group.options()).lr());
    return loss;
  }
};
TEST(Optimizer, UsersOwn) {
  Tensor w = ones({2}).requires_grad_();
  SignDescent optimizer({w}, 0.5);
  StepLR schedule(optimizer, 1, 0.5);
  w.mutable_grad() = ones_like(w);
  optimizer.step();
  schedule.step();
  optimizer.step();
  EXPECT_EQ(flat_values({w}), (std::vector<double>{0.25, 0.25}));
  // It trains, but its learning rate would be missing in a file.
  EXPECT_ERROR(NotImplementedError, optimizer.state_dict(), "SignDescentOptions: can be neither saved");
}

TEST(SparseAdamRows, WithoutGradientAreLeftAlone) {
  Tensor table = ones({3, 2}).requires_grad_();
  SparseAdam optimizer(Params{table}, SparseAdamOptions(0.1));
  Tensor g = zeros({3, 2});
  g.select(0, 1).fill_(1);
  table.mutable_grad() = g;
  optimizer.step();
  table.mutable_grad() = zeros({3, 2});
  optimizer.step();
  EXPECT_EQ(flat_values({table[0], table[2]}), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_NEAR(table[1][0].item<double>(), 0.9, 1e-6);
}

}  // namespace
}  // namespace cresset::testing::optimizer_test
