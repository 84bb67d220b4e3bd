// Random ops: distributions at a fixed seed, independence of threads and strides, dropout and its backward.
#include "cresset/ops/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cresset/cresset.h"
#include "tests/support/message_when.h"

namespace cresset {
namespace {

using test::expect_contains;
using test::message_when;
using Doubles = std::vector<double>;

Doubles values_of(const Tensor& x) {
  Tensor dense = x.detach().to(kDouble).contiguous();
  const double* p = dense.data_ptr<double>();
  return {p, p + dense.numel()};
}
double mean_of(const Doubles& values) {
  double total = 0;
  for (double v : values) total += v;
  return total / static_cast<double>(values.size());
}
double central_moment(const Doubles& values, int power) {
  const double mean = mean_of(values);
  double total = 0;
  for (double v : values) total += std::pow(v - mean, power);
  return total / static_cast<double>(values.size());
}
// The largest distance between the sample's distribution and the true one, times sqrt(n): 1.95 is passed once in 1,000.
template <class Cdf>
double kolmogorov(Doubles values, const Cdf& cdf) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  double worst = 0;
  for (size_t i = 0; i < values.size(); i++) {
    const double p = cdf(values[i]), at = static_cast<double>(i);
    worst = std::max({worst, p - at / n, (at + 1) / n - p});
  }
  return worst * std::sqrt(n);
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(Uniform, IsEvenOverItsRange) {
  for (DType dtype : {kFloat, kDouble}) {
    manual_seed(1);
    Doubles values = values_of(empty({100000}, dtype).uniform_(-2, 3));
    EXPECT_LT(kolmogorov(values, [](double x) { return (x + 2) / 5; }), 1.95) << name_of(dtype);
    EXPECT_GE(*std::min_element(values.begin(), values.end()), -2);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 3);
  }
}

TEST(Uniform, NeverReachesItsUpperBoundByRounding) {
  manual_seed(2);
  for (DType dtype : {kHalf, kBFloat16, kFloat}) {
    Doubles values = values_of(empty({300000}, dtype).uniform_(1, 2));
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 2) << name_of(dtype);
    EXPECT_NEAR(mean_of(values), 1.5, 0.01) << name_of(dtype);
  }
}

TEST(Normal, HasItsMomentsAndShape) {
  for (DType dtype : {kFloat, kDouble, kBFloat16}) {
    manual_seed(3);
    Doubles values = values_of(empty({100000}, dtype).normal_(1, 2));
    EXPECT_NEAR(mean_of(values), 1, 0.03);
    EXPECT_NEAR(central_moment(values, 2), 4, 0.08);
    EXPECT_NEAR(central_moment(values, 3), 0, 0.3);
    EXPECT_NEAR(central_moment(values, 4) / 16, 3, 0.1);
    const bool fine = dtype != kBFloat16;  // rounding makes steps
    EXPECT_LT(fine ? kolmogorov(values, [](double x) { return normal_cdf((x - 1) / 2); }) : 0, 1.95);
  }
}

TEST(Normal, ComplexPartsShareTheVariance) {
  manual_seed(4);
  Tensor z = randn({50000}, kComplexDouble);
  const auto* p = z.data_ptr<std::complex<double>>();
  double power = 0, product = 0;
  for (int64_t i = 0; i < z.numel(); i++) {
    power += std::norm(p[i]);
    product += p[i].real() * p[i].imag();
  }
  EXPECT_NEAR(power / 50000, 1, 0.03);
  EXPECT_NEAR(product / 50000, 0, 0.02);
}

TEST(Random, IntegersAreEvenAndStayInRange) {
  manual_seed(5);
  std::vector<int> counts(7);
  for (double v : values_of(empty({70000}, kLong).random_(-3, 4))) {
    ASSERT_TRUE(v >= -3 && v < 4);
    counts[static_cast<size_t>(v + 3)]++;
  }
  double chi2 = 0;
  for (int count : counts) chi2 += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi2, 22.5);  // 6 degrees of freedom: passed once in 1,000
}

TEST(Random, WithoutBoundsGoesUpToWhatTheDtypeHolds) {
  manual_seed(6);
  Doubles bytes = values_of(empty({5000}, kByte).random_()), bools = values_of(empty({1000}, kBool).random_());
  EXPECT_EQ(*std::max_element(bytes.begin(), bytes.end()), 255);
  EXPECT_NEAR(mean_of(bools), 0.5, 0.06);
  Doubles longs = values_of(empty({1000}, kLong).random_());
  EXPECT_GE(*std::min_element(longs.begin(), longs.end()), 0);
  EXPECT_GT(*std::max_element(longs.begin(), longs.end()), 0x1p62);
  Doubles floats = values_of(empty({1000}).random_());
  EXPECT_LE(*std::max_element(floats.begin(), floats.end()), 0x1p24);
  Doubles all = values_of(empty({1000}, kLong).random_(INT64_MIN, std::optional<int64_t>()));
  EXPECT_LT(*std::min_element(all.begin(), all.end()), -0x1p62);
  EXPECT_GT(*std::max_element(all.begin(), all.end()), 0x1p62);
}

TEST(Bernoulli, HappensAsOftenAsPSays) {
  manual_seed(7);
  EXPECT_NEAR(mean_of(values_of(empty({50000}, kBool).bernoulli_(0.2))), 0.2, 0.01);
  EXPECT_EQ(mean_of(values_of(empty({1000}).bernoulli_(1.0))), 1);
  EXPECT_EQ(mean_of(values_of(empty({1000}).bernoulli_(0.0))), 0);
  Tensor p = full({2, 20000}, 0.1);
  p[1].fill_(0.7);
  Tensor drawn = bernoulli(p);
  EXPECT_NEAR(mean_of(values_of(drawn[0])), 0.1, 0.01);
  EXPECT_NEAR(mean_of(values_of(drawn[1])), 0.7, 0.015);
  Tensor rows = empty({2, 20000}, kInt).bernoulli_(p.index({indexing::Slice(), indexing::Slice(0, 1)}));
  EXPECT_NEAR(mean_of(values_of(rows[1])), 0.7, 0.015);
}

TEST(Bernoulli, ChecksProbabilitiesBeforeItWrites) {
  Tensor p = full({3}, 0.5), y = full({3}, 7.0);
  p[2].fill_(1.5);
  expect_contains(message_when([&] { bernoulli(p); }), "[0, 1]");
  EXPECT_THROW(y.bernoulli_(p), ValueError);
  EXPECT_EQ(values_of(y), (Doubles{7, 7, 7}));
  expect_contains(message_when([&] { y.bernoulli_(2.0); }), "expects p to be in [0, 1], but got p=2");
}

TEST(Randperm, IsAPermutationAndEveryPlaceIsReachable) {
  manual_seed(8);
  Doubles values = values_of(randperm(1000));
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), 1000u);
  std::set<Doubles> seen;
  for (int i = 0; i < 200; i++) seen.insert(values_of(randperm(3)));
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(randperm(0).numel(), 0);
  EXPECT_EQ(values_of(randperm(1)), (Doubles{0}));
  EXPECT_EQ(randperm(5).dtype(), kLong);
  EXPECT_EQ(randperm(5, kFloat).dtype(), kFloat);
}

TEST(Randomness, DependsOnSeedAndElementOnly) {
  const int before = get_num_threads();
  auto draw = [](auto fill, const Tensor& into) {
    manual_seed(9);
    return values_of(fill(into));
  };
  auto check = [&](const char* name, auto fill) {
    set_num_threads(1);
    Doubles serial = draw(fill, zeros({100, 333}));
    set_num_threads(4);
    EXPECT_EQ(draw(fill, zeros({100, 333})), serial) << name;
    EXPECT_EQ(draw(fill, zeros({333, 100}).t()), serial) << name << " strided";
  };
  check("uniform_", [](const Tensor& x) { return x.uniform_(); });
  check("normal_", [](const Tensor& x) { return x.normal_(); });
  check("random_", [](const Tensor& x) { return x.random_(0, 1000); });
  check("bernoulli_", [](const Tensor& x) { return x.bernoulli_(0.3); });
  check("bernoulli", [](const Tensor& x) { return bernoulli(x.fill_(0.3)); });
  check("dropout", [](const Tensor& x) { return dropout(x.fill_(1), 0.3, true); });
  set_num_threads(before);
}

TEST(Randomness, EveryCallTakesFreshNumbersAndASeedBringsThemBack) {
  manual_seed(10);
  Doubles first = values_of(rand({5})), second = values_of(rand({5}));
  EXPECT_NE(first, second);
  manual_seed(10);
  EXPECT_EQ(values_of(rand({5})), first);
  EXPECT_EQ(values_of(rand({5})), second);
}

TEST(Randomness, AGivenGeneratorLeavesTheDefaultOneAlone) {
  manual_seed(11);
  const uint64_t offset = default_generator().get_offset();
  Generator a(42), b(42);
  EXPECT_EQ(values_of(rand({5}, a)), values_of(rand({5}, b)));
  EXPECT_EQ(values_of(randn({5}, a)), values_of(empty({5}).normal_(0, 1, b)));
  EXPECT_EQ(values_of(randint(9, {5}, a)), values_of(randint(0, 9, {5}, b)));
  EXPECT_EQ(values_of(randperm(5, a)), values_of(randperm(5, b)));
  EXPECT_EQ(default_generator().get_offset(), offset);
}

TEST(RandomFactories, FollowOptionsAndTheLikeForms) {
  EXPECT_EQ(randint(5, {2}).dtype(), kLong);
  EXPECT_EQ(randint(2, 5, {2}, kFloat).dtype(), kFloat);
  EXPECT_TRUE(rand({2}, requires_grad()).requires_grad());
  Tensor x = empty({2, 3, 4, 5}, TensorOptions(kDouble).memory_format(MemoryFormat::ChannelsLast));
  EXPECT_EQ(rand_like(x).strides(), x.strides());
  EXPECT_EQ(randn_like(x, kFloat).dtype(), kFloat);
  EXPECT_EQ(randint_like(x, 3).dtype(), kDouble);
  EXPECT_EQ(rand({3}, kMeta).sizes(), IntArrayRef({3}));
}

TEST(RandomErrors, NameWhatWasFound) {
  expect_contains(message_when([] { empty({2}).uniform_(2, 1); }), "found from=2 > to=1");
  expect_contains(message_when([] { empty({2}, kLong).uniform_(); }), "not implemented for 'Long'");
  expect_contains(message_when([] { empty({2}).normal_(0, -1); }), "normal expects std >= 0.0, but found std -1");
  expect_contains(message_when([] { empty({2}).random_(5, 5); }), "from=5 >= to=5");
  expect_contains(message_when([] { empty({2}, kByte).random_(0, 300); }), "to - 1 is out of bounds for uint8");
  expect_contains(message_when([] { empty({2}, kHalf).random_(0, 100000); }), "out of bounds");
  expect_contains(message_when([] { randperm(-1); }), "non-negative");
  expect_contains(message_when([] { randperm(300, kByte); }), "n is too large for result tensor type");
  expect_contains(message_when([] { dropout(ones({2}), 1.5, true); }),
                  "dropout probability has to be between 0 and 1, but got 1.5");
  EXPECT_THROW(dropout(ones({2}), std::nan(""), false), ValueError);
  EXPECT_THROW(dropout(ones({2}, kLong), 0.5, true), TypeError);
}

TEST(RandomGradient, OfOverwritingIsZero) {
  Tensor x = ones({3}).requires_grad_();
  Tensor y = x.mul(2);
  y.uniform_();
  y.backward(ones({3}));
  EXPECT_EQ(values_of(x.grad()), (Doubles{0, 0, 0}));
  EXPECT_THROW(x.normal_(), AutogradError);
}

TEST(Dropout, KeepsTheMeanAndZeroesTheShareP) {
  manual_seed(12);
  Doubles values = values_of(dropout(ones({100000}), 0.25, true));
  const double dropped = static_cast<double>(std::count(values.begin(), values.end(), 0.0)) / 100000;
  EXPECT_NEAR(dropped, 0.25, 0.01);
  EXPECT_NEAR(mean_of(values), 1, 0.01);
  for (double v : values) ASSERT_TRUE(v == 0 || std::abs(v - 4.0 / 3) < 1e-6);
}

TEST(Dropout, DoesNothingOutsideTrainingOrWithoutP) {
  Tensor x = rand({5});
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, true).is_same(x));
  EXPECT_EQ(values_of(dropout(x, 1, true)), Doubles(5, 0.0));
}

TEST(Dropout, BackwardDrawsTheSameMaskWithoutKeepingIt) {
  Tensor x = ones({1000}).requires_grad_();
  Tensor y = dropout(x, 0.4, true);
  rand({100});  // others draw meanwhile
  y.backward(ones({1000}));
  EXPECT_EQ(values_of(x.grad()), values_of(y));
}

TEST(Dropout, BackwardOfATransposedInputMatchesElementsByPlace) {
  Tensor x = ones({30, 40}).requires_grad_();
  Tensor y = dropout(x.t(), 0.5, true);
  y.backward(ones({40, 30}));
  EXPECT_EQ(values_of(x.grad()), values_of(y.t()));
}

TEST(Dropout, SecondDerivativeIsTheMaskAgain) {
  Tensor x = ones({100}).requires_grad_(), g = ones({100}).requires_grad_();
  Tensor y = dropout(x, 0.5, true);
  Tensor dx = autograd::grad({y}, {x}, {g}, true, true)[0];
  EXPECT_EQ(values_of(autograd::grad({dx}, {g}, {ones({100})})[0]), values_of(y));
}

TEST(Dropout, InPlaceGivesWhatTheFunctionGives) {
  for (DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kComplexFloat, kComplexDouble}) {
    Tensor x = ones({50}, dtype);
    manual_seed(13);
    Tensor y = dropout(x, 0.5, true);
    manual_seed(13);
    dropout_(x, 0.5, true);
    EXPECT_EQ(values_of(x), values_of(y)) << name_of(dtype);
  }
}

}  // namespace
}  // namespace cresset
