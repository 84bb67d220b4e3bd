// GradScaler: what it does to losses, gradients, steps and its own scale.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"

namespace cresset::testing {
namespace {

using amp::GradScaler;
using amp::GradScalerOptions;

struct Trained {
  Tensor w = ones({2}, requires_grad());
  optim::SGD optimizer{{w}, optim::SGDOptions(0.5)};
  double value() const { return w[0].item<double>(); }
};

TEST(GradScaler, StepIsTheOneWithoutScaling) {
  Trained x;
  GradScaler scaler;
  EXPECT_EQ(scaler.get_scale(), 65536);
  scaler.scale(x.w.sum()).backward();
  EXPECT_EQ(x.w.grad()[0].item<double>(), 65536);
  scaler.step(x.optimizer);
  scaler.update();
  EXPECT_EQ(x.value(), 0.5);
  EXPECT_EQ(scaler.get_scale(), 65536);
}

TEST(GradScaler, InfAndNanSkipTheStepAndHalveTheScale) {
  for (double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Trained x;
    GradScaler scaler(GradScalerOptions().init_scale(8));
    scaler.scale((x.w * bad).sum()).backward();
    EXPECT_FALSE(scaler.step(x.optimizer).defined());
    scaler.update();
    EXPECT_EQ(x.value(), 1);
    EXPECT_EQ(scaler.get_scale(), 4);
  }
}

TEST(GradScaler, GrowsAfterTheIntervalOfGoodSteps) {
  Trained x;
  GradScaler scaler(GradScalerOptions().init_scale(8).growth_interval(2).growth_factor(4).backoff_factor(0.25));
  auto step = [&](double factor) {
    x.optimizer.zero_grad();
    scaler.scale(x.w.sum() * factor).backward();
    scaler.step(x.optimizer);
    scaler.update();
    return scaler.get_scale();
  };
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 32);
  EXPECT_EQ(step(1), 32);
  EXPECT_EQ(step(std::numeric_limits<double>::infinity()), 8);  // and counting starts over
  EXPECT_EQ(step(1), 8);
  EXPECT_EQ(step(1), 32);
}

TEST(GradScaler, UnscaleComesOnceAndLetsGradientsBeClipped) {
  Trained x;
  GradScaler scaler;
  scaler.scale(x.w.sum()).backward();
  scaler.unscale_(x.optimizer);
  EXPECT_EQ(x.w.grad()[0].item<double>(), 1);
  EXPECT_ERROR(ValueError, scaler.unscale_(x.optimizer),
               "unscale_() has already been called on this optimizer since the last update()");
  scaler.step(x.optimizer);
  EXPECT_EQ(x.value(), 0.5);
  EXPECT_ERROR(ValueError, scaler.step(x.optimizer), "step() has already been called since the last update()");
  EXPECT_ERROR(ValueError, scaler.unscale_(x.optimizer), "unscale_() is being called after step()");
  scaler.update();
  EXPECT_ERROR(ValueError, scaler.update(), "no inf checks were recorded prior to update()");
}

TEST(GradScaler, OneOptimizersInfDoesNotStopTheOther) {
  Trained good, bad;
  GradScaler scaler(GradScalerOptions().init_scale(2));
  scaler.scale(good.w.sum()).backward();
  scaler.scale((bad.w * std::numeric_limits<double>::infinity()).sum()).backward();
  scaler.step(good.optimizer);
  scaler.step(bad.optimizer);
  scaler.update();
  EXPECT_EQ(good.value(), 0.5);
  EXPECT_EQ(bad.value(), 1);
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, StateGoesThroughAFile) {
  Trained x;
  GradScaler saved(GradScalerOptions().init_scale(8).growth_interval(3)), loaded;
  saved.scale(x.w.sum()).backward();
  saved.step(x.optimizer);
  saved.update();
  std::stringstream stream;
  save(saved, stream);
  load(loaded, stream);
  EXPECT_EQ(loaded.get_scale(), 8);
  EXPECT_EQ(loaded.get_growth_interval(), 3);
  EXPECT_EQ(loaded.state_dict().toDict().at("_growth_tracker").toInt(), 1);
  EXPECT_ERROR(ValueError, loaded.load_state_dict(GradScaler(GradScalerOptions().enabled(false)).state_dict()),
               "the source state dict is empty");
}

TEST(GradScaler, DisabledPassesThrough) {
  Trained x;
  GradScaler scaler(GradScalerOptions().enabled(false));
  scaler.scale(x.w.sum()).backward();
  scaler.unscale_(x.optimizer);
  scaler.step(x.optimizer);
  scaler.update();
  EXPECT_EQ(x.value(), 0.5);
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(GradScaler, WrongUseIsNamed) {
  EXPECT_ERROR(ValueError, GradScaler(GradScalerOptions().growth_factor(1)), "growth_factor is 1");
  EXPECT_ERROR(ValueError, GradScaler(GradScalerOptions().backoff_factor(1)), "backoff_factor is 1");
  GradScaler scaler;
  Trained x;
  EXPECT_ERROR(ValueError, scaler.step(x.optimizer), "none of its 1 parameters has a gradient");
  Tensor half = ones({3}, TensorOptions(kHalf).requires_grad(true));
  optim::SGD optimizer({half}, optim::SGDOptions(0.5));
  half.sum().backward();
  EXPECT_ERROR(TypeError, scaler.step(optimizer), "attempting to unscale FP16 gradients, of a parameter of shape [3]");
}

TEST(GradScaler, TrainsUnderAutocast) {
  manual_seed(1);
  nn::Linear net(4, 1);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1));
  GradScaler scaler;
  const Tensor x = randn({16, 4}), y = x.sum(1, true);
  double first = 0, last = 0;
  for (int i = 0; i < 50; i++) {
    optimizer.zero_grad();
    Tensor loss;
    {
      amp::Autocast guard(kHalf);
      loss = nn::functional::mse_loss(net(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    last = loss.item<double>();
    if (i == 0) first = last;
  }
  EXPECT_LT(last, first / 10);
}

}  // namespace
}  // namespace cresset::testing
