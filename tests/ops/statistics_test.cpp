// What the cases' samples cannot say of statistics, scans and sorts: gradients at corners, accuracy, exact order.
#include "cresset/ops/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cresset/autograd/autograd.h"
#include "cresset/core/parallel.h"
#include "cresset/ops/all.h"

namespace cresset::statistics_test {
namespace {

Tensor floats(std::vector<float> values) {
  Tensor x = cresset::empty({static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), x.data_ptr<float>());
  return x;
}
std::vector<float> values_of(const Tensor& x) {
  Tensor dense = x.contiguous();
  return {dense.data_ptr<float>(), dense.data_ptr<float>() + dense.numel()};
}

TEST(Std, HasTheGradientZeroWhereNothingVaries) {
  Tensor x = ones({4}).requires_grad_();
  cresset::std(x).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<float>{0, 0, 0, 0}));
}

TEST(Norm, HasTheGradientZeroAtZero) {
  for (double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, static_cast<double>(INFINITY)}) {
    Tensor x = zeros({3}).requires_grad_();
    norm(x, p).backward();
    if (!x.grad().defined()) continue;  // p = 0: no gradient at all
    EXPECT_EQ(values_of(x.grad()), (std::vector<float>{0, 0, 0})) << "p = " << p;
  }
}

TEST(Prod, ThroughOneZeroReachesThatZeroOnly) {
  Tensor x = floats({2, 0, 3}).requires_grad_();
  prod(x).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<float>{0, 6, 0}));
}

TEST(Var, OfNumbersFarFromZeroLosesNothing) {
  Tensor x = cresset::empty({100000});
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = 1e6f + static_cast<float>(i % 2);
  EXPECT_NEAR(var(x, false).item<float>(), 0.25, 1e-6);
}

TEST(Cumsum, OfALongLineIsRoundedOnce) {
  Tensor x = cresset::empty({200001});
  double sum = 0;
  uint32_t state = 1;
  std::vector<double> wanted;
  for (int64_t i = 0; i < x.numel(); i++) {
    state = state * 1664525 + 1013904223;
    float value = static_cast<float>(state >> 8) / 16777216.f - 0.5f;
    x.data_ptr<float>()[i] = value;
    wanted.push_back(sum += value);
  }
  std::vector<float> found = values_of(cumsum(x, 0));
  for (size_t i = 0; i < found.size(); i++) ASSERT_NEAR(found[i], wanted[i], 1e-7 * std::abs(wanted[i]) + 1e-9) << i;
}

TEST(Sort, KeepsTheOrderOfEqualsTheSignOfZeroAndEveryNan) {
  float nan = std::nanf("");
  Tensor x = floats({nan, 0.f, 1.f, -0.f, -nan, -1.f, 1.f});
  auto [values, indices] = sort(x);
  std::vector<int64_t> order(indices.data_ptr<int64_t>(), indices.data_ptr<int64_t>() + 7);
  EXPECT_EQ(order, (std::vector<int64_t>{5, 1, 3, 2, 6, 0, 4}));
  EXPECT_TRUE(std::signbit(values.data_ptr<float>()[2]));
  EXPECT_FALSE(std::signbit(values.data_ptr<float>()[1]));
}

TEST(Topk, OfALongLineIsTheSameForAnyNumberOfThreads) {
  Tensor x = cresset::empty({300000});
  uint32_t state = 1;
  for (int64_t i = 0; i < x.numel(); i++) {
    state = state * 1664525 + 1013904223;
    x.data_ptr<float>()[i] = static_cast<float>(state >> 18);  // many equals
  }
  int before = get_num_threads();
  for (int64_t k : {1, 50, 30000}) {
    set_num_threads(1);
    auto [values, indices] = topk(x, k);
    set_num_threads(3);
    auto [same_values, same_indices] = topk(x, k);
    auto [sorted, places] = sort(x, -1, true);
    for (int64_t i = 0; i < k; i++) {
      ASSERT_EQ(indices.data_ptr<int64_t>()[i], same_indices.data_ptr<int64_t>()[i]) << i << " of " << k;
      ASSERT_EQ(indices.data_ptr<int64_t>()[i], places.data_ptr<int64_t>()[i]) << i << " of " << k;
    }
  }
  set_num_threads(before);
}

// libtorch's meaning too: std(0) goes along dimension 0, although 0 is also a bool.
TEST(Moments, ANumberIsADimension) {
  Tensor x = arange(6, kFloat).view({2, 3});
  EXPECT_EQ(x.std(0).sizes(), IntArrayRef({3}));
  EXPECT_EQ(x.var(1).sizes(), IntArrayRef({2}));
  EXPECT_EQ(std(x, x.dim() - 1).sizes(), IntArrayRef({2}));
  EXPECT_EQ(std::get<0>(var_mean(x, 0)).sizes(), IntArrayRef({3}));
  EXPECT_EQ(std::get<1>(std_mean(x, 1)).sizes(), IntArrayRef({2}));
  EXPECT_EQ(x.std(false).dim(), 0);
}

// Nor has libtorch: as methods they took {0} for unbiased=false.
template <class T>
concept HasMeanMethods = requires(const T& x) {
  x.var_mean(true);
}
|| requires(const T& x) { x.std_mean(true); };
TEST(Moments, WithTheMeanAreNoMethods) { EXPECT_FALSE(HasMeanMethods<Tensor>); }

}  // namespace
}  // namespace cresset::statistics_test
