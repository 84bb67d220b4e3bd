// operator<< writes what libtorch's writes, to the character.
#include "cresset/core/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <limits>
#include <random>
#include <sstream>

#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::all_dtypes;
using parity::torch_twin;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::string text_of(const T& tensor, const std::function<void(std::ostream&)>& prepare = {}) {
  const PrintStyle before = set_print_style(PrintStyle::libtorch);
  std::ostringstream out;
  if (prepare) prepare(out);
  out << tensor << "|" << 0.1234567 << "|" << 42;  // what follows shows whether the stream was left as it was
  set_print_style(before);
  return out.str();
}

void expect_same_text(const Tensor& x, const std::function<void(std::ostream&)>& prepare = {}) {
  EXPECT_EQ(text_of(x, prepare), text_of(torch_twin(x), prepare));
}

TEST(PrintParity, VectorsOfEveryMagnitude) {
  for (double scale : {1e-320, 1e-200, 1e-20, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1,  1.0,   10.0,  100.0,
                       1e3,    1e4,    1e5,   1e6,  1e7,  1e9,  1e10, 1e20, 1e99, 1e100, 1e200, 1e307}) {
    expect_same_text(tensor({1.5 * scale, -2.25 * scale, 9.99999 * scale}, kDouble));
    expect_same_text(tensor({scale, -3 * scale, 0.0}, kDouble));
    expect_same_text(tensor({scale, 7.7}, kDouble));
    expect_same_text(tensor({-scale, 0.1}, kDouble));
  }
}

TEST(PrintParity, WholeNumbersUpToTheEdgeOfScientificNotation) {
  for (double x : {0., 1., 9., 10., 999., 99999., 100000., 999999., 1234567., 99999999., 999999999., 1e9, 1e10, 1e15}) {
    expect_same_text(tensor({x, 1.0}, kDouble));
    expect_same_text(tensor({-x, 1.0}, kDouble));
    expect_same_text(tensor({{x, 1.0}, {2.0, -x}}, kDouble));
  }
}

TEST(PrintParity, NanAndInfinities) {
  for (const Tensor& x : {tensor({nan, inf, -inf}, kDouble), tensor({nan, 1.0, 2.0}, kDouble),
                          tensor({inf, 0.001, -5.5}, kDouble), tensor({{1., nan}, {-inf, 4e9}}, kDouble),
                          tensor({-nan, 0.5}, kDouble), tensor(nan, kDouble), tensor(-inf, kDouble)})
    expect_same_text(x);
}

TEST(PrintParity, ZeroDimensional) {
  for (double x : {0.0, -0.0, 1.0, 3.14159265, 1e-10, 1234567.0, 1e30, 123.456})
    for (DType dtype : {kDouble, kFloat}) expect_same_text(tensor(x, dtype));
  expect_same_text(tensor(true));
  expect_same_text(tensor(7));
}

TEST(PrintParity, EmptyTensorsOfEveryRank) {
  for (std::vector<int64_t> sizes : std::vector<std::vector<int64_t>>{{0}, {0, 3}, {3, 0}, {2, 0, 3}, {0, 0, 0, 0}})
    expect_same_text(cresset::empty(sizes));
}

TEST(PrintParity, EveryDtype) {
  for (DType dtype : all_dtypes())
    for (std::vector<int64_t> sizes : std::vector<std::vector<int64_t>>{{}, {3}, {2, 3}, {2, 1, 2}}) {
      if (is_complex(dtype)) continue;  // libtorch prints the real parts only
      Tensor x = ones(sizes, dtype);
      if (!x.sizes().empty() && dtype != kBool) x.select(0, 0).mul_(Scalar(3));
      expect_same_text(x);
    }
  expect_same_text(tensor({1.5, -2.5}, kHalf));
  expect_same_text(tensor({1.5, -2.5}, kBFloat16));
  expect_same_text(tensor({std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}));
}

TEST(PrintParity, WideMatricesAreCutIntoColumns) {
  for (int64_t columns : {5, 9, 10, 11, 12, 13, 26, 27, 39, 40, 41, 100})
    for (double scale : {1.0, 0.37, 0.001, 123456.7}) {
      expect_same_text(arange(3 * columns, kDouble).mul(scale).view({3, columns}));
      expect_same_text(arange(4 * columns, kDouble).mul(scale).view({2, 2, columns}));
    }
}

TEST(PrintParity, ManyDimensionsAreAListOfMatrices) {
  expect_same_text(arange(24, kFloat).view({2, 3, 4}));
  expect_same_text(arange(24, kFloat).mul(0.001).view({2, 3, 2, 2}));
  expect_same_text(arange(48, kInt).view({2, 1, 3, 2, 4}));
}

TEST(PrintParity, StridedTensors) {
  expect_same_text(arange(12, kFloat).view({3, 4}).t());
  expect_same_text(arange(24, kFloat).view({2, 3, 4}).permute({2, 0, 1}));
  expect_same_text(arange(3, kFloat).view({3, 1}).expand({3, 4}));
  expect_same_text(arange(20, kFloat).slice(0, 3, 17, 4));
}

TEST(PrintParity, TheStreamsOwnFormatShowsWhereLibtorchLetsIt) {
  for (const Tensor& x :
       {tensor({1., 2.}), tensor({1.25, -2.}), tensor({{1234567., 2.}, {3., 4.}}), tensor(1.23456789)}) {
    expect_same_text(x, [](std::ostream& out) { out << std::setprecision(3); });
    expect_same_text(x, [](std::ostream& out) { out << std::showpos << std::hex; });
    expect_same_text(x, [](std::ostream& out) { out << std::fixed << std::setfill('*') << std::left; });
  }
}

TEST(PrintParity, UndefinedTensor) { EXPECT_EQ(text_of(Tensor()), text_of(at::Tensor())); }

TEST(PrintParity, RandomShapesAndMagnitudes) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int round = 0; round < 600; round++) {
    std::vector<int64_t> sizes;
    for (int rank = pick(0, 4); rank > 0; rank--) sizes.push_back(pick(0, 20) == 0 ? 0 : pick(1, rank > 1 ? 14 : 3));
    Tensor x = zeros(sizes, pick(0, 1) ? kDouble : kFloat);
    Tensor flat = x.view({-1});
    const int from = pick(-12, 10), to = from + pick(0, 6), whole = pick(0, 2), special = pick(0, 5);
    for (int64_t i = 0; i < x.numel(); i++) {
      double value = std::normal_distribution<double>()(random) * std::pow(10.0, pick(from, to));
      if (whole == 0) value = std::round(value);
      if (special == 0 && pick(0, 4) == 0) value = pick(0, 1) ? inf : nan;
      flat.select(0, i).fill_(value);
    }
    expect_same_text(x);
  }
}

}  // namespace
}  // namespace cresset
