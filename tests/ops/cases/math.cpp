// Cases of ops/math. References are the C++ library's functions in double, of real or of complex numbers.
#include <numbers>

#include "tests/ops/cases/unary.h"

namespace cresset::test {
namespace {

OpCase with(OpCase c, const std::function<void(OpCase&)>& change) {
  change(c);
  return c;
}

// Steps have slope 0, which leaves nothing to compare in a second derivative.
OpCase step(const char* name, Reference reference) {
  OpCase c = real_case(name, std::move(reference));
  c.dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128});
  c.refused = {kBool, kComplex64, kComplex128};
  c.result_dtype = nullptr;
  c.errors = {{"complex", [](Make& make) -> Values { return {make.tensor({2}, kComplex64)}; },
               std::string(name) + ": not implemented for 'ComplexFloat' (expected a real type other than bool)"}};
  return c;
}

std::vector<Sample> decimals_samples(Make& make) {
  return {{"two", {make.tensor({3, 4}), int64_t{2}}},
          {"none", {make.tensor({7}), int64_t{0}}},
          {"before the point", {make.tensor({5}), int64_t{-1}}},
          {"0-d", {make.tensor({}), int64_t{2}}},
          {"empty", {make.tensor({0}), int64_t{1}}},
          {"inf and nan", {make.special(), int64_t{1}}, false},
          {"large", {make.tensor({201, 333}), int64_t{1}}, false}};
}

std::vector<Sample> clamped_samples(Make& make) {
  Make other(make.dtype, 2);
  std::vector<Sample> samples = samples_between(0.05, 0.95)(make);
  for (Sample& sample : samples_between(-0.31, 1.27)(other)) {
    sample.label += ", eps";
    sample.arguments.push_back(0.1);
    samples.push_back(sample);
  }
  return samples;
}

std::vector<Sample> gelu_samples(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  for (const Sample& sample : unary_samples(make)) {
    samples.push_back(sample);
    samples.back().label += ", tanh";
    samples.back().arguments.push_back(std::string("tanh"));
  }
  return samples;
}

std::vector<Array> gelu_reference(const Arguments& in) {
  Array y = in.array(0);
  bool by_tanh = std::get<std::string>(in[1]) == "tanh";
  for (Complex& value : y.values) {
    double x = value.real(), v = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
    value = by_tanh ? 0.5 * x * (1 + std::tanh(v)) : 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  }
  return {y};
}

template <class T>
T sinc_of(T x) {
  return x == T(0) ? T(1) : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

}  // namespace

std::vector<OpCase> math_cases() {
  constexpr double pi = std::numbers::pi;
  std::vector<OpCase> cases =
      {
          complex_case("reciprocal", of_one([](auto x) { return 1. / x; }), 0.3, 3),
          complex_case("sqrt", of_one([](auto x) { return std::sqrt(x); }), 0.1, 3),
          complex_case("rsqrt", of_one([](auto x) { return 1. / std::sqrt(x); }), 0.1, 3),
          real_case("exp2", of_one([](std::floating_point auto x) { return std::exp2(x); })),
          real_case("expm1", of_one([](std::floating_point auto x) { return std::expm1(x); })),
          complex_case("log", of_one([](auto x) { return std::log(x); }), 0.1, 3),
          complex_case("log2", of_one([](auto x) { return std::log(x) / std::numbers::ln2; }), 0.1, 3),
          complex_case("log10", of_one([](auto x) { return std::log10(x); }), 0.1, 3),
          real_case("log1p", of_one([](std::floating_point auto x) { return std::log1p(x); }), -0.9, 3),
          complex_case("sin", of_one([](auto x) { return std::sin(x); })),
          complex_case("cos", of_one([](auto x) { return std::cos(x); })),
          complex_case("tan", of_one([](auto x) { return std::tan(x); }), -1.3, 1.3),
          complex_case("asin", of_one([](auto x) { return std::asin(x); }), -0.9, 0.9),
          complex_case("acos", of_one([](auto x) { return std::acos(x); }), -0.9, 0.9),
          complex_case("atan", of_one([](auto x) { return std::atan(x); })),
          complex_case("sinh", of_one([](auto x) { return std::sinh(x); })),
          complex_case("cosh", of_one([](auto x) { return std::cosh(x); })),
          complex_case("tanh", of_one([](auto x) { return std::tanh(x); })),
          complex_case("asinh", of_one([](auto x) { return std::asinh(x); })),
          complex_case("acosh", of_one([](auto x) { return std::acosh(x); }), 1.2, 4),
          complex_case("atanh", of_one([](auto x) { return std::atanh(x); }), -0.9, 0.9),
          complex_case("sigmoid", of_one([](auto x) { return 1. / (1. + std::exp(-x)); })),
          complex_case("sinc", of_one([](auto x) { return sinc_of(x); }), 0.4, 2.6),  // PyTorch's slope is poor near 0
          real_case("rad2deg", of_one([pi](std::floating_point auto x) { return x * 180 / pi; })),
          real_case("deg2rad", of_one([pi](std::floating_point auto x) { return x * pi / 180; })),
          step("floor", of_one([](std::floating_point auto x) { return std::floor(x); })),
          step("ceil", of_one([](std::floating_point auto x) { return std::ceil(x); })),
          step("round", of_one([](std::floating_point auto x) { return std::nearbyint(x); })),
          step("trunc", of_one([](std::floating_point auto x) { return std::trunc(x); })),
          with(real_case("frac", of_one([](std::floating_point auto x) { return x - std::trunc(x); })),
               [](OpCase& c) {
                 c.dtypes = real_floats;
                 c.refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble});
               }),
          with(real_case("sign", of_one([](std::floating_point auto x) { return double((0 < x) - (x < 0)); })),
               [](OpCase& c) {
                 c.result_dtype = nullptr;
                 c.errors = {{"complex", [](Make& make) -> Values { return {make.tensor({2}, kComplex64)}; },
                              "sign: not implemented for 'ComplexFloat' (expected a real type)"}};
               }),
          with(complex_case("sgn", of_one([](auto x) -> decltype(x) {
                              if constexpr (std::is_floating_point_v<decltype(x)>)
                                return (0 < x) - (x < 0);
                              else
                                return x == 0. ? 0. : x / std::abs(x);
                            })),
               [](OpCase& c) { c.result_dtype = nullptr; }),
          with(complex_case("square", of_one([](auto x) { return x * x; })),
               [](OpCase& c) { c.result_dtype = [](DType t) { return t == kBool ? kInt64 : t; }; }),
          with(complex_case("abs", of_one([](auto x) { return std::abs(x); })),
               [](OpCase& c) {
                 c.dtypes = without(all_dtypes, {kBool});
                 c.refused = {kBool};
                 c.result_dtype = [](DType t) { return to_real(t); };
               }),
          with(complex_case("angle", of_one([](auto x) { return std::isnan(std::abs(x)) ? NAN : std::arg(x + 0.); })),
               [](OpCase& c) { c.result_dtype = [](DType t) { return to_real(floating(t)); }; }),
          with(complex_case("positive", of_one([](auto x) { return x; })),
               [](OpCase& c) {
                 c.dtypes = without(all_dtypes, {kBool});
                 c.refused = {kBool};
                 c.result_dtype = nullptr;
                 c.errors = {{"bool", [](Make& make) -> Values { return {make.condition({2})}; },
                              "positive: The `+` operator, on a bool tensor is not supported."}};
               }),
          with(complex_case("conj_physical", of_one([](auto x) { return std::conj(x); })),
               [](OpCase& c) { c.result_dtype = nullptr; }),
          with(complex_case("silu", of_one([](auto x) { return x / (1. + std::exp(-x)); })),
               [](OpCase& c) {
                 c.dtypes = floats;
                 c.refused = {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool};
                 c.errors = {{"integers", [](Make& make) -> Values { return {make.tensor({2}, kInt64)}; },
                              "silu: not implemented for 'Long' (expected a floating-point or complex type)"}};
               }),
          {.name = "round",
           .overload = "decimals",
           .torch = "round.decimals",
           .samples = decimals_samples,
           .reference =
               [](const Arguments& in) {
                 Array y = in.array(0);
                 double power = std::pow(10, static_cast<double>(in.integer(1)));
                 for (Complex& value : y.values) value = std::nearbyint(value.real() * power) / power;
                 return std::vector{y};
               },
           .dtypes = real_floats,
           .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble})},
          {.name = "logit",
           .torch = "logit",
           .samples = clamped_samples,
           .reference =
               [](const Arguments& in) {
                 Array y = in.array(0);
                 for (Complex& value : y.values) {
                   double x = value.real();
                   if (in.given(1) && !std::isnan(x)) x = std::clamp(x, in.number(1).real(), 1 - in.number(1).real());
                   value = std::log(x / (1 - x));
                 }
                 return std::vector{y};
               },
           .dtypes = without(all_dtypes, {kComplex64, kComplex128}),
           .refused = {kComplex64, kComplex128},
           .result_dtype = floating,
           .tolerance = 2},
          {.name = "gelu",
           .torch = "gelu",
           .samples = gelu_samples,
           .reference = gelu_reference,
           .dtypes = real_floats,
           .refused = without(all_dtypes, {kFloat16, kBFloat16, kFloat, kDouble}),
           .errors = {{"approximate", [](Make& make) -> Values { return {make.tensor({2}), std::string("erf")}; },
                       "gelu: approximate argument must be either none or tanh, found \"erf\""}}},
      };
  return cases;
}

}  // namespace cresset::test
