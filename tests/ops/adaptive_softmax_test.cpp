// adaptive_log_softmax, and the small methods that are no ops.
#include <gtest/gtest.h>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

AdaptiveSoftmaxWeights made(bool gradients = false) {
  manual_seed(3);
  TensorOptions options = TensorOptions(kDouble).requires_grad(gradients);
  return {{2, 4, 7},
          randn({4, 5}, options),
          randn({4}, options),
          {{randn({3, 5}, options), randn({2, 3}, options)}, {randn({2, 5}, options), randn({3, 2}, options)}}};
}

TEST(AdaptiveLogSoftmax, GivesEveryClassAProbability) {
  Tensor x = randn({6, 5}, kDouble), y = adaptive_log_softmax(x, made());
  EXPECT_EQ(y.sizes().vec(), (std::vector<int64_t>{6, 7}));
  EXPECT_TRUE(allclose(y.exp().sum(1), ones({6}, kDouble)));
}

TEST(AdaptiveLogSoftmax, LossReadsTheSameProbabilities) {
  AdaptiveSoftmaxWeights w = made(/*gradients=*/true);
  Tensor x = randn({7, 5}, kDouble), target = tensor({0, 6, 1, 4, 2, 3, 5});
  auto [output, loss] = adaptive_log_softmax_with_loss(x, target, w);
  Tensor wanted = gather(adaptive_log_softmax(x, w), 1, target.unsqueeze(1)).squeeze(1);
  EXPECT_TRUE(allclose(output, wanted));
  EXPECT_NEAR(loss.item<double>(), -wanted.mean().item<double>(), 1e-12);
  auto found = autograd::grad({loss}, {w.head_weight, w.tails[1].second});
  auto same = autograd::grad({-wanted.mean()}, {w.head_weight, w.tails[1].second});
  for (size_t i = 0; i < 2; i++) EXPECT_TRUE(allclose(found[i], same[i]));
}

TEST(AdaptiveLogSoftmax, RefusesWhatDoesNotFit) {
  AdaptiveSoftmaxWeights w = made();
  Tensor x = randn({1, 5}, kDouble);
  EXPECT_ERROR(IndexError, adaptive_log_softmax_with_loss(x, tensor({7}), w),
               "found targets from 7 to 7 (expected 0 to 6)");
  w.cutoffs = {4, 2, 7};
  EXPECT_ERROR(ValueError, adaptive_log_softmax(x, w), "adaptive_log_softmax: found cutoffs [4, 2, 7]");
}

TEST(TensorMethods, TolistReadsRowByRow) {
  Tensor x = arange(6).view({2, 3}).t();
  EXPECT_EQ(x.tolist<int64_t>(), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_ERROR(TypeError, x.tolist<float>(), "expected scalar type Float but found Long");
}

TEST(TensorMethods, NewTensorTakesTheDtype) {
  Tensor x = zeros({1}, kHalf).new_tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(x.dtype(), kHalf);
  EXPECT_EQ(x[1][0].item<float>(), 3);
}

TEST(TensorMethods, SetSharesTheMemory) {
  Tensor x = zeros({1}), source = arange(6, kFloat).view({2, 3});
  x.set_(source.t());
  source[0][1] = 9;
  EXPECT_EQ(x[1][0].item<float>(), 9);
  EXPECT_ERROR(TypeError, x.set_(zeros({1}, kDouble)),
               "set_: found a source of dtype float64 (expected self's, float32)");
  EXPECT_ERROR(AutogradError, x.set_(zeros({1}, requires_grad())), "set_: found a tensor that requires grad");
}

}  // namespace
}  // namespace cresset
