// What the cases of comparisons, division, bounds and activations cannot say: operators, ends of the number range, and
// forms that only some arguments reach.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cresset/ops/all.h"

namespace cresset::binary_test {
namespace {

template <class T>
std::vector<T> values_of(const Tensor& x) {
  Tensor flat = x.contiguous();
  return std::vector<T>(flat.data_ptr<T>(), flat.data_ptr<T>() + flat.numel());
}
using Bools = std::vector<bool>;

}  // namespace

TEST(PointwiseOperators, compare_tensors_and_numbers_from_both_sides) {
  Tensor a = tensor({1, 2, 3}), b = tensor({3, 2, 1});
  EXPECT_EQ(values_of<bool>(a == b), (Bools{false, true, false}));
  EXPECT_EQ(values_of<bool>(a != b), (Bools{true, false, true}));
  EXPECT_EQ(values_of<bool>(a < b), (Bools{true, false, false}));
  EXPECT_EQ(values_of<bool>(a <= 2), (Bools{true, true, false}));
  EXPECT_EQ(values_of<bool>(a > 2), (Bools{false, false, true}));
  EXPECT_EQ(values_of<bool>(2 > a), (Bools{true, false, false}));
  EXPECT_EQ(values_of<bool>(2 <= a), (Bools{false, true, true}));
  EXPECT_EQ(values_of<bool>(1.5 < a), (Bools{false, true, true}));
  EXPECT_EQ(values_of<bool>(3 == a), (Bools{false, false, true}));
}

TEST(PointwiseOperators, work_on_bits_and_remainders) {
  Tensor a = tensor({6, 5}), b = tensor({3, 4});
  EXPECT_EQ(values_of<int64_t>(a & b), (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(values_of<int64_t>(a | 1), (std::vector<int64_t>{7, 5}));
  EXPECT_EQ(values_of<int64_t>(1 ^ a), (std::vector<int64_t>{7, 4}));
  EXPECT_EQ(values_of<int64_t>(~a), (std::vector<int64_t>{-7, -6}));
  EXPECT_EQ(values_of<int64_t>(a << 2), (std::vector<int64_t>{24, 20}));
  EXPECT_EQ(values_of<int64_t>(a >> 1), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(values_of<int64_t>(-a % 4), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values_of<int64_t>(20 % a), (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(values_of<bool>(!tensor({0, 2})), (Bools{true, false}));
  EXPECT_EQ(values_of<bool>(~(a == 6)), (Bools{false, true}));
  a &= b;
  a |= 8;
  a <<= 1;
  EXPECT_EQ(values_of<int64_t>(a), (std::vector<int64_t>{20, 24}));
}

TEST(PointwiseDivision, of_the_smallest_integer_by_minus_one_wraps) {
  Tensor least = full({1}, std::numeric_limits<int64_t>::min(), TensorOptions(kInt64)), minus_one = tensor({-1});
  EXPECT_EQ(div(least, minus_one, "floor").item<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(div(least, minus_one, "trunc").item<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(remainder(least, minus_one).item<int64_t>(), 0);
  EXPECT_EQ(fmod(least, -1).item<int64_t>(), 0);
  EXPECT_EQ(gcd(least, tensor({6})).item<int64_t>(), 2);
}

TEST(PointwiseDivision, without_a_rounding_mode_is_true_division) {
  EXPECT_FLOAT_EQ(div(tensor({3}), tensor({2}), std::nullopt).item<float>(), 1.5f);
  Tensor x = tensor({3.0f});
  div_(x, 2, std::nullopt);
  EXPECT_FLOAT_EQ(x.item<float>(), 1.5f);
}

TEST(PointwiseShift, by_too_much_leaves_nothing_or_the_sign) {
  Tensor x = tensor({5, -5});
  EXPECT_EQ(values_of<int64_t>(bitwise_left_shift(x, 64)), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(values_of<int64_t>(bitwise_left_shift(x, -1)), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(values_of<int64_t>(bitwise_right_shift(x, 100)), (std::vector<int64_t>{0, -1}));
}

TEST(PointwisePower, of_integers_with_negative_exponents_leaves_ones) {
  EXPECT_EQ(values_of<int64_t>(pow(tensor({1, -1, -1, 2, 0}), tensor({-3, -3, -2, -1, -1}))),
            (std::vector<int64_t>{1, -1, 1, 0, 0}));
}

TEST(PointwisePower, has_a_gradient_at_zero) {
  Tensor base = zeros({1}), exponent = full({1}, 2.0);
  base.requires_grad_();
  exponent.requires_grad_();
  pow(base, exponent).backward(ones({1}));
  EXPECT_EQ(base.grad().item<float>(), 0);
  EXPECT_EQ(exponent.grad().item<float>(), 0);
}

// What is compared in place stands no longer in the graph: its gradient is zero, not one.
TEST(PointwiseComparison, in_place_ends_the_gradient) {
  Tensor leaf = tensor({1.0f, 2.0f}).requires_grad_(), x = mul(leaf, 1);
  eq_(x, 2);
  EXPECT_EQ(values_of<float>(x), (std::vector<float>{0, 1}));
  x.backward(ones({2}));
  EXPECT_EQ(values_of<float>(leaf.grad()), (std::vector<float>{0, 0}));
}

TEST(PointwiseComparison, equal_refuses_nothing_but_tells_shapes_apart) {
  EXPECT_TRUE(equal(tensor({1, 2}), tensor({1, 2})));
  EXPECT_FALSE(equal(tensor({1, 2}), tensor({{1, 2}})));
  Tensor nan = full({1}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(equal(nan, nan));
  EXPECT_TRUE(allclose(nan, nan, 1e-5, 1e-8, /*equal_nan=*/true));
}

TEST(PointwiseClamp, takes_nan_bounds_as_pytorch_does) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = tensor({1.0f});
  EXPECT_TRUE(std::isnan(clamp(x, nan, 2).item<float>()));
  EXPECT_EQ(clamp(x, nan).item<float>(), 1);
  EXPECT_THROW(clamp(x, std::nullopt, std::nullopt), ValueError);
}

TEST(PointwiseActivation, rrelu_draws_slopes_in_training) {
  Tensor x = full({1000}, -1.0);
  x.requires_grad_();
  Tensor y = rrelu(x, 0.2, 0.6, /*training=*/true);
  std::vector<float> slopes = values_of<float>(neg(y));
  for (float slope : slopes) EXPECT_TRUE(slope >= 0.2f && slope <= 0.6f) << slope;
  EXPECT_GT(*std::max_element(slopes.begin(), slopes.end()), *std::min_element(slopes.begin(), slopes.end()) + 0.2f);
  y.backward(ones({1000}));
  EXPECT_EQ(values_of<float>(x.grad()), slopes);
  EXPECT_EQ(rrelu(ones({3}), 0.2, 0.6, true).sum().item<float>(), 3);
}

TEST(PointwiseActivation, ends_of_the_range_are_exact) {
  float inf = std::numeric_limits<float>::infinity();
  Tensor x = tensor({-inf, -1e30f, 1e30f, inf});
  EXPECT_EQ(values_of<float>(elu(x)), (std::vector<float>{-1, -1, 1e30f, inf}));
  EXPECT_EQ(values_of<float>(softplus(x)), (std::vector<float>{0, 0, 1e30f, inf}));
  EXPECT_EQ(values_of<float>(log_sigmoid(x)), (std::vector<float>{-inf, -1e30f, 0, 0}));
  EXPECT_EQ(values_of<float>(tanhshrink(x)), (std::vector<float>{-inf, -1e30f, 1e30f, inf}));
}

}  // namespace cresset::binary_test
