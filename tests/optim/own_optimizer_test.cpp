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
  int64_t steps() const { return static_cast<State&>(state_.at(parameters()[0])).steps(); }
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

}  // namespace
