// Cases of ops/power: powers, and other functions of two variables.
#include <array>
#include <limits>

#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

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

}  // namespace

std::vector<OpCase> binary_cases() {
  std::vector<OpCase> cases;
  add_powers(cases);
  add_functions(cases);
  return cases;
}

}  // namespace cresset::test
