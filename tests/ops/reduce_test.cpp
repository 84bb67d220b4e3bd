// Reductions: accuracy, independence of the thread count, ties and nan, errors.
#include "cresset/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset::reduce_test {
namespace {

Tensor floats(std::vector<float> values, std::vector<int64_t> sizes) {
  Tensor x = cresset::empty(sizes);
  std::copy(values.begin(), values.end(), x.data_ptr<float>());
  return x;
}
// Numbers of very different size, the same at every call.
Tensor uneven(std::vector<int64_t> sizes) {
  Tensor x = cresset::empty(sizes);
  uint32_t state = 1;
  for (int64_t i = 0; i < x.numel(); i++) {
    state = state * 1664525 + 1013904223;
    x.data_ptr<float>()[i] = std::ldexp(static_cast<float>(state >> 8) - 8e6f, static_cast<int>(state % 20) - 10);
  }
  return x;
}
std::vector<float> values_of(const Tensor& x) {
  Tensor dense = x.contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

class Threads {
 public:
  explicit Threads(int count) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_ = get_num_threads();
};

TEST(Sum, IsTheSameForAnyNumberOfThreads) {
  Tensor x = uneven({700, 1300}), t = x.t();
  auto all = [&](int threads) {
    Threads scope(threads);
    std::vector<float> found = values_of(sum(x));
    for (const Tensor& y : {sum(x, 0), sum(x, 1), sum(t, 0), mean(x, 0)})
      for (float v : values_of(y)) found.push_back(v);
    return found;
  };
  std::vector<float> one = all(1);
  EXPECT_EQ(one, all(2));
  EXPECT_EQ(one, all(7));
}

TEST(Sum, LosesLessThanOneRoundingOfManyFloats) {
  Tensor x = empty({1 << 20});
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = 0.1f;
  double exact = static_cast<double>(0.1f) * (1 << 20);
  EXPECT_NEAR(sum(x).item<double>(), exact, exact * 1e-7);
  Tensor columns = sum(x.view({1 << 18, 4}), 0);
  for (float v : values_of(columns)) EXPECT_NEAR(v, exact / 4, exact / 4 * 1e-7);
}

TEST(Sum, OfHalfDoesNotStopAtItsPrecision) {
  EXPECT_EQ(sum(ones({5000}, kHalf)).item<double>(), 5000);
  EXPECT_EQ(sum(ones({60000}, kBFloat16), kFloat).item<double>(), 60000);
  EXPECT_EQ(mean(full({100000}, 60000, kHalf)).item<double>(), 60000);  // the sum itself would be infinite
}

TEST(Sum, OfSmallIntegersIsInt64AndConvertsBeforeAdding) {
  EXPECT_EQ(sum(ones({300}, kByte)).dtype(), kLong);
  EXPECT_EQ(sum(ones({300}, kByte)).item<int64_t>(), 300);
  EXPECT_EQ(sum(ones({300}, kBool)).item<int64_t>(), 300);
  EXPECT_EQ(sum(floats({0.9f, 0.9f, -1.9f}, {3}), kLong).item<int64_t>(), -1);
  EXPECT_EQ(sum(floats({-1, 1}, {2}), kBool).item<bool>(), true);
}

TEST(Sum, OfNothingIsZeroAndMeanOfNothingIsNan) {
  EXPECT_EQ(sum(empty({0})).item<float>(), 0);
  EXPECT_EQ(values_of(sum(empty({3, 0}), 1)), std::vector<float>(3, 0.0f));
  EXPECT_EQ(sum(empty({3, 0}), 0).numel(), 0);
  EXPECT_TRUE(std::isnan(mean(empty({0})).item<float>()));
}

TEST(Sum, ReadsTransposedSlicedAndExpandedInputsInPlace) {
  Tensor x = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(values_of(sum(x.t(), 0)), (std::vector<float>{6, 15}));
  EXPECT_EQ(values_of(sum(x.slice(1, 0, 3, 2), 1)), (std::vector<float>{4, 10}));
  EXPECT_EQ(values_of(sum(x.select(0, 0).expand({4, 3}), 0)), (std::vector<float>{4, 8, 12}));
}

TEST(Sum, WritesIntoOutAndRefusesRepeatedDims) {
  Tensor x = floats({1, 2, 3, 4}, {2, 2}), out = empty({0});
  sum_out(out, x, 1, true);
  EXPECT_EQ(out.sizes().vec(), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(values_of(out), (std::vector<float>{3, 7}));
  EXPECT_ERROR(ShapeError, sum(x, {0, -2}), "appears multiple times");
  EXPECT_ERROR(IndexError, sum(x, 2), "dim 2 is out of range for shape [2, 2]");
}

TEST(Mean, RefusesIntegersAsPyTorchDoes) {
  EXPECT_ERROR(TypeError, mean(ones({3}, kLong)),
               "could not infer output dtype. Input dtype must be either a floating point or complex dtype");
  EXPECT_EQ(mean(ones({3}, kLong), kFloat).item<float>(), 1);
}

TEST(Max, AlongADimTakesTheFirstOfEqualsAndNanAboveAll) {
  float nan = std::nanf("");
  Tensor x = floats({1, 5, 5, 2, nan, nan}, {2, 3});
  for (bool transposed : {false, true}) {
    auto [values, indices] = max(transposed ? x.t().contiguous().t() : x, 1);
    EXPECT_EQ(values.data_ptr<float>()[0], 5);
    EXPECT_TRUE(std::isnan(values.data_ptr<float>()[1]));
    EXPECT_EQ(indices.data_ptr<int64_t>()[0], 1);
    EXPECT_EQ(indices.data_ptr<int64_t>()[1], 1);
  }
}

TEST(Max, OfALongLineFindsTheFirstPlaceWithAnyNumberOfThreads) {
  Tensor x = zeros({200001});
  x.data_ptr<float>()[70000] = x.data_ptr<float>()[190000] = 3;
  for (int threads : {1, 3}) {
    Threads scope(threads);
    EXPECT_EQ(std::get<1>(max(x, 0)).item<int64_t>(), 70000);
  }
}

TEST(Max, OfAllSharesItsGradientAmongEquals) {
  Tensor x = floats({2, 7, 7, 1}, {4}).requires_grad_();
  max(x).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<float>{0, 0.5f, 0.5f, 0}));
}

TEST(Max, AlongADimGivesItsGradientToTheFirstOfEquals) {
  Tensor x = floats({2, 7, 7, 1}, {4}).requires_grad_();
  std::get<0>(max(x, 0)).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<float>{0, 1, 0, 0}));
  EXPECT_FALSE(std::get<1>(max(x, 0)).requires_grad());
}

TEST(Max, HasASecondDerivativeThroughItsValues) {
  Tensor x = floats({1, 3, 2, 5}, {2, 2}).requires_grad_();
  Tensor y = sum(std::get<0>(max(x * x * x, 1)));
  Tensor first = autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
  EXPECT_EQ(values_of(first), (std::vector<float>{0, 27, 0, 75}));
  EXPECT_EQ(values_of(autograd::grad({sum(first)}, {x})[0]), (std::vector<float>{0, 18, 0, 30}));
}

TEST(Max, OfNothingIsRefused) {
  EXPECT_ERROR(IndexError, max(empty({0})), "Expected reduction dim to be specified for input.numel() == 0");
  EXPECT_ERROR(IndexError, max(empty({2, 0}), 1), "Expected reduction dim 1 to have non-zero size");
  EXPECT_ERROR(TypeError, max(empty({2}, kComplexFloat)), "no order");
  EXPECT_EQ(std::get<0>(max(empty({0, 2}), 1)).numel(), 0);
}

TEST(Amax, ReducesSeveralDims) {
  Tensor x = floats({1, 2, 3, 4, 8, 6, 7, 5}, {2, 2, 2});
  EXPECT_EQ(values_of(amax(x, {0, 2})), (std::vector<float>{8, 7}));
  EXPECT_EQ(amax(x, {}, true).sizes().vec(), (std::vector<int64_t>{1, 1, 1}));
}

}  // namespace
}  // namespace cresset::reduce_test
