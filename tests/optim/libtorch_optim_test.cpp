// What libtorch's programs expect of optimizers: states by address, options and states that compare, old archives, and
// a word where training would silently do nothing.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace {

using torch::Tensor;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;
using torch::optim::OptimizerParamState;

Tensor trained(std::vector<float> values) { return torch::tensor(values).requires_grad_(); }

// Adam after two steps.
std::unique_ptr<Adam> stepped(const Tensor& w, AdamOptions options = AdamOptions(0.1).amsgrad(true)) {
  auto adam = std::make_unique<Adam>(std::vector<Tensor>{w}, options);
  for (int i = 0; i < 2; i++) {
    adam->zero_grad();
    (w * w).sum().backward();
    adam->step();
  }
  return adam;
}

struct Heard {
  std::vector<std::string> texts;
  cresset::WarningHandlerGuard guard{[this](const cresset::Warning& warning) { texts.push_back(warning.text); }};
};

TEST(LibtorchOptim, StatesAreAMapOfPointersByAddress) {
  Tensor w = trained({1, 2}), other = trained({3});
  auto adam = stepped(w);
  ska::flat_hash_map<void*, std::unique_ptr<OptimizerParamState>>& state = adam->state();
  void* key = w.unsafeGetTensorImpl();
  ASSERT_EQ(state.size(), 1U);
  EXPECT_EQ(static_cast<AdamParamState&>(*state.at(key)).step(), 2);
  EXPECT_EQ(static_cast<AdamParamState&>(*state[key].get()).step(), 2);
  EXPECT_EQ(static_cast<const AdamParamState&>(*std::as_const(*adam).state().at(key).get()).step(), 2);
  for (auto& [address, held] : state) {
    EXPECT_EQ(address, key);
    EXPECT_TRUE(static_cast<AdamParamState&>(*held).exp_avg().defined());
  }
  auto found = state.find(key);
  ASSERT_TRUE(found != state.end());
  EXPECT_TRUE(found++ == state.begin());
  EXPECT_FALSE(state.contains(other.unsafeGetTensorImpl()));
  EXPECT_TRUE(state.emplace(other.unsafeGetTensorImpl(), std::make_unique<AdamParamState>()).second);
  EXPECT_FALSE(state.insert({key, std::make_unique<AdamParamState>()}).second);
  EXPECT_EQ(static_cast<AdamParamState&>(*state.at(key)).step(), 2) << "what was there stays";
  EXPECT_EQ(state.erase(key), 1U);
  EXPECT_EQ(state.erase(key), 0U);
  EXPECT_EQ(state.size(), 1U);
  EXPECT_ERROR(c10::IndexError, state.at(key), "no state of this tensor");
}

TEST(LibtorchOptim, OptionsAndStatesCompare) {
  EXPECT_TRUE(AdamOptions(0.1) == AdamOptions(0.1));
  EXPECT_FALSE(AdamOptions(0.1) == AdamOptions(0.2));
  EXPECT_TRUE(AdamOptions(0.1) != AdamOptions(0.1).betas({0.5, 0.9}));
  using torch::optim::LBFGSOptions;
  EXPECT_TRUE(LBFGSOptions(1) == LBFGSOptions(1));
  EXPECT_FALSE(LBFGSOptions(1) == LBFGSOptions(1).line_search_fn("strong_wolfe"));
  const torch::optim::SGDOptions sgd(0.1);
  EXPECT_FALSE(static_cast<const torch::optim::OptimizerOptions&>(sgd) == AdamOptions(0.1)) << "of another class";

  auto one = stepped(trained({1, 2})), same = stepped(trained({1, 2})), other = stepped(trained({1, 3}));
  auto of = [](const Adam& adam) -> const AdamParamState& {
    return static_cast<const AdamParamState&>(*adam.state().begin()->second);
  };
  EXPECT_TRUE(of(*one) == of(*same));
  EXPECT_FALSE(of(*one) == of(*other));
  AdamParamState later(of(*one));
  EXPECT_TRUE(later == of(*one));
  later.step(7);
  EXPECT_FALSE(later == of(*one));
  AdamParamState shorter(of(*one));
  shorter.max_exp_avg_sq(Tensor());
  EXPECT_FALSE(shorter == of(*one)) << "an undefined tensor is no tensor";
  shorter.max_exp_avg_sq(torch::zeros({5}));
  EXPECT_FALSE(shorter == of(*one)) << "of another shape";
}

// As libtorch 1.4 wrote it.
void write_list(torch::serialize::OutputArchive& archive, const std::string& key, const std::vector<Tensor>& items) {
  archive.write(key + "/size", torch::tensor(static_cast<int64_t>(items.size())));
  for (size_t i = 0; i < items.size(); i++) archive.write(key + "/" + std::to_string(i), items[i], /*is_buffer=*/true);
}
template <class Optimizer>
std::vector<std::string> load_old(torch::serialize::OutputArchive& archive, Optimizer& optimizer) {
  std::stringstream stream;
  archive.save_to(stream);
  Heard heard;
  torch::load(optimizer, stream);
  return heard.texts;
}

TEST(LibtorchOptim, ArchivesOfAdamBefore15AreRead) {
  Tensor w = trained({1, 2}), again = trained({5, 6});
  auto adam = stepped(w);
  auto& state = static_cast<AdamParamState&>(*adam->state().at(w));
  torch::serialize::OutputArchive archive;
  write_list(archive, "step_buffers", {torch::tensor(state.step())});
  write_list(archive, "exp_average_buffers", {state.exp_avg()});
  write_list(archive, "exp_average_sq_buffers", {state.exp_avg_sq()});
  write_list(archive, "max_exp_average_sq_buffers", {state.max_exp_avg_sq()});
  Adam loaded({again}, AdamOptions(0.3).amsgrad(true));
  const std::vector<std::string> warnings = load_old(archive, loaded);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("Adam optimizer is still using the old serialization format"), std::string::npos);
  EXPECT_TRUE(static_cast<AdamParamState&>(*loaded.state().at(again)) == state);
  EXPECT_EQ(loaded.get_lr(), 0.3) << "options were not saved then";
  Adam two({trained({1, 2, 3})}, AdamOptions(0.3));
  EXPECT_ERROR(c10::ValueError, load_old(archive, two), "found shape [2]");
}

TEST(LibtorchOptim, ArchivesOfTheOthersBefore15AreRead) {
  using namespace torch::optim;  // NOLINT: all their names
  const Tensor buffer = torch::tensor({0.5F, 0.25F});
  Tensor w = trained({1, 2});
  {
    torch::serialize::OutputArchive archive;
    write_list(archive, "momentum_buffers", {buffer});
    SGD sgd({w}, SGDOptions(0.1).momentum(0.9));
    EXPECT_EQ(load_old(archive, sgd).size(), 1U);
    EXPECT_TRUE(torch::equal(static_cast<SGDParamState&>(*sgd.state().at(w)).momentum_buffer(), buffer));
  }
  {
    torch::serialize::OutputArchive archive;
    write_list(archive, "step_buffers", {torch::tensor(int64_t{3})});
    write_list(archive, "sum_buffers", {buffer});
    Adagrad adagrad({w});
    EXPECT_EQ(load_old(archive, adagrad).size(), 1U);
    EXPECT_EQ(static_cast<AdagradParamState&>(*adagrad.state().at(w)).step(), 3);
    EXPECT_TRUE(torch::equal(static_cast<AdagradParamState&>(*adagrad.state().at(w)).sum(), buffer));
  }
  {
    torch::serialize::OutputArchive archive;
    write_list(archive, "square_average_buffers", {buffer});
    write_list(archive, "momentum_buffers", {buffer * 2});
    write_list(archive, "grad_average_buffers", {});
    RMSprop rmsprop({w}, RMSpropOptions(0.1).momentum(0.5));
    EXPECT_EQ(load_old(archive, rmsprop).size(), 1U);
    auto& state = static_cast<RMSpropParamState&>(*rmsprop.state().at(w));
    EXPECT_TRUE(torch::equal(state.square_avg(), buffer));
    EXPECT_TRUE(torch::equal(state.momentum_buffer(), buffer * 2));
    EXPECT_FALSE(state.grad_avg().defined());
  }
  {
    // The history of a run goes on in another: both make the same next step.
    Tensor x = trained({1, 2}), y = trained({1, 2});
    LBFGS first({x}, LBFGSOptions(0.1).max_iter(3)), second({y}, LBFGSOptions(0.1).max_iter(3));
    auto closure = [](LBFGS& optimizer, const Tensor& at) {
      return [&optimizer, at] {
        optimizer.zero_grad();
        Tensor loss = (at.pow(4)).sum();
        loss.backward();
        return loss;
      };
    };
    first.step(closure(first, x));
    auto& state = static_cast<LBFGSParamState&>(*first.state().at(x));
    torch::serialize::OutputArchive archive;
    archive.write("d", state.d(), /*is_buffer=*/true);
    archive.write("t", torch::tensor(state.t()), true);
    archive.write("H_diag", state.H_diag(), true);
    archive.write("prev_flat_grad", state.prev_flat_grad(), true);
    archive.write("prev_loss", torch::tensor(state.prev_loss()), true);
    write_list(archive, "old_dirs", {state.old_dirs().begin(), state.old_dirs().end()});
    write_list(archive, "old_stps", {state.old_stps().begin(), state.old_stps().end()});
    EXPECT_EQ(load_old(archive, second).size(), 1U);
    torch::NoGradGuard no_grad;
    y.copy_(x);
    ASSERT_FALSE(state.old_dirs().empty());
    first.step(closure(first, x));
    second.step(closure(second, y));
    EXPECT_TRUE(torch::allclose(x, y)) << x << y;
  }
}

TEST(LibtorchOptim, NoParametersAreAnError) {
  using namespace torch::optim;  // NOLINT
  const std::vector<Tensor> none;
  const std::string words = "optimizer got an empty parameter list";
  EXPECT_ERROR(c10::ValueError, SGD(none, 0.1), words);
  EXPECT_ERROR(c10::ValueError, Adam(none), words);
  EXPECT_ERROR(c10::ValueError, LBFGS(none), words);
  EXPECT_ERROR(c10::ValueError, SparseAdam(none), words);
  EXPECT_ERROR(c10::ValueError, SGD(std::vector<OptimizerParamGroup>{}, 0.1), words);
  EXPECT_ERROR(c10::ValueError, SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(none)}, 0.1), words);

  struct ForgottenImpl : torch::nn::Cloneable<ForgottenImpl> {
    void reset() override {}
    torch::nn::Linear layer{2, 2};  // never given to register_module
  };
  auto forgotten = std::make_shared<ForgottenImpl>();
  EXPECT_ERROR(c10::ValueError, SGD(forgotten->parameters(), 0.1), "register_module");
  EXPECT_ERROR(c10::ValueError, AveragedModel(forgotten), "neither parameters nor buffers");
}

TEST(LibtorchOptim, AGroupWithoutParametersIsAWarningWhenItIsAdded) {
  Heard heard;
  const Tensor w = trained({1});
  // A group that happens to be empty beside others is no mistake.
  torch::optim::SGD sgd(std::vector<torch::optim::OptimizerParamGroup>{{{w}}, std::vector<Tensor>()}, 0.1);
  EXPECT_TRUE(heard.texts.empty());
  sgd.add_param_group(torch::optim::OptimizerParamGroup(std::vector<Tensor>()));
  ASSERT_EQ(heard.texts.size(), 1U);
  EXPECT_NE(heard.texts[0].find("add_param_group: group 2 has no parameters"), std::string::npos);
}

// What is heard when the scheduler goes first or second.
template <class Scheduler, class... Args>
size_t order_warnings(bool optimizer_first, Args... args) {
  const bool before = cresset::set_warn_always(true);
  size_t warnings = 0;
  {
    Heard heard;
    torch::optim::SGD sgd({trained({1})}, 0.1);
    Scheduler scheduler(sgd, args...);
    if (optimizer_first) sgd.step();  // there is no gradient: it changes nothing, and was called
    scheduler.step();
    scheduler.step();
    for (const std::string& text : heard.texts)
      warnings += text.find("Detected call of `lr_scheduler.step()` before `optimizer.step()`") != std::string::npos;
  }
  cresset::set_warn_always(before);
  return warnings;
}
TEST(LibtorchOptim, ASchedulerThatGoesBeforeItsOptimizerIsAWarning) {
  using namespace torch::optim;  // NOLINT
  EXPECT_EQ(order_warnings<StepLR>(false, 1), 1U);
  EXPECT_EQ(order_warnings<StepLR>(true, 1), 0U);
  EXPECT_EQ(order_warnings<ExponentialLR>(false, 0.5), 1U);
  EXPECT_EQ(order_warnings<CosineAnnealingWarmRestarts>(false, 5), 1U);
  EXPECT_EQ(order_warnings<CosineAnnealingWarmRestarts>(true, 5), 0U);
}

// An optimizer of one's own does not tell that it stepped, but its parameters do.
TEST(LibtorchOptim, AnOwnOptimizersStepCountsToo) {
  struct Own : torch::optim::SGD {
    using SGD::SGD;
    Tensor step(LossClosure = nullptr) override {
      torch::NoGradGuard no_grad;
      for (Tensor& param : parameters()) param.sub_(1);
      return {};
    }
  };
  const bool before = cresset::set_warn_always(true);
  {
    Heard heard;
    Own own({trained({1})}, 0.1);
    torch::optim::StepLR scheduler(own, 1);
    own.step();
    scheduler.step();
    EXPECT_TRUE(heard.texts.empty());
  }
  cresset::set_warn_always(before);
}

// libtorch's XOR example: outputs [N, 1] and labels [N].
TEST(LibtorchOptim, TheOpTakesLabelsWithoutTheLastDimension) {
  Tensor x = torch::tensor({0.25F, 0.5F, 0.75F}).reshape({3, 1}).requires_grad_(),
         labels = torch::tensor({0.F, 1.F, 1.F});
  Tensor loss = torch::binary_cross_entropy(x, labels);
  EXPECT_TRUE(torch::allclose(loss, torch::binary_cross_entropy(x.squeeze(1), labels)));
  loss.backward();
  EXPECT_EQ(x.grad().sizes(), (std::vector<int64_t>{3, 1}));
  EXPECT_ERROR(c10::ShapeError, torch::binary_cross_entropy(x, torch::zeros({4})), "binary_cross_entropy");
  EXPECT_ERROR(c10::ShapeError, torch::nn::functional::binary_cross_entropy(x, labels),
               "Using a target size ([3]) that is different to the input size ([3, 1]) is deprecated. Please ensure "
               "they have the same size.");
}

}  // namespace
