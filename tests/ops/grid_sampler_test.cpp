// Derivatives of grid sampling beyond the second, which its op case checks.
#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"

namespace cresset::test {
namespace {

// The order-th derivative along x of one sample of an image, at (x, 0.1).
double derivative(const Tensor& image, double x, int order, int64_t interpolation) {
  Tensor at = full({1}, x, kDouble).requires_grad_();
  Tensor y =
      grid_sampler(image, stack({at, full({1}, 0.1, kDouble)}, 1).reshape({1, 1, 1, 2}), interpolation, 0, false);
  y = y.reshape({1});
  for (int i = 0; i < order; i++) y = autograd::grad({y}, {at}, {}, true, true).at(0);
  return y.item<double>();
}

TEST(GridSampler, ThirdDerivativesOfCubicsAreTheSlopesOfTheSecond) {
  const Tensor image = sin(arange(16, kDouble) * 1.7).reshape({1, 1, 4, 4});
  const double x = 0.21, step = 1e-3;
  const double slope = (derivative(image, x + step, 2, 2) - derivative(image, x - step, 2, 2)) / (2 * step);
  EXPECT_GT(std::abs(slope), 0.1);
  EXPECT_NEAR(derivative(image, x, 3, 2), slope, 1e-8);
  EXPECT_EQ(derivative(image, x, 4, 2), 0);
}

TEST(GridSampler, LinesAreStraightAndStepsFlat) {
  const Tensor image = sin(arange(16, kDouble) * 1.7).reshape({1, 1, 4, 4});
  EXPECT_NE(derivative(image, 0.21, 1, 0), 0);
  EXPECT_EQ(derivative(image, 0.21, 2, 0), 0);
  EXPECT_EQ(derivative(image, 0.21, 1, 1), 0);
  EXPECT_EQ(derivative(image, 0.21, 2, 1), 0);
}

// As in PyTorch: in volumes away from zero, in images to the even one.
TEST(GridSampler, NearestBreaksTies) {
  const Tensor line = arange(3, kFloat), x = tensor({-1.5f, -0.5f, 0.5f});  // places -0.5, 0.5 and 1.5
  const Tensor image = line.view({1, 1, 1, 3}), volume = line.view({1, 1, 1, 1, 3}), zero = zeros({3});
  EXPECT_TRUE(
      grid_sampler(image, stack({x, zero}, 1).view({1, 1, 3, 2}), 1, 0, true).equal(tensor({{{{0.f, 0.f, 2.f}}}})));
  EXPECT_TRUE(grid_sampler(volume + 1, stack({x, zero, zero}, 1).view({1, 1, 1, 3, 3}), 1, 0, true)
                  .view({3})
                  .equal(tensor({0.f, 2.f, 3.f})));
}

}  // namespace
}  // namespace cresset::test
