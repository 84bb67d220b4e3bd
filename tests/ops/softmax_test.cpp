// Softmax and its logarithm: rows and columns agree, the ends of exp, second derivatives.
#include "cresset/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"

namespace cresset {
namespace {

Tensor wave(std::vector<int64_t> sizes, DType dtype = kFloat) {
  Tensor x = cresset::empty(sizes);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = 5 * std::sin(static_cast<float>(i));
  return x.to(dtype);
}
double worst_difference(const Tensor& a, const Tensor& b) {
  Tensor x = a.to(kDouble).contiguous(), y = b.to(kDouble).contiguous();
  double worst = 0;
  for (int64_t i = 0; i < x.numel(); i++)
    worst = std::max(worst, std::abs(x.data_ptr<double>()[i] - y.data_ptr<double>()[i]));
  return worst;
}

TEST(Softmax, OfColumnsIsThatOfRows) {
  for (DType dtype : {kFloat, kDouble, kHalf, kBFloat16})
    for (int64_t n : {1, 3, 16, 100}) {
      Tensor x = wave({n, 37}, dtype);
      double rounding = dtype == kBFloat16 ? 4e-3 : dtype == kHalf ? 5e-4 : 1e-6;
      EXPECT_LT(worst_difference(softmax(x, 0), softmax(x.t().contiguous(), 1).t()), rounding) << dtype << " " << n;
      EXPECT_LT(worst_difference(sum(softmax(x, 0), 0), ones({37})), dtype == kBFloat16 ? 0.03 : 5e-3);
    }
}

TEST(Softmax, OfARowWithoutAFiniteMaximumIsNanAndFarBelowItIsZero) {
  float inf = INFINITY;
  Tensor x = empty({3, 2});
  std::copy_n(std::vector<float>{inf, 0, -inf, -inf, 0, -1e30f}.data(), 6, x.data_ptr<float>());
  for (const Tensor& y : {softmax(x, 1), softmax(x.t().contiguous(), 0).t().contiguous()}) {
    for (int i = 0; i < 4; i++) EXPECT_TRUE(std::isnan(y.data_ptr<float>()[i])) << i;
    EXPECT_EQ(y.data_ptr<float>()[4], 1);
    EXPECT_EQ(y.data_ptr<float>()[5], 0);
  }
}

TEST(Softmax, OfManyRowsFollowsAMaximumThatMoves) {
  Tensor x = zeros({200, 16}, kDouble);
  for (int64_t i = 0; i < 200; i++)
    for (int64_t j = 0; j < 16; j++) x.data_ptr<double>()[i * 16 + j] = i < 40 ? -INFINITY : static_cast<double>(i);
  EXPECT_LT(worst_difference(softmax(x, 0), softmax(x.t().contiguous(), 1).t()), 1e-14);
}

TEST(Softmax, TakesIntegersWithADtypeAndRefusesThemWithout) {
  EXPECT_THROW(softmax(ones({2}, kLong), 0), TypeError);
  EXPECT_EQ(softmax(ones({2}, kLong), 0, kFloat).data_ptr<float>()[1], 0.5f);
}

TEST(Softmax, BeyondTheCacheEqualsASmallPiece) {
  Tensor x = wave({3000, 1024}), y = softmax(x, 1);
  Tensor piece = softmax(x.slice(0, 1000, 1001).clone(), 1);
  EXPECT_EQ(worst_difference(y.slice(0, 1000, 1001), piece), 0);
}

TEST(LogSoftmax, KeepsDifferencesOfLargeNumbersAndOfSmallProbabilities) {
  for (float offset : {0.0f, 1e7f, -1e7f}) {
    Tensor x = zeros({3, 8}), y = empty({3, 8});
    for (int64_t j = 0; j < 8; j++) {
      float values[3] = {0, 1, -1000};
      for (int64_t i = 0; i < 3; i++) {
        x.data_ptr<float>()[i * 8 + j] = values[i] + offset;
        y.data_ptr<float>()[i * 8 + j] = values[i] - std::log(1 + std::exp(1.0f));
      }
    }
    EXPECT_LT(worst_difference(log_softmax(x, 0), y), 1e-4) << offset;
    EXPECT_LT(worst_difference(log_softmax(x.t().contiguous(), 1), y.t()), 1e-4) << offset;
  }
}

TEST(LogSoftmax, TakesIntegersWithADtypeAndRefusesThemWithout) {
  EXPECT_THROW(ones({2}, kLong).log_softmax(0), TypeError);
  EXPECT_EQ(ones({2}, kLong).log_softmax(0, kFloat).data_ptr<float>()[1], std::log(0.5f));
}

TEST(LogSoftmax, BeyondTheCacheEqualsASmallPiece) {
  Tensor x = wave({3000, 1024}), y = log_softmax(x, 1);
  Tensor piece = log_softmax(x.slice(0, 1000, 1001).clone(), 1);
  EXPECT_EQ(worst_difference(y.slice(0, 1000, 1001), piece), 0);
}

TEST(Softmax, HasSecondDerivatives) {
  Tensor x = wave({2, 3}, kDouble).requires_grad_(), w = wave({3, 2}, kDouble).t();
  auto gradient = [&](const Tensor& at, bool graph) {
    return autograd::grad({sum(mul(softmax(at, 1), w))}, {at}, {}, std::nullopt, graph)[0];
  };
  Tensor second = autograd::grad({sum(mul(gradient(x, true), w))}, {x})[0];
  for (int64_t i = 0; i < 6; i++) {  // against differences of the first
    double step = 1e-5, along[2];
    for (int side : {0, 1}) {
      Tensor moved = x.detach().clone();
      moved.data_ptr<double>()[i] += side ? step : -step;
      moved.requires_grad_();
      along[side] = sum(mul(gradient(moved, false), w)).item<double>();
    }
    EXPECT_NEAR(second.contiguous().data_ptr<double>()[i], (along[1] - along[0]) / (2 * step), 1e-6) << i;
  }
}

}  // namespace
}  // namespace cresset
