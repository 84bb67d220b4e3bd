// Cases of ops/special_binary. The references are plain sums in long double.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// Positive numbers in the tensors' places.
std::vector<Sample> positive_samples(Make& make, double least) {
  auto positive = [&](const std::vector<int64_t>& sizes) {
    Array values = read(make.tensor(sizes, kDouble));
    for (Complex& x : values.values) x = std::abs(x.real()) + least;
    return tensor_of(values, make.dtype);
  };
  return {{"same shape", {positive({3, 4}), positive({3, 4})}},
          {"0-d", {positive({}), positive({})}},
          {"empty", {positive({0}), positive({1})}},
          {"broadcast", {positive({3, 1}), positive({2, 1, 4})}},
          {"large", {positive({64, 9}), positive({9})}, false}};
}

// x^a e^-x times the sum of x^k / Γ(a + k + 1), which converges everywhere.
Complex lower_gamma(Complex a_, Complex x_) {
  long double a = a_.real(), x = x_.real();
  long double term = std::exp(a * std::log(x) - x - std::lgamma(a + 1)), sum = 0;
  for (int k = 1; k < 400; k++) {
    sum += term;
    term *= x / (a + k);
  }
  return static_cast<double>(sum);
}
Complex upper_gamma(Complex a, Complex x) { return 1.0 - lower_gamma(a, x); }

Complex zeta(Complex x_, Complex q_) {
  constexpr int kTerms = 300;
  long double x = x_.real(), q = q_.real(), sum = 0, end = q + kTerms;
  for (int k = 0; k < kTerms; k++) sum += std::pow(q + k, -x);
  return static_cast<double>(sum + std::pow(end, 1 - x) / (x - 1) + std::pow(end, -x) / 2 +
                             x * std::pow(end, -x - 1) / 12 - x * (x + 1) * (x + 2) * std::pow(end, -x - 3) / 720);
}

}  // namespace

std::vector<OpCase> special_binary_cases() {
  const std::vector<DType> others = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
  auto gamma_samples = [](Make& make) { return positive_samples(make, 0.25); };
  auto zeta_samples = [](Make& make) { return positive_samples(make, is_floating_point(make.dtype) ? 1.5 : 2.0); };
  return {{.name = "igamma",
           .torch = "igamma",
           .samples = gamma_samples,
           .reference = elementwise(lower_gamma),
           .dtypes = real_floats,
           .refused = others,
           .tolerance = 4,
           .constants = {0}},
          {.name = "igammac",
           .torch = "igammac",
           .samples = gamma_samples,
           .reference = elementwise(upper_gamma),
           .dtypes = real_floats,
           .refused = others,
           .tolerance = 4,
           .constants = {0}},
          {.name = "special_zeta",
           .torch = "special_zeta",
           .samples = zeta_samples,
           .reference = elementwise(zeta),
           .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
           .refused = {kComplex64, kComplex128},
           .result_dtype = floating,
           .tolerance = 16,
           .constants = {0},
           .untested = {{kBool, "the sum of ones over all k is infinite"}}}};
}

}  // namespace cresset::test
