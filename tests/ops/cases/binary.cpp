// Cases of ops/division, ops/extrema, ops/power and ops/ternary.
#include <array>
#include <limits>

#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
std::vector<DType> not_numbers() { return {kBool, kComplex64, kComplex128}; }
std::vector<DType> not_floats() { return all_but(floats); }
std::vector<DType> not_real_floats() { return all_but(real_floats); }

// ---- division
double floored(double a, double b) {
  if (b == 0) return a / b;
  double modulo = std::fmod(a, b), q = (a - modulo) / b;
  if (modulo != 0 && (b < 0) != (modulo < 0)) q -= 1;
  return std::floor(q + 0.5);
}
double remainder_of(double a, double b) {
  double modulo = std::fmod(a, b);
  return modulo != 0 && (b < 0) != (modulo < 0) ? modulo + b : modulo;
}
// As real_pair, for results of integers that were computed exactly.
Samples modes_of(const Samples& pairs) {
  return [pairs](Make& make) {
    std::vector<Sample> samples;
    for (const char* mode : {"floor", "trunc"})
      for (Sample sample : pairs(make)) {
        // libtorch rounds the quotient to a half before it cuts the fraction off.
        bool half = make.dtype == kHalf || make.dtype == kBFloat16;
        if (half && sample.label.starts_with("large")) continue;
        sample.label += std::string(", ") + mode;
        sample.arguments.emplace_back(std::string(mode));
        samples.push_back(sample);
      }
    return samples;
  };
}
std::vector<Array> divided(const Arguments& in) {
  bool floors = std::get<std::string>(in[2]) == "floor";
  return {zipped(in.array(0), in.array(1), [&](Complex a, Complex b) {
    return floors ? floored(a.real(), b.real()) : std::trunc(a.real() / b.real());
  })};
}
Values by_zero(Make& make) {
  return {make.tensor({3}, kInt64), changed(make.tensor({3}, kInt64), [](Complex) { return 0; })};
}

void add_remainder(std::vector<OpCase>& cases, const std::string& name, const std::string& torch,
                   double (*f)(double, double), bool gradient = true) {
  cases.push_back({.name = name,
                   .torch = torch,
                   .samples = divisor_samples,
                   .reference = real_pair(f),
                   .dtypes = numbers(),
                   .refused = not_numbers(),
                   .gradient = gradient,
                   .errors = {{"zero", by_zero, name + ": ZeroDivisionError"}}});
  cases.push_back({.name = name,
                   .overload = "Scalar",
                   .torch = name + ".Scalar",
                   .samples = with_number,
                   .reference = real_pair(f),
                   .dtypes = numbers(),
                   .refused = not_numbers(),
                   .gradient = gradient});
}
void add_division(std::vector<OpCase>& cases) {
  cases.push_back({.name = "div",
                   .overload = "Tensor_mode",
                   .torch = "div.Tensor_mode",
                   .samples = modes_of(divisor_samples),
                   .reference = divided,
                   .dtypes = numbers(),
                   .refused = not_numbers(),
                   .errors = {{"mode",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}), make.tensor({2}), std::string("round")};
                               },
                               "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'round'"},
                              {"zero",
                               [](Make& make) {
                                 Values values = by_zero(make);
                                 values.emplace_back(std::string("floor"));
                                 return values;
                               },
                               "div: ZeroDivisionError"}}});
  cases.push_back({.name = "div",
                   .overload = "Scalar_mode",
                   .torch = "div.Scalar_mode",
                   .samples = modes_of(with_number),
                   .reference = divided,
                   .dtypes = numbers(),
                   .refused = not_numbers()});
  add_remainder(cases, "floor_divide", "floor_divide", floored, /*gradient=*/false);
  add_remainder(cases, "fmod", "fmod.Tensor", [](double a, double b) { return std::fmod(a, b); });
  add_remainder(cases, "remainder", "remainder.Tensor", remainder_of);
  cases.push_back({.name = "remainder",
                   .overload = "Scalar_Tensor",
                   .torch = "remainder.Scalar_Tensor",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = number_first(make);
                         for (Sample& sample : samples)
                           sample.arguments =
                               changed_at(sample.arguments, 1, [](Complex x) { return x == 0.0 ? Complex(3) : x; });
                         return samples;
                       },
                   .reference = real_pair(remainder_of),
                   .dtypes = numbers(),
                   .refused = not_numbers()});
  Reference rsub = [](const Arguments& in) {
    return std::vector{zipped(in.array(0), in.array(1), [&](Complex a, Complex b) { return b - in.number(2) * a; })};
  };
  cases.push_back({.name = "rsub",
                   .torch = "rsub.Tensor",
                   .samples = binary_samples,
                   .reference = rsub,
                   .dtypes = all_but({kBool}),
                   .refused = {kBool}});
  cases.push_back({.name = "rsub",
                   .overload = "Scalar",
                   .torch = "rsub.Scalar",
                   .samples = with_number,
                   .reference = rsub,
                   .dtypes = all_but({kBool}),
                   .refused = {kBool}});
}

// ---- extrema
void add_extremum(std::vector<OpCase>& cases, const std::string& name, const std::string& overload,
                  double (*f)(double, double)) {
  cases.push_back({.name = name,
                   .overload = overload,
                   .torch = overload.empty() ? name : name + "." + overload,
                   .samples = apart_samples,
                   .reference = real_pair(f),
                   .dtypes = all_but(complexes()),
                   .refused = complexes()});
}
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double clamped(double x, double low, double high) {
  if (std::isnan(x)) return x;
  return std::min(std::max(x, low), high);
}
std::vector<Sample> clamp_samples(Make& make) {
  bool whole = is_integral(make.dtype, true);
  std::vector<Sample> samples = shaped_samples(make, [&](const Tensor&) -> Values {
    return {whole ? Scalar(1) : Scalar(-1.017), whole ? Scalar(3) : Scalar(0.517)};
  });
  samples.push_back({"no minimum", {make.tensor({3, 4}), Value(), whole ? Scalar(2) : Scalar(0.517)}});
  samples.push_back({"no maximum", {make.tensor({3, 4}), whole ? Scalar(2) : Scalar(0.517)}});
  samples.push_back({"crossed", {make.tensor({3, 4}), Scalar(3), Scalar(1)}});
  return samples;
}
std::vector<Array> clamp_reference(const Arguments& in) {
  Array y = in.array(0);
  for (Complex& v : y.values)
    v = clamped(v.real(), in.given(1) ? in.number(1).real() : -inf, in.given(2) ? in.number(2).real() : inf);
  return {y};
}
std::vector<Sample> three_samples(Make& make) {
  std::vector<Sample> samples = apart_samples(make);
  for (Sample& sample : samples) {
    Tensor third = make.tensor({});
    if (sample.label == "same shape" || sample.label == "row") third = make.tensor({3, 4});
    if (sample.label == "broadcast") third = make.tensor({2, 3, 1});
    if (sample.label == "inf and nan") third = make.like_special();
    if (sample.label == "large") third = make.tensor({333});
    if (!is_integral(make.dtype, true) && sample.label != "inf and nan")
      third = changed(third, [](Complex x) { return x + 0.0291; });
    sample.arguments.push_back(third);
  }
  return samples;
}
std::vector<Sample> clamp_tensor_samples(Make& make) {
  std::vector<Sample> samples = three_samples(make);
  samples.push_back({"no minimum", {make.tensor({3, 4}), Value(), std::get<Tensor>(samples[0].arguments[1])}});
  samples.push_back({"no maximum", {make.tensor({3, 4}), std::get<Tensor>(samples[0].arguments[1])}});
  return samples;
}
std::vector<Array> clamp_tensor_reference(const Arguments& in) {
  Array y = in.array(0);
  if (in.given(1)) y = zipped(y, in.array(1), [](Complex a, Complex b) { return larger(b.real(), a.real()); });
  if (in.given(2)) y = zipped(y, in.array(2), [](Complex a, Complex b) { return smaller(b.real(), a.real()); });
  return {y};
}
void add_bound(std::vector<OpCase>& cases, const std::string& name, double (*f)(double, double)) {
  cases.push_back({.name = name,
                   .torch = name,
                   .samples = with_number,
                   .reference = real_pair(f),
                   .dtypes = numbers(),
                   .refused = not_numbers()});
  cases.push_back({.name = name,
                   .overload = "Tensor",
                   .torch = name + ".Tensor",
                   .samples = apart_samples,
                   .reference = real_pair(f),
                   .dtypes = all_but(complexes()),
                   .refused = complexes()});
}
void add_extrema(std::vector<OpCase>& cases) {
  add_extremum(cases, "maximum", "", larger);
  add_extremum(cases, "minimum", "", smaller);
  add_extremum(cases, "max", "other", larger);
  add_extremum(cases, "min", "other", smaller);
  add_extremum(cases, "fmax", "", [](double a, double b) { return std::fmax(a, b); });
  add_extremum(cases, "fmin", "", [](double a, double b) { return std::fmin(a, b); });
  cases.push_back({.name = "clamp",
                   .torch = "clamp",
                   .samples = clamp_samples,
                   .reference = clamp_reference,
                   .dtypes = numbers(),
                   .refused = {kComplex64, kComplex128},
                   .errors = {{"bounds",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}), Value(), Value()};
                               },
                               "clamp: At least one of 'min' or 'max' must not be None"}},
                   .untested = {{kBool, "becomes int64 with bounds that are numbers"}}});
  cases.push_back({.name = "clamp",
                   .overload = "Tensor",
                   .torch = "clamp.Tensor",
                   .samples = clamp_tensor_samples,
                   .reference = clamp_tensor_reference,
                   .dtypes = numbers(),
                   .refused = complexes(),
                   .untested = {{kBool, "one bound is a maximum, which bool has"}}});
  add_bound(cases, "clamp_min", larger);
  add_bound(cases, "clamp_max", smaller);
}

// ---- powers
Complex power(Complex a, Complex b) {
  return a.imag() == 0 && b.imag() == 0 ? Complex(std::pow(a.real(), b.real())) : std::pow(a, b);
}
std::vector<Sample> power_samples(Make& make) {
  std::vector<Sample> samples = positive_samples(make);
  if (is_integral(make.dtype, true))
    for (Sample& sample : samples)
      sample.arguments = {
          changed(std::get<Tensor>(sample.arguments[0]), [](Complex x) { return std::fmod(x.real(), 4); }),
          changed(std::get<Tensor>(sample.arguments[1]), [](Complex x) { return std::fmod(std::abs(x.real()), 3); })};
  if (is_complex(make.dtype))  // which nan or inf, nobody has decided
    std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
  return samples;
}
Samples powers_by(std::vector<double> exponents) {
  return [exponents](Make& make) {
    std::vector<Sample> samples;
    for (double exponent : exponents)
      for (Sample sample : unary_samples(make)) {
        bool whole = exponent == std::floor(exponent);
        if (is_integral(make.dtype, true) && (!whole || exponent < 0)) continue;
        if (sample.label == "inf and nan" && (is_complex(make.dtype) || std::abs(exponent) == 0.5)) continue;
        if (is_integral(make.dtype, true))
          sample.arguments = changed_at(sample.arguments, 0, [](Complex x) { return std::fmod(x.real(), 4); });
        else if (!whole && !is_complex(make.dtype) && sample.label != "inf and nan")
          sample.arguments = changed_at(sample.arguments, 0, [](Complex x) { return std::abs(x.real()) + 0.25; });
        sample.label += message_of(" by ", exponent);
        sample.arguments.emplace_back(whole ? Scalar(static_cast<int64_t>(exponent)) : Scalar(exponent));
        samples.push_back(sample);
      }
    return samples;
  };
}
std::vector<Sample> number_to_powers(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  for (Sample& sample : samples) {
    Tensor x = std::get<Tensor>(sample.arguments[0]);
    if (is_integral(make.dtype, true)) x = changed(x, [](Complex v) { return std::fmod(std::abs(v.real()), 3); });
    sample.arguments = {is_integral(make.dtype, true) ? Scalar(2) : Scalar(2.5), x};
  }
  if (is_complex(make.dtype))
    std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
  return samples;
}
DType widest(DType dtype) { return is_complex(dtype) ? kComplex128 : kDouble; }

void add_powers(std::vector<OpCase>& cases) {
  cases.push_back({.name = "pow",
                   .torch = "pow.Tensor_Tensor",
                   .samples = power_samples,
                   .reference = elementwise(power),
                   .dtypes = all_but({kBool}),
                   .refused = {kBool},
                   .tolerance = 8});
  cases.push_back({.name = "pow",
                   .overload = "Scalar",
                   .torch = "pow.Tensor_Scalar",
                   .samples = powers_by({0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.7, 5}),
                   .reference = elementwise(power),
                   .dtypes = all_but({kBool}),
                   .tolerance = 8,
                   .errors = {{"negative",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kInt64), Scalar(-1)};
                               },
                               "pow: Integers to negative integer powers are not allowed"}},
                   .untested = {{kBool, "becomes int64 with an exponent that is a number"}}});
  cases.push_back({.name = "pow",
                   .overload = "Scalar_Tensor",
                   .torch = "pow.Scalar",
                   .samples = number_to_powers,
                   .reference = elementwise(power),
                   .dtypes = all_but({kBool}),
                   .tolerance = 8,
                   .untested = {{kBool, "becomes int64 with a base that is a number"}}});
  const std::tuple<const char*, const char*, Samples> forms[] = {{"", "Tensor_Tensor", power_samples},
                                                                 {"Scalar", "Tensor_Scalar", powers_by({2, 1.7})},
                                                                 {"Scalar_Tensor", "Scalar", number_to_powers}};
  for (const auto& [overload, torch, samples] : forms)
    cases.push_back({.name = "float_power",
                     .overload = overload,
                     .torch = std::string("float_power.") + torch,
                     .samples = samples,
                     .reference = elementwise(power),
                     .result_dtype = widest,
                     .tolerance = 8});
}

// ---- functions of two variables
double log_of_sum(double a, double b, double base) {
  if (std::isinf(a) && a == b) return a;
  if (std::isnan(a) || std::isnan(b)) return nan;
  double top = std::max(a, b), per = std::log(base);
  return top + std::log1p(std::exp((std::min(a, b) - top) * per)) / per;
}
Complex times_log(Complex a, Complex b) {
  if (b != b) return nan;
  if (a == 0.0) return 0;
  return a.imag() == 0 && b.imag() == 0 ? Complex(a.real() * std::log(b.real())) : a * std::log(b);
}
Complex times_log1p(Complex a, Complex b) { return b != b ? nan : a == 0.0 ? 0 : a.real() * std::log1p(b.real()); }
// The first pairs with a positive second operand.
std::vector<Sample> positive_second(Make& make) {
  std::vector<Sample> samples = apart_samples(make);
  for (Sample& sample : samples)
    if (sample.label != "inf and nan" && !is_complex(make.dtype))
      sample.arguments = changed_at(sample.arguments, 1, [](Complex x) { return std::abs(x.real()) + 0.25; });
  if (is_complex(make.dtype))
    std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
  return samples;
}
Samples positive_at(const Samples& given, size_t at) {
  return [given, at](Make& make) {
    std::vector<Sample> samples = given(make);
    for (Sample& sample : samples)
      if (sample.label != "inf and nan" && !is_complex(make.dtype))
        sample.arguments = changed_at(sample.arguments, at, [](Complex x) { return std::abs(x.real()) + 0.25; });
    return samples;
  };
}
void add_pair(std::vector<OpCase>& cases, const std::string& name, const std::string& torch, const Reference& reference,
              const std::vector<DType>& dtypes) {
  cases.push_back({.name = name,
                   .torch = torch,
                   .samples = apart_samples,
                   .reference = reference,
                   .dtypes = dtypes,
                   .refused = all_but(dtypes),
                   .result_dtype = floating,
                   .tolerance = 4});
}
// a * log(b) or its like, of tensors and with a number on either side.
void add_log_product(std::vector<OpCase>& cases, const std::string& name, const std::array<const char*, 3>& torch,
                     Complex (*f)(Complex, Complex), bool has_complex) {
  const std::pair<const char*, Samples> forms[] = {
      {"", positive_second}, {"Scalar", with_number}, {"Scalar_Tensor", positive_at(number_first, 1)}};
  for (size_t i = 0; i < 3; i++) {
    OpCase one{.name = name,
               .overload = forms[i].first,
               .torch = name + torch[i],
               .samples = forms[i].second,
               .reference = elementwise(f),
               .dtypes = has_complex && i == 0 ? all_dtypes : all_but(complexes()),
               .result_dtype = floating,
               .tolerance = 4};
    if (!has_complex)
      one.refused = complexes();
    else if (i > 0)
      one.untested = {{kComplex64, "as the overload for tensors"}, {kComplex128, "the same"}};
    cases.push_back(one);
  }
}
void add_functions(std::vector<OpCase>& cases) {
  std::vector<DType> reals = all_but(complexes());
  add_pair(cases, "hypot", "hypot", real_pair([](double a, double b) { return std::hypot(a, b); }), real_floats);
  add_pair(cases, "atan2", "atan2", real_pair([](double a, double b) { return std::atan2(a, b); }), reals);
  add_pair(cases, "logaddexp", "logaddexp", real_pair([](double a, double b) { return log_of_sum(a, b, M_E); }),
           real_floats);
  add_pair(cases, "logaddexp2", "logaddexp2", real_pair([](double a, double b) { return log_of_sum(a, b, 2); }),
           real_floats);
  add_pair(cases, "copysign", "copysign.Tensor", real_pair([](double a, double b) { return std::copysign(a, b); }),
           reals);
  cases.push_back({.name = "copysign",
                   .overload = "Scalar",
                   .torch = "copysign.Scalar",
                   .samples = with_number,
                   .reference = real_pair([](double a, double b) { return std::copysign(a, b); }),
                   .dtypes = reals,
                   .refused = complexes(),
                   .result_dtype = floating});
  add_log_product(cases, "xlogy", {".Tensor", ".Scalar_Other", ".Scalar_Self"}, times_log, true);
  add_log_product(cases, "special_xlog1py", {"", ".other_scalar", ".self_scalar"}, times_log1p, false);
  cases.push_back({.name = "nextafter",
                   .torch = "nextafter",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = binary_samples(make);
                         if (make.dtype == kHalf || make.dtype == kBFloat16)  // its reference knows no infinities
                           std::erase_if(samples, [](const Sample& s) { return s.label == "inf and nan"; });
                         return samples;
                       },
                   .reference =
                       [](const Arguments& in) {
                         DType dtype = in.dtype;
                         return std::vector{zipped(in.array(0), in.array(1), [dtype](Complex a, Complex b) -> Complex {
                           if (dtype == kDouble) return std::nextafter(a.real(), b.real());
                           if (dtype == kFloat)
                             return std::nextafter(static_cast<float>(a.real()), static_cast<float>(b.real()));
                           return a.real() == b.real() || b != b ? b : a;  // within the tolerance
                         })};
                       },
                   .dtypes = real_floats,
                   .refused = not_real_floats(),
                   .gradient = false});
  cases.push_back({.name = "heaviside",
                   .torch = "heaviside",
                   .samples = binary_samples,
                   .reference = real_pair([](double a, double b) { return a == 0  ? b
                                                                          : a > 0 ? 1.0
                                                                                  : 0.0; }),
                   .dtypes = reals,
                   .refused = complexes(),
                   .gradient = false,
                   .errors = {{"dtypes",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kFloat), make.tensor({2}, kDouble)};
                               },
                               "heaviside: not yet implemented for tensors with different dtypes"}}});
  cases.push_back({.name = "ldexp",
                   .torch = "ldexp.Tensor",
                   .samples = binary_samples,
                   .reference = elementwise([](Complex a, Complex b) { return a * power(2, b); }),
                   .dtypes = reals,
                   .result_dtype = floating,
                   .tolerance = 4,
                   .untested = {{kComplex64, "nobody has asked for it"}, {kComplex128, "the same"}}});
  cases.push_back({.name = "frexp",
                   .torch = "frexp.Tensor",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = unary_samples(make);
                         std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
                         for (Sample& sample : samples)  // away from the powers of two
                           sample.arguments = changed_at(sample.arguments, 0, [](Complex x) { return x * 1.013; });
                         samples.push_back({"zero", {changed(make.tensor({3}), [](Complex) { return 0; })}, false});
                         return samples;
                       },
                   .reference =
                       [](const Arguments& in) {
                         Array mantissa = in.array(0), exponent = mantissa;
                         for (size_t i = 0; i < mantissa.values.size(); i++) {
                           int power_of_two = 0;
                           mantissa.values[i] = std::frexp(mantissa.values[i].real(), &power_of_two);
                           exponent.values[i] = power_of_two;
                         }
                         exponent.dtype = kInt32;
                         return std::vector{mantissa, exponent};
                       },
                   .dtypes = real_floats,
                   .refused = not_real_floats()});
  cases.push_back({.name = "nan_to_num",
                   .torch = "nan_to_num",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = unary_samples(make);
                         samples.push_back({"numbers", {make.special(), 1.5, 2.5, -3.5}, false});
                         return samples;
                       },
                   .reference =
                       [](const Arguments& in) {
                         Array y = in.array(0);
                         double top = in.dtype == kHalf       ? 65504
                                      : in.dtype == kBFloat16 ? 3.3895313892515355e38
                                      : in.dtype == kFloat    ? static_cast<double>(std::numeric_limits<float>::max())
                                                              : std::numeric_limits<double>::max();
                         for (Complex& v : y.values) {
                           if (std::isnan(v.real())) v = in.given(1) ? in.number(1) : 0;
                           if (v == inf) v = in.given(2) ? in.number(2) : top;
                           if (v == -inf) v = in.given(3) ? in.number(3) : -top;
                         }
                         return std::vector{y};
                       },
                   .dtypes = reals,
                   .refused = complexes()});
}

// ---- ternary
std::vector<Sample> lerp_samples(Make& make) {
  std::vector<Sample> samples;
  for (double weight : {0.25, 0.75})
    for (Sample sample : binary_samples(make)) {
      if (is_complex(make.dtype) && sample.label == "inf and nan") continue;
      sample.label += message_of(" at ", weight);
      sample.arguments.emplace_back(is_complex(make.dtype) ? Scalar(Complex(weight, 0.1)) : Scalar(weight));
      samples.push_back(sample);
    }
  return samples;
}
Complex between(Complex a, Complex b, Complex w) {
  if (a.imag() == 0 && b.imag() == 0 && w.imag() == 0) {
    double x = a.real(), y = b.real(), t = w.real();
    return t < 0.5 ? x + t * (y - x) : y - (y - x) * (1 - t);
  }
  return a + w * (b - a);
}
Samples with_value(const Samples& given) {
  return [given](Make& make) {
    std::vector<Sample> samples = given(make);
    Sample more = samples[0];
    more.label = "value";
    more.arguments.push_back(number_for(make));
    samples.push_back(more);
    if (is_complex(make.dtype))
      std::erase_if(samples, [](const Sample& sample) { return sample.label == "inf and nan"; });
    return samples;
  };
}
std::vector<Array> added(const Arguments& in, const std::function<Complex(Complex, Complex)>& f) {
  Complex value = in.number(3);
  Array product = zipped(in.array(1), in.array(2), [&](Complex b, Complex c) { return f(b, c); });
  return {zipped(in.array(0), product, [&](Complex a, Complex p) {
    return p.imag() == 0 && value.imag() == 0 && a.imag() == 0 ? Complex(a.real() + value.real() * p.real())
                                                               : a + value * p;
  })};
}
void add_where(std::vector<OpCase>& cases, const std::string& overload, bool number_self, bool number_other) {
  cases.push_back({.name = "where",
                   .overload = overload,
                   .torch = "where." + overload,
                   .samples =
                       [=](Make& make) {
                         std::vector<Sample> samples = unary_samples(make);
                         for (Sample& sample : samples) {
                           Tensor x = std::get<Tensor>(sample.arguments[0]);
                           Value number = number_for(make);
                           sample.arguments = {make.condition(x.sizes().vec()), number_self ? number : Value(x),
                                               number_other ? number : Value(x)};
                         }
                         return samples;
                       },
                   .reference = elementwise([](Complex c, Complex a, Complex b) { return c != 0.0 ? a : b; })});
}
void add_ternary(std::vector<OpCase>& cases) {
  cases.push_back({.name = "lerp",
                   .overload = "Scalar",
                   .torch = "lerp.Scalar",
                   .samples = lerp_samples,
                   .reference = elementwise(between),
                   .dtypes = floats,
                   .refused = not_floats(),
                   .errors = {{"dtypes",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kFloat), make.tensor({2}, kDouble), Scalar(0.5)};
                               },
                               "lerp: expected dtype float32 for `end` but got dtype float64"}}});
  cases.push_back({.name = "lerp",
                   .torch = "lerp.Tensor",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = three_samples(make);
                         if (is_complex(make.dtype))
                           std::erase_if(samples, [](const Sample& s) { return s.label == "inf and nan"; });
                         return samples;
                       },
                   .reference = elementwise(between),
                   .dtypes = floats,
                   .refused = not_floats(),
                   .tolerance = 4});
  cases.push_back({.name = "addcmul",
                   .torch = "addcmul",
                   .samples = with_value(three_samples),
                   .reference =
                       [](const Arguments& in) {
                         return added(in, [](Complex b, Complex c) {
                           return b.imag() == 0 && c.imag() == 0 ? Complex(b.real() * c.real()) : b * c;
                         });
                       },
                   .dtypes = all_but({kBool}),
                   .refused = {kBool},
                   .tolerance = 4});
  cases.push_back({.name = "addcdiv",
                   .torch = "addcdiv",
                   .samples = with_value(three_samples),
                   .reference =
                       [](const Arguments& in) {
                         return added(in, [](Complex b, Complex c) {
                           return b.imag() == 0 && c.imag() == 0 ? Complex(b.real() / c.real()) : b / c;
                         });
                       },
                   .dtypes = floats,
                   .refused = not_floats(),
                   .tolerance = 8,
                   .errors = {{"integers",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kInt64), make.tensor({2}, kInt64), make.tensor({2}, kInt64)};
                               },
                               "addcdiv: Integer division with addcdiv is no longer supported"}}});
  add_where(cases, "ScalarSelf", true, false);
  add_where(cases, "ScalarOther", false, true);
  cases.push_back({.name = "where",
                   .overload = "Scalar",
                   .torch = "where.Scalar",
                   .samples = [](Make& make) -> std::vector<Sample> {
                     return {{"integers", {make.condition({3, 4}), Scalar(1), Scalar(2)}},
                             {"empty", {make.condition({0}), Scalar(1), Scalar(2)}}};
                   },
                   .reference =
                       [](const Arguments& in) {
                         Array y = in.array(0);
                         for (Complex& v : y.values) v = v != 0.0 ? in.number(1) : in.number(2);
                         y.dtype = kInt64;
                         return std::vector{y};
                       }});
  cases.push_back({.name = "where",
                   .overload = "condition",
                   .torch = "where",
                   .samples = [](Make& make) -> std::vector<Sample> {
                     return {{"2-d", {make.tensor({3, 4})}, false, true},
                             {"0-d", {make.tensor({})}, false, true},
                             {"mask", {make.condition({5})}, false, true}};
                   },
                   .reference =
                       [](const Arguments& in) {
                         Array x = in.array(0);
                         if (x.sizes.empty()) x.sizes = {1};
                         std::vector<Array> places(x.sizes.size(), Array{{0}, {}, kInt64});
                         for_each_index(x.sizes, [&](const Index& at) {
                           if (x[at] == 0.0) return;
                           for (size_t i = 0; i < at.size(); i++) {
                             places[i].values.emplace_back(static_cast<double>(at[i]));
                             places[i].sizes[0]++;
                           }
                         });
                         return places;
                       },
                   .gradient = false});
}

}  // namespace

std::vector<OpCase> binary_cases() {
  std::vector<OpCase> cases;
  add_division(cases);
  add_extrema(cases);
  add_powers(cases);
  add_functions(cases);
  add_ternary(cases);
  return cases;
}

}  // namespace cresset::test
