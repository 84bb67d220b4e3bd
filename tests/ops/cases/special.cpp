// Cases of ops/special. Where the C++ library lacks the function, the reference goes another way than the kernel.
#include <numbers>

#include "tests/ops/cases/unary.h"

namespace cresset::test {
namespace {

using std::numbers::pi;
using std::numbers::sqrt2;

double normal_below(double x) { return 0.5 * std::erfc(-x / sqrt2); }

// The x at which an increasing f has the value y.
template <class F>
double inverse(F f, double y, double low, double high) {
  for (int i = 0; i < 70; i++) {
    double middle = (low + high) / 2;
    (f(middle) < y ? low : high) = middle;
  }
  return (low + high) / 2;
}
double inverse_erf(double x) {
  if (!(std::abs(x) <= 1)) return NAN;
  if (std::abs(x) == 1) return x * INFINITY;
  return std::copysign(inverse([](double y) { return std::erf(y); }, std::abs(x), 0, 10), x);
}
double inverse_normal(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  return inverse(normal_below, p, -40, 40);
}

// The sum of 1 / (x + k)^s over k, the far terms as an integral.
double sum_of_powers(int s, double x) {
  double sum = 0, last = x + 40;
  for (int k = 0; k < 40; k++) sum += std::pow(x + k, -s);
  return sum + std::pow(last, 1 - s) / (s - 1) + 0.5 * std::pow(last, -s) + s / 12. * std::pow(last, -s - 1) -
         s * (s + 1) * (s + 2) / 720. * std::pow(last, -s - 3);
}
double digamma_of(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (x < 0 && x == std::floor(x)) return NAN;
  if (std::isinf(x)) return x > 0 ? x : NAN;
  double sum = 0;
  for (; x < 30; x++) sum -= 1 / x;
  double z = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - z / 12 + z * z / 120 - z * z * z / 252;
}

// exp(-|x|) I_n(x), by the integral of exp(x cos t - |x|) cos(n t) over half a turn.
double bessel_i(int n, double x, bool scaled) {
  if (std::isinf(x) || std::abs(x) > 1e3) return scaled ? std::copysign(0., x) : n ? x * INFINITY : INFINITY;
  const int steps = 40;
  double sum = 0;
  for (int k = 0; k < steps; k++) {
    double t = (k + 0.5) * pi / steps;
    sum += std::exp(x * std::cos(t) - (scaled ? std::abs(x) : 0)) * std::cos(n * t);
  }
  return sum / steps;
}
double without_nan(double x, double (*f)(double)) { return std::isnan(x) ? x : f(x); }

// PyTorch gives nan at infinity, where there is a limit.
OpCase finite_case(OpCase c) {
  c.samples = [samples = c.samples](Make& make) {
    std::vector<Sample> finite = samples(make);
    std::erase_if(finite, [](const Sample& sample) { return sample.label == "inf and nan"; });
    return finite;
  };
  return c;
}
OpCase special_case(const char* name, Reference reference, double low = -2.5, double high = 2.5) {
  return real_case(name, std::move(reference), low, high);
}

std::vector<Sample> whole_number_samples(Make& make, int64_t low, int64_t high, bool number_first) {
  std::vector<Sample> samples;
  for (int64_t n = low; n <= high; n++)
    for (const Sample& sample : samples_between(2.2, 5)(make)) {
      if (sample.label == "inf and nan" || (sample.label == "large" && n != 2)) continue;
      Value x = std::get<Tensor>(sample.arguments[0]);
      if (!is_differentiable(make.dtype)) x = make.integers(std::get<Tensor>(x).sizes().vec(), 2, 7, make.dtype);
      Values values = number_first ? Values{n, x} : Values{x, n};
      samples.push_back({sample.label + ", " + std::to_string(n), values, sample.differentiate});
    }
  return samples;
}
std::vector<Sample> polygamma_samples(Make& make) { return whole_number_samples(make, 0, 3, true); }
std::vector<Sample> mvlgamma_samples(Make& make) { return whole_number_samples(make, 1, 3, false); }

std::vector<Array> polygamma_reference(const Arguments& in) {
  Array y = in.array(1);
  int n = static_cast<int>(in.integer(0));
  for (Complex& value : y.values)
    value =
        n == 0 ? digamma_of(value.real()) : (n % 2 ? 1 : -1) * std::tgamma(n + 1) * sum_of_powers(n + 1, value.real());
  return {y};
}
std::vector<Array> mvlgamma_reference(const Arguments& in) {
  Array y = in.array(0);
  double p = in.number(1).real();
  for (Complex& value : y.values) {
    double sum = p * (p - 1) / 4 * std::log(pi);
    for (int i = 0; i < p; i++) sum += std::lgamma(value.real() - i / 2.);
    value = sum;
  }
  return {y};
}

}  // namespace

std::vector<OpCase> special_cases() {
  using Real = double;
  std::vector<OpCase> cases = {
      special_case("erf", of_one([](std::floating_point auto x) { return std::erf(x); })),
      special_case("erfc", of_one([](std::floating_point auto x) { return std::erfc(x); })),
      special_case("erfinv", of_one([](std::floating_point auto x) { return inverse_erf(x); }), -0.9, 0.9),
      special_case("lgamma", of_one([](std::floating_point auto x) { return std::lgamma(x); }), 0.3, 5),
      special_case("digamma", of_one([](std::floating_point auto x) { return digamma_of(x); }), 0.3, 5),
      special_case("i0", of_one([](std::floating_point auto x) {
                     return without_nan(x, [](Real v) { return bessel_i(0, v, false); });
                   })),
      special_case("special_i0e", of_one([](std::floating_point auto x) {
                     return without_nan(x, [](Real v) { return bessel_i(0, v, true); });
                   })),
      special_case("special_i1", of_one([](std::floating_point auto x) {
                     return without_nan(x, [](Real v) { return bessel_i(1, v, false); });
                   })),
      special_case("special_i1e", of_one([](std::floating_point auto x) {
                     return without_nan(x, [](Real v) { return bessel_i(1, v, true); });
                   })),
      special_case("special_entr", of_one([](std::floating_point auto x) {
                     return std::isnan(x) ? x : x < 0 ? -INFINITY : x == 0 ? 0 : -x * std::log(x);
                   }),
                   0.1, 2),
      special_case("special_erfcx", of_one([](std::floating_point auto x) {
                     return x > 1e3 ? 1 / (x * std::sqrt(pi)) : std::exp(x * x) * std::erfc(x);
                   })),
      special_case("special_ndtr", of_one([](std::floating_point auto x) { return normal_below(x); })),
      special_case("special_ndtri", of_one([](std::floating_point auto x) { return inverse_normal(x); }), 0.05, 0.95),
      special_case("special_log_ndtr", of_one([](std::floating_point auto x) {
                     return x < -1e3 ? -x * x / 2 : std::log(normal_below(x));
                   })),
      special_case("special_bessel_j0", of_one([](std::floating_point auto x) { return ::j0(x); })),
      special_case("special_bessel_j1", of_one([](std::floating_point auto x) { return ::j1(x); })),
      special_case("special_bessel_y0", of_one([](std::floating_point auto x) { return x < 0 ? NAN : ::y0(x); }), 0.5,
                   5),
      special_case("special_bessel_y1", of_one([](std::floating_point auto x) { return x < 0 ? NAN : ::y1(x); }), 0.5,
                   5),
      {.name = "polygamma",
       .torch = "polygamma",
       .samples = polygamma_samples,
       .reference = polygamma_reference,
       .dtypes = without(all_dtypes, {kComplex64, kComplex128}),
       .refused = {kComplex64, kComplex128},
       .result_dtype = floating,
       .tolerance = 4,
       .errors = {{"negative", [](Make& make) -> Values { return {int64_t{-1}, make.tensor({2})}; },
                   "polygamma: polygamma(n, x) does not support negative n, found -1"}}},
      {.name = "polygamma_",
       .torch = "polygamma_",
       .samples = [](Make& make) { return whole_number_samples(make, 0, 3, false); },
       .reference =
           [](const Arguments& in) {
             Values turned = {in[1], in[0]};
             return polygamma_reference(Arguments(turned, in.dtype));
           },
       .dtypes = real_floats,
       .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
       .tolerance = 4,
       .writes_self = true},
      {.name = "mvlgamma",
       .torch = "mvlgamma",
       .samples = mvlgamma_samples,
       .reference = mvlgamma_reference,
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .result_dtype = floating,
       .errors = {{"p", [](Make& make) -> Values { return {make.tensor({2}), int64_t{0}}; },
                   "mvlgamma: p has to be greater than or equal to 1, found 0"}}},
  };
  for (OpCase& c : cases)
    if (c.name == "i0" || c.name == "special_i1" || c.name.find("bessel") != std::string::npos) c = finite_case(c);
  return cases;
}

}  // namespace cresset::test
