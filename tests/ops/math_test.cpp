// The vector functions over the whole range of float32, and what samples cannot say: signs of zero, results beyond the
// cache, gradients of functions that have kernels for them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "cresset/autograd/autograd.h"
#include "cresset/ops/all.h"
#include "tests/support/array.h"

namespace cresset::test {
namespace {

double exact_sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

struct Range {
  const char* name;
  Tensor (*function)(const Tensor&);
  double (*exact)(double);
  double ulps;          // the largest error allowed
  double absolute = 0;  // besides: what products lose where one factor is denormal
};
const Range ranges[] = {
    {"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }, 1.1},
    {"exp2", [](const Tensor& x) { return exp2(x); }, [](double x) { return std::exp2(x); }, 1},
    {"expm1", [](const Tensor& x) { return expm1(x); }, [](double x) { return std::expm1(x); }, 1.4},
    {"log", [](const Tensor& x) { return log(x); }, [](double x) { return std::log(x); }, 1},
    {"log2", [](const Tensor& x) { return log2(x); }, [](double x) { return std::log2(x); }, 1.6},
    {"log10", [](const Tensor& x) { return log10(x); }, [](double x) { return std::log10(x); }, 1.6},
    {"log1p", [](const Tensor& x) { return log1p(x); }, [](double x) { return std::log1p(x); }, 1.5},
    {"sin", [](const Tensor& x) { return sin(x); }, [](double x) { return std::sin(x); }, 1.5},
    {"cos", [](const Tensor& x) { return cos(x); }, [](double x) { return std::cos(x); }, 1.5},
    {"tan", [](const Tensor& x) { return tan(x); }, [](double x) { return std::tan(x); }, 1.8},
    {"asin", [](const Tensor& x) { return asin(x); }, [](double x) { return std::asin(x); }, 2},
    {"acos", [](const Tensor& x) { return acos(x); }, [](double x) { return std::acos(x); }, 1.8},
    {"atan", [](const Tensor& x) { return atan(x); }, [](double x) { return std::atan(x); }, 1.8},
    {"sinh", [](const Tensor& x) { return sinh(x); }, [](double x) { return std::sinh(x); }, 1.8},
    {"cosh", [](const Tensor& x) { return cosh(x); }, [](double x) { return std::cosh(x); }, 1.8},
    {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, 1.5},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, exact_sigmoid, 2},
    {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x * exact_sigmoid(x); }, 2, 2e-43},
    {"erf", [](const Tensor& x) { return erf(x); }, [](double x) { return std::erf(x); }, 1.3},
    {"erfc", [](const Tensor& x) { return erfc(x); }, [](double x) { return std::erfc(x); }, 1.3},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); }, 1.5},
    // PyTorch's own error is larger where x < -0.7, since its 1 + erf cancels; tests/parity/math_range_test.cpp
    // compares.
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }, 5.5, 2e-43},
};

// The distance between neighbouring floats at x.
double ulp_of(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::ldexp(1., std::max(exponent, -125) - 24);
}

struct Worst {
  double ulps = 0;
  float at = 0, found = 0;
};

// Every step-th float, among them denormals, infinities and nans.
Worst walk(const Range& range, uint64_t step) {
  constexpr int64_t kBlock = 1 << 18;
  Worst worst;
  Tensor x = empty({kBlock}, kFloat);
  float* in = x.data_ptr<float>();
  for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
    for (int64_t i = 0; i < kBlock; i++, bits += step) in[i] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    Tensor y = range.function(x);
    const float* out = y.data_ptr<float>();
    for (int64_t i = 0; i < kBlock; i++) {
      double exact = range.exact(in[i]);
      float rounded = static_cast<float>(exact);
      bool wrong = std::isnan(out[i]) != std::isnan(rounded) || std::isinf(out[i]) != std::isinf(rounded) ||
                   (rounded == 0 && out[i] == 0 && std::signbit(out[i]) != std::signbit(rounded));
      double error = wrong ? INFINITY
                     : !std::isfinite(rounded)
                         ? (std::isnan(rounded) || out[i] == rounded ? 0 : INFINITY)
                         : std::max(0., std::abs(out[i] - exact) - range.absolute) / ulp_of(exact);
      if (error > worst.ulps) worst = {error, in[i], out[i]};
    }
  }
  return worst;
}

}  // namespace

TEST(PointwiseMathRange, errors_stay_small_over_all_floats) {
  for (const Range& range : ranges) {
    Worst worst = walk(range, 4099);
    EXPECT_LE(worst.ulps, range.ulps) << range.name << "(" << worst.at << ") = " << worst.found;
  }
}

TEST(PointwiseMathRange, dense_around_the_ends_of_exp) {
  for (float from : {87.3f, 88.7f, -87.4f, -103.9f}) {
    Tensor x = empty({1 << 14}, kFloat);
    float at = from;
    for (int64_t i = 0; i < x.numel(); i++, at = std::nextafter(at, 1000 * from)) x.data_ptr<float>()[i] = at;
    Tensor y = exp(x);
    for (int64_t i = 0; i < x.numel(); i++) {
      double exact = std::exp(static_cast<double>(x.data_ptr<float>()[i]));
      float found = y.data_ptr<float>()[i];
      ASSERT_TRUE(found == static_cast<float>(exact) || std::abs(found - exact) <= ulp_of(exact))
          << x.data_ptr<float>()[i];
    }
  }
}

TEST(PointwiseMath, results_beyond_the_cache_are_the_same) {
  Tensor small = empty({1000}, kFloat), large = empty({(8 << 20) / 4 + 1000}, kFloat);
  for (int64_t i = 0; i < large.numel(); i++) large.data_ptr<float>()[i] = static_cast<float>(i % 1000) / 100 - 5;
  for (int64_t i = 0; i < 1000; i++) small.data_ptr<float>()[i] = large.data_ptr<float>()[i];
  for (const Range& range : ranges) {
    Tensor wanted = range.function(small), found = range.function(large);
    int64_t different = 0;
    for (int64_t i = 0; i < large.numel(); i++)
      different += std::bit_cast<uint32_t>(found.data_ptr<float>()[i]) !=
                   std::bit_cast<uint32_t>(wanted.data_ptr<float>()[i % 1000]);
    EXPECT_EQ(different, 0) << range.name;
  }
}

TEST(PointwiseMath, doubles_of_the_exponentials_family_are_exact_to_two_ulps) {
  struct Wide {
    const char* name;
    Tensor (*function)(const Tensor&);
    double (*exact)(double);
  };
  const Wide wides[] = {
      {"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }},
      {"expm1", [](const Tensor& x) { return expm1(x); }, [](double x) { return std::expm1(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, exact_sigmoid},
  };
  Tensor x = empty({60000}, kDouble);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<double>()[i] = (static_cast<double>(i) - 30000) / 38.7;
  for (const Wide& wide : wides) {
    Tensor y = wide.function(x);
    for (int64_t i = 0; i < x.numel(); i++) {
      double exact = wide.exact(x.data_ptr<double>()[i]), found = y.data_ptr<double>()[i];
      if (found == exact) continue;
      ASSERT_LE(std::abs(found - exact), std::max(std::abs(exact) * 5e-16, 1e-323))
          << wide.name << " at " << x.data_ptr<double>()[i];
    }
  }
}

TEST(PointwiseMath, gradients_by_kernel_equal_the_formulas) {
  Tensor x = empty({4000}, kFloat);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = static_cast<float>(i) / 400 - 5;
  auto slope = [&](Tensor (*f)(const Tensor&)) {
    Tensor leaf = x.clone().requires_grad_();
    f(leaf).backward(ones_like(leaf));
    return leaf.grad();
  };
  struct Pair {
    const char* name;
    Tensor (*function)(const Tensor&);
    double (*exact)(double);
  };
  const Pair pairs[] = {
      {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); },
       [](double x) { return exact_sigmoid(x) * exact_sigmoid(-x); }},
      {"silu", [](const Tensor& x) { return silu(x); },
       [](double x) { return exact_sigmoid(x) * (1 + x * exact_sigmoid(-x)); }},
      {"gelu", [](const Tensor& x) { return gelu(x); },
       [](double x) {
         return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
       }},
      {"gelu by tanh", [](const Tensor& x) { return gelu(x, "tanh"); },
       [](double x) {
         const double c = std::sqrt(8 / std::numbers::pi), s = exact_sigmoid(c * (x + 0.044715 * x * x * x));
         return s * (1 + x * (1 - s) * c * (1 + 3 * 0.044715 * x * x));
       }},
  };
  for (const Pair& pair : pairs) {
    Tensor found = slope(pair.function);
    for (int64_t i = 0; i < x.numel(); i++)
      ASSERT_NEAR(found.data_ptr<float>()[i], pair.exact(x.data_ptr<float>()[i]), 5e-7)
          << pair.name << " at " << x.data_ptr<float>()[i];
  }
}

TEST(PointwiseSpecial, bessel_functions_have_their_limits_at_infinity) {
  Tensor inf = full({1}, INFINITY, kFloat), minus = neg(inf), large = full({1}, 100., kFloat);
  EXPECT_EQ(i0(inf).item<float>(), INFINITY);
  EXPECT_EQ(i0(minus).item<float>(), INFINITY);
  EXPECT_EQ(i0(large).item<float>(), INFINITY);
  EXPECT_EQ(special_i1(minus).item<float>(), -INFINITY);
  EXPECT_EQ(special_i0e(inf).item<float>(), 0);
  EXPECT_EQ(special_bessel_j0(inf).item<float>(), 0);
  EXPECT_EQ(special_bessel_y1(inf).item<float>(), 0);
}

TEST(PointwiseSpecial, polygamma_far_below_zero_returns) {
  Tensor x = full({3}, -1e6 - 0.5, kDouble);
  Tensor y = polygamma(2, x);  // antisymmetric about half-integers but for what is left of the sum's far end
  EXPECT_LT(std::abs(y[0].item<double>()), 1e-10);
  EXPECT_EQ(polygamma(3, full({1}, -1e30, kDouble)).item<double>(), INFINITY);
}

TEST(PointwiseMath, third_derivatives_exist) {
  Tensor x = full({1}, 0.3, kDouble).requires_grad_();
  Tensor y = gelu(x);
  for (int i = 0; i < 3; i++) y = autograd::grad({y}, {x}, {}, true, true).at(0);
  double phi = std::exp(-0.045) / std::sqrt(2 * std::numbers::pi);  // (phi (2 - x^2))' = phi (x^3 - 4 x)
  EXPECT_NEAR(y.item<double>(), phi * (0.027 - 1.2), 1e-12);
}

}  // namespace cresset::test
