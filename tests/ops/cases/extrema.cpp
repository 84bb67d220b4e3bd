// Cases of ops/extrema: of two operands, and with bounds.
#include <limits>

#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

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
  constexpr double inf = std::numeric_limits<double>::infinity();
  Array y = in.array(0);
  for (Complex& v : y.values)
    v = clamped(v.real(), in.given(1) ? in.number(1).real() : -inf, in.given(2) ? in.number(2).real() : inf);
  return {y};
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

}  // namespace

std::vector<OpCase> extrema_cases() {
  std::vector<OpCase> cases;
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
  return cases;
}

}  // namespace cresset::test
