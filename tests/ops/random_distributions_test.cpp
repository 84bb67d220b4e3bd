// What is drawn: moments and frequencies against those of the distributions, with fixed seeds and wide bounds.
#include "cresset/ops/random_distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "cresset/ops/all.h"

namespace cresset {
namespace {

struct Moments {
  double mean, variance;
};
Moments moments(const Tensor& x) {
  Tensor y = x.to(kDouble).contiguous();
  const double* v = y.data_ptr<double>();
  double n = static_cast<double>(y.numel()), sum = 0, squares = 0;
  for (int64_t i = 0; i < y.numel(); i++) sum += v[i];
  for (int64_t i = 0; i < y.numel(); i++) squares += (v[i] - sum / n) * (v[i] - sum / n);
  return {sum / n, squares / n};
}
// Six standard errors of the mean; a tenth of the variance.
void expect_moments(const Tensor& x, double mean, double variance) {
  Moments found = moments(x);
  EXPECT_NEAR(found.mean, mean, 6 * std::sqrt(variance / static_cast<double>(x.numel())));
  EXPECT_NEAR(found.variance, variance, 0.1 * variance);
}

constexpr int64_t kMany = 40000;

TEST(Distributions, MomentsOfFilledTensors) {
  manual_seed(1);
  for (DType dtype : {kFloat, kDouble}) {
    expect_moments(exponential_(empty({kMany}, dtype), 2.0), 0.5, 0.25);
    expect_moments(geometric_(empty({kMany}, dtype), 0.25), 4, 12);
    expect_moments(log_normal_(empty({kMany}, dtype), 0.0, 0.5), std::exp(0.125),
                   (std::exp(0.25) - 1) * std::exp(0.25));
  }
  expect_moments(geometric_(empty({kMany}, kLong), 0.5), 2, 2);
  Tensor cauchy = cauchy_(empty({kMany}, kDouble), 3.0, 2.0);  // no moments: count within sigma of the median
  int64_t near = 0;
  for (int64_t i = 0; i < kMany; i++) near += std::abs(cauchy.data_ptr<double>()[i] - 3) < 2;
  EXPECT_NEAR(static_cast<double>(near) / kMany, 0.5, 0.02);
}

TEST(Distributions, NormalWithTensors) {
  manual_seed(2);
  expect_moments(normal(full({kMany}, 3.0), 2.0), 3, 4);
  expect_moments(normal(1.0, full({kMany}, 0.5)), 1, 0.25);
  expect_moments(normal(full({kMany}, -1.0, kDouble), full({1}, 3.0, kDouble)), -1, 9);
  expect_moments(normal(2.0, 0.1, {kMany}), 2, 0.01);
}

TEST(Distributions, Counts) {
  manual_seed(3);
  for (double rate : {0.3, 5.0, 9.9, 10.1, 40.0, 1000.0})
    expect_moments(poisson(full({kMany}, rate, kDouble)), rate, rate);
  EXPECT_EQ(moments(poisson(zeros({100}))).mean, 0);
  struct Trials {
    double n, p;
  };
  for (Trials t : {Trials{10, 0.3}, {10, 0.9}, {100, 0.05}, {100, 0.4}, {1000, 0.7}})
    expect_moments(binomial(full({kMany}, t.n, kDouble), full({}, t.p, kDouble)), t.n * t.p, t.n * t.p * (1 - t.p));
}

TEST(Distributions, MultinomialFollowsTheWeights) {
  manual_seed(4);
  Tensor weights = tensor({1., 0., 3., 4.});
  Tensor drawn = multinomial(weights, kMany, true);
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < kMany; i++) counts[drawn.data_ptr<int64_t>()[i]]++;
  EXPECT_EQ(counts.count(1), 0u);
  EXPECT_NEAR(static_cast<double>(counts[0]) / kMany, 0.125, 0.01);
  EXPECT_NEAR(static_cast<double>(counts[3]) / kMany, 0.5, 0.015);
}

TEST(Distributions, MultinomialWithoutReplacementDrawsEachOnce) {
  manual_seed(5);
  Tensor weights = expand(tensor({1., 0., 3., 4.}), {kMany, 4});
  Tensor drawn = multinomial(weights, 3);
  int64_t first_is_three = 0;
  for (int64_t i = 0; i < kMany; i++) {
    const int64_t* row = drawn.data_ptr<int64_t>() + 3 * i;
    EXPECT_TRUE(row[0] != row[1] && row[0] != row[2] && row[1] != row[2]);
    for (int k = 0; k < 3; k++) EXPECT_NE(row[k], 1);
    first_is_three += row[0] == 3;
  }
  EXPECT_NEAR(static_cast<double>(first_is_three) / kMany, 0.5, 0.015);
  EXPECT_THROW(multinomial(tensor({1., 0., 3.}), 3), ValueError);
}

}  // namespace
}  // namespace cresset
