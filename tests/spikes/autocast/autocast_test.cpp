// SPIKE 3. Autocast as a mode above autograd: linear runs in bfloat16, exp stays in float32, gradients come back in the
// parameters' dtype.
#include "cresset/amp/autocast.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/core/modes.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

using amp::Autocast;

struct Layer {
  Tensor weight = full({4, 3}, 0.1).requires_grad_();
  Tensor bias = full({4}, 1.0).requires_grad_();
  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
};

TEST(SpikeAutocast, LinearRunsInBfloat16AndExpStaysInFloat32) {
  Layer layer;
  Tensor x = ones({2, 3});
  Tensor before = layer(x), y, z, s;
  {
    Autocast guard(kBFloat16);
    y = layer(x);
    z = exp(y);
    s = sum(y);
  }

  EXPECT_EQ(before.dtype(), kFloat);
  EXPECT_EQ(y.dtype(), kBFloat16);
  EXPECT_EQ(z.dtype(), kFloat);
  EXPECT_EQ(s.dtype(), kFloat);
  EXPECT_EQ(layer(x).dtype(), kFloat) << "the guard is gone";
  EXPECT_NEAR(y.select(0, 0).select(0, 0).item<float>(), 1.3f, 0.01f);
}

TEST(SpikeAutocast, GradientsComeBackInTheParametersDtype) {
  Layer layer;
  Tensor x = ones({2, 3}).requires_grad_(), loss;
  {
    Autocast guard(kBFloat16);
    loss = sum(exp(layer(x)));
  }
  loss.backward();

  EXPECT_EQ(layer.weight.grad().dtype(), kFloat);
  EXPECT_EQ(layer.bias.grad().dtype(), kFloat);
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_NEAR(layer.bias.grad().select(0, 0).item<float>(), 2 * std::exp(1.3f), 0.05f);
}

TEST(SpikeAutocast, Float16CanBeChosenAndOtherTypesAreRefused) {
  Layer layer;
  {
    Autocast guard(kHalf);
    EXPECT_EQ(layer(ones({2, 3})).dtype(), kHalf);
  }
  EXPECT_THROW(Autocast guard(kDouble), TypeError);
  EXPECT_FALSE(Autocast::is_enabled());
}

TEST(SpikeAutocast, LeavesOtherOpsFloat64AndIntegersAlone) {
  Autocast guard(kBFloat16);
  EXPECT_EQ((ones({2}) + ones({2})).dtype(), kFloat);
  EXPECT_EQ(relu(ones({2}, kBFloat16)).dtype(), kBFloat16);
  EXPECT_EQ(exp(ones({2}, kDouble)).dtype(), kDouble);
  EXPECT_EQ(sum(ones({2}, kLong)).dtype(), kLong);
}

TEST(SpikeAutocast, NestsAndCanBeSwitchedOffInside) {
  Layer layer;
  Tensor x = ones({2, 3});
  Autocast outer(kBFloat16);
  {
    Autocast off(kBFloat16, false);
    EXPECT_FALSE(Autocast::is_enabled());
    EXPECT_EQ(layer(x).dtype(), kFloat);
    {
      Autocast half(kHalf);
      EXPECT_EQ(layer(x).dtype(), kHalf);
    }
    EXPECT_EQ(layer(x).dtype(), kFloat);
  }
  EXPECT_EQ(layer(x).dtype(), kBFloat16);
}

// A composed op of a user's: not on any list, but its parts are.
Tensor two_layers(const Tensor& x, const Tensor& weight);
const Op& two_layers_op = define_op("two_layers", &two_layers, "x, weight", "SPIKE. linear twice, then exp.",
                                    {.gradient = Gradient::composed});
Tensor two_layers(const Tensor& x, const Tensor& weight) {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0))
    if (auto handled = intercepted<Tensor>(two_layers_op, x, weight)) return *handled;
  Tensor y = linear(linear(x, weight), weight);
  return y.dtype() == kBFloat16 ? exp(y) : y;
}

TEST(SpikeAutocast, ReachesThePartsOfAComposedOp) {
  Autocast guard(kBFloat16);
  Tensor found = two_layers(ones({2, 3}), full({3, 3}, 0.1));
  EXPECT_EQ(found.dtype(), kFloat);
  EXPECT_NEAR(found.select(0, 0).select(0, 0).item<float>(), std::exp(0.09f), 0.01f);
}

class Listening : public modes::AboveMode {
 public:
  std::vector<std::string> seen;
  Value call(const Op& op, Values& arguments) override {
    seen.emplace_back(op.name);
    return modes::pass(op, arguments);
  }
};

TEST(SpikeAutocast, AModeBelowItOnTheStackSeesTheCastsAndEachOpOnce) {
  Layer layer;
  Tensor x = ones({2, 3});
  Listening listening;
  modes::AboveScope scope(listening);
  Autocast guard(kBFloat16);
  layer(x);

  EXPECT_EQ(std::count(listening.seen.begin(), listening.seen.end(), "linear"), 1);
  EXPECT_EQ(std::count(listening.seen.begin(), listening.seen.end(), "to"), 3) << "x, weight and bias";
}

TEST(SpikeAutocast, CastsAParameterOnceUntilItChanges) {
  Layer layer;
  Tensor x = ones({2, 3}, kBFloat16);
  Listening listening;
  modes::AboveScope scope(listening);
  Autocast guard(kBFloat16);
  auto casts = [&] { return std::count(listening.seen.begin(), listening.seen.end(), "to"); };
  layer(x);
  layer(x);
  EXPECT_EQ(casts(), 2);
  {
    NoGradGuard no_grad;
    layer.weight.add_(1);
  }
  Tensor y = layer(x);
  EXPECT_EQ(casts(), 3);
  EXPECT_NEAR(y.select(0, 0).select(0, 0).item<float>(), 4.3f, 0.05f);
}

}  // namespace
}  // namespace cresset
