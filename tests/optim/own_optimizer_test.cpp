// Optimizers of one's own, as libtorch's users write them: what they override is called, and what they forget is told.
#include "cresset/torch.h"

#include <gtest/gtest.h>

#include "tests/core/expect_error.h"

namespace {

struct PlainOptions : torch::optim::OptimizerCloneableOptions<PlainOptions> {
  TORCH_ARG(double, lr) = 0.1;
};
struct PlainState : torch::optim::OptimizerCloneableParamState<PlainState> {
  TORCH_ARG(int64_t, steps) = 0;
};

struct SavedOptions : torch::optim::OptimizerCloneableOptions<SavedOptions> {
  TORCH_ARG(double, lr) = 0.1;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override { archive.write("lr", torch::IValue(lr())); }
  void serialize(torch::serialize::InputArchive& archive) override {
    torch::IValue value;
    archive.read("lr", value);
    lr(value.toDouble());
  }
};
struct SavedState : torch::optim::OptimizerCloneableParamState<SavedState> {
  TORCH_ARG(int64_t, steps) = 0;

 public:
  void serialize(torch::serialize::OutputArchive& archive) const override {
    archive.write("steps", torch::IValue(steps()));
  }
  void serialize(torch::serialize::InputArchive& archive) override {
    torch::IValue value;
    archive.read("steps", value);
    steps(value.toInt());
  }
};

template <class Options, class State>
struct Counter : torch::optim::Optimizer {
  explicit Counter(const torch::Tensor& param)
      : Optimizer(std::vector<torch::Tensor>{param}, std::make_unique<Options>()) {}
  torch::Tensor step(LossClosure = nullptr) override {
    for (const torch::Tensor& param : parameters()) {
      auto& state = state_[param];
      if (!state) state = std::make_unique<State>();
      auto& counted = static_cast<State&>(*state);
      counted.steps(counted.steps() + 1);
    }
    return {};
  }
  int64_t steps() const { return static_cast<State&>(*state_.at(parameters()[0])).steps(); }
};
struct Forgetful : Counter<PlainOptions, PlainState> {
  using Counter::Counter;
};
struct HalfForgetful : Counter<SavedOptions, PlainState> {
  using Counter::Counter;
};
struct Stateless : Counter<SavedOptions, SavedState> {
  using Counter::Counter;
};
struct Whole : Counter<SavedOptions, SavedState> {
  using Counter::Counter;
  std::unique_ptr<torch::optim::OptimizerParamState> new_state() const override {
    return std::make_unique<SavedState>();
  }
};
// libtorch's way: the optimizer writes everything itself.
struct Own : Forgetful {
  using Forgetful::Forgetful;
  void save(torch::serialize::OutputArchive& archive) const override { archive.write("steps", torch::IValue(steps())); }
  void load(torch::serialize::InputArchive& archive) override {
    torch::IValue value;
    archive.read("steps", value);
    auto state = std::make_unique<PlainState>();
    state->steps(value.toInt());
    state_[parameters()[0]] = std::move(state);
  }
};

TEST(OwnOptimizer, SaveAndLoadAreCalled) {
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  Own saved(w), loaded(w);
  saved.step();
  saved.step();
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded.steps(), 2);
  torch::optim::Optimizer& base = saved;
  torch::serialize::OutputArchive archive;
  base.save(archive);
  EXPECT_EQ(archive.values().at("steps").toInt(), 2);
}

TEST(OwnOptimizer, SerializeOfOptionsAndStatesIsCalled) {
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  Whole saved(w), loaded(w);
  saved.step();
  saved.set_lr(0.25);
  saved.param_groups()[0].extra()["initial_lr"] = 0.5;
  std::stringstream stream;
  torch::save(saved, stream);
  torch::load(loaded, stream);
  EXPECT_EQ(loaded.steps(), 1);
  EXPECT_EQ(loaded.get_lr(), 0.25);
  EXPECT_EQ(loaded.param_groups()[0].extra().size(), 1u);
  EXPECT_EQ(loaded.param_groups()[0].extra().at("initial_lr").toDouble(), 0.5);
}

TEST(OwnOptimizer, LibraryOptimizersGoIntoAnArchive) {
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  torch::optim::Adam saved({w}, 0.125), loaded({w}, 1.0);
  w.sum().backward();
  saved.step();
  torch::serialize::OutputArchive out, whole;
  saved.save(out);
  whole.write("optimizer", out);
  torch::serialize::InputArchive in{torch::IValue(whole.values())}, part;
  in.read("optimizer", part);
  loaded.load(part);
  EXPECT_EQ(loaded.get_lr(), 0.125);
  EXPECT_EQ(loaded.state().size(), 1u);
}

TEST(OwnOptimizer, WhatListsNoFieldsIsToldWhenItIsSaved) {
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  std::vector<char> bytes;
  EXPECT_ERROR(cresset::NotImplementedError, torch::save(Forgetful(w), bytes),
               "PlainOptions: can be neither saved nor loaded, because the class does not say what is in "
               "it: override fields() (cresset/optim/fields.h), or both serialize(OutputArchive&) const and "
               "serialize(InputArchive&)");
  HalfForgetful half(w);
  half.step();
  EXPECT_ERROR(cresset::NotImplementedError, half.state_dict(), "PlainState: can be neither saved nor loaded");
}

TEST(OwnOptimizer, WithoutNewStateLoadingNamesIt) {
  torch::Tensor w = torch::ones({2}, torch::requires_grad());
  Stateless saved(w), loaded(w);
  saved.step();
  EXPECT_ERROR(cresset::ValueError, loaded.load_state_dict(saved.state_dict()),
               "state[0] has 'steps', and Stateless::new_state() gives no state to put them into: an optimizer that "
               "keeps something about its parameters overrides new_state()");
}

// As libtorch's own optimizers are written, macros and all.
struct LionOptions : torch::optim::OptimizerCloneableOptions<LionOptions> {
  LionOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-2;
  typedef std::tuple<double, double> betas_t;
  TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.99);
  TORCH_ARG(torch::optional<int64_t>, warmup) = torch::nullopt;

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(double, lr);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(betas_t, betas);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(int64_t, warmup);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(lr);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(betas);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(warmup);
  }
};
struct LionParamState : torch::optim::OptimizerCloneableParamState<LionParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, exp_avg) = {};
  TORCH_ARG(torch::Tensor, never_used) = {};
  TORCH_ARG(std::deque<torch::Tensor>, history) = {};

 public:
  void serialize(torch::serialize::InputArchive& archive) override {
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(int64_t, step);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, exp_avg);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(torch::Tensor, never_used);
    _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(std::deque<torch::Tensor>, history);
  }
  void serialize(torch::serialize::OutputArchive& archive) const override {
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(step);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(exp_avg);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG(never_used);
    _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(history);
  }
};
class Lion : public torch::optim::Optimizer {
 public:
  explicit Lion(std::vector<torch::Tensor> params, LionOptions defaults = {})
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(params))}, std::make_unique<LionOptions>(defaults)) {}

  torch::Tensor step(LossClosure = nullptr) override {
    torch::NoGradGuard no_grad;
    for (auto& group : param_groups_)
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        TORCH_CHECK(!p.grad().is_sparse(), "Lion takes no sparse gradients");
        auto key = c10::guts::to_string(p.unsafeGetTensorImpl());
        if (state_.find(key) == state_.end()) {
          auto state = std::make_unique<LionParamState>();
          state->exp_avg(torch::zeros_like(p, torch::MemoryFormat::Preserve));
          state_[key] = std::move(state);
        }
        auto& state = static_cast<LionParamState&>(*state_[key]);
        auto& options = static_cast<LionOptions&>(group.options());
        const auto [before, after] = options.betas();
        state.step(state.step() + 1);
        state.history().push_back(p.grad().clone());
        p.add_(torch::lerp(p.grad(), state.exp_avg(), before).sign(), -options.lr());
        state.exp_avg().mul_(after).add_(p.grad(), 1 - after);
      }
    return {};
  }
  void save(torch::serialize::OutputArchive& archive) const override { serialize(*this, archive); }
  void load(torch::serialize::InputArchive& archive) override {
    torch::IValue pytorch_version;
    TORCH_CHECK(archive.try_read("pytorch_version", pytorch_version), "a file of before 1.5");
    serialize(*this, archive);
  }

 private:
  template <typename Self, typename Archive>
  static void serialize(Self& self, Archive& archive) {
    _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Lion);
  }
};

TEST(OwnOptimizer, LibtorchsMacrosSaveAndLoadIt) {
  auto start = [] { return torch::arange(4, torch::kFloat).requires_grad_(); };
  auto steps = [](Lion& lion, const torch::Tensor& w, int count) {
    for (int i = 0; i < count; i++) {
      lion.zero_grad();
      (w - 1).pow(2).sum().backward();
      lion.step();
    }
  };
  torch::Tensor w = start(), v = start();
  Lion saved({w}, LionOptions(0.25).betas({0.5, 0.75}).warmup(3)), loaded({v});
  steps(saved, w, 3);
  std::vector<char> bytes;
  torch::save(saved, bytes);
  torch::load(loaded, bytes);
  auto& options = static_cast<LionOptions&>(loaded.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.25);
  EXPECT_EQ(options.betas(), (std::tuple(0.5, 0.75)));
  EXPECT_EQ(options.warmup(), 3);
  auto& state = static_cast<LionParamState&>(*loaded.state()[v]);
  EXPECT_EQ(state.step(), 3);
  EXPECT_EQ(state.history().size(), 3u);
  EXPECT_FALSE(state.never_used().defined());
  v.set_data(w.detach().clone());
  steps(saved, w, 4);
  steps(loaded, v, 4);
  EXPECT_TRUE(torch::equal(v, w));
}

}  // namespace
