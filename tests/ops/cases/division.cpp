// Cases of ops/division.
#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

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

}  // namespace

std::vector<OpCase> division_cases() {
  std::vector<OpCase> cases;
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
  return cases;
}

}  // namespace cresset::test
