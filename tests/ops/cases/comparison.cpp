// Cases of ops/comparison, ops/bitwise and ops/masked.
#include <limits>
#include <numeric>

#include "tests/ops/cases/pairs.h"

namespace cresset::test {
namespace {

using Predicate = std::function<bool(double, double)>;
constexpr double infinite = std::numeric_limits<double>::infinity();

Values different_shapes(Make& make) { return {make.tensor({2, 3}), make.tensor({2, 4})}; }

// Numbers are compared as the dtype stores them.
Reference as_stored(const std::function<bool(Complex, Complex)>& f) {
  return [f](const Arguments& in) {
    return std::vector{zipped(in.array(0), in.array(1), [&](Complex a, Complex b) {
      return Complex(f(stored_as(a, in.dtype), stored_as(b, in.dtype)));
    })};
  };
}

// Both overloads of a comparison by size.
void add_ordered(std::vector<OpCase>& cases, const std::string& name, const Predicate& f) {
  Reference reference = as_stored([f](Complex a, Complex b) { return f(a.real(), b.real()); });
  cases.push_back({.name = name,
                   .torch = name + ".Tensor",
                   .samples = binary_samples,
                   .reference = reference,
                   .dtypes = all_but(complexes()),
                   .refused = complexes(),
                   .result_dtype = to_bool,
                   .gradient = false,
                   .errors = {{"shapes", different_shapes, name + ": shapes [2, 3] and [2, 4] do not broadcast"},
                              {"complex",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kComplex64), make.tensor({2})};
                               },
                               name + ": not implemented for 'ComplexFloat'"}}});
  cases.push_back({.name = name,
                   .overload = "Scalar",
                   .torch = name + ".Scalar",
                   .samples = with_number,
                   .reference = reference,
                   .dtypes = all_but(complexes()),
                   .refused = complexes(),
                   .result_dtype = to_bool,
                   .gradient = false});
}
void add_equality(std::vector<OpCase>& cases, const std::string& name, bool wanted) {
  Reference reference = as_stored([wanted](Complex a, Complex b) { return (a == b) == wanted; });
  cases.push_back({.name = name,
                   .torch = name + ".Tensor",
                   .samples = binary_samples,
                   .reference = reference,
                   .result_dtype = to_bool,
                   .gradient = false,
                   .errors = {{"shapes", different_shapes, name + ": shapes [2, 3] and [2, 4] do not broadcast"}}});
  cases.push_back({.name = name,
                   .overload = "Scalar",
                   .torch = name + ".Scalar",
                   .samples = with_number,
                   .reference = reference,
                   .result_dtype = to_bool,
                   .gradient = false});
}
void add_logical(std::vector<OpCase>& cases, const std::string& name, const std::function<bool(bool, bool)>& f) {
  cases.push_back({.name = name,
                   .torch = name,
                   .samples = binary_samples,
                   .reference = elementwise([f](Complex a, Complex b) { return Complex(f(a != 0.0, b != 0.0)); }),
                   .result_dtype = to_bool,
                   .gradient = false});
}
OpCase of_kind(const std::string& name, const std::function<bool(Complex)>& f, const std::vector<DType>& refused = {}) {
  return {.name = name,
          .torch = name,
          .samples = unary_samples,
          .reference = elementwise([f](Complex x) { return Complex(f(x)); }),
          .dtypes = all_but(refused),
          .refused = refused,
          .result_dtype = to_bool,
          .gradient = false};
}
bool either_part(Complex x, bool (*f)(double)) { return f(x.real()) || f(x.imag()); }

// ---- bits
using OnBits = std::function<int64_t(int64_t, int64_t)>;
Reference on_bits(const OnBits& f) {
  return elementwise([f](Complex a, Complex b) {
    return Complex(static_cast<double>(f(static_cast<int64_t>(a.real()), static_cast<int64_t>(b.real()))));
  });
}
void add_bitwise(std::vector<OpCase>& cases, const std::string& name, const OnBits& f) {
  Reference reference = on_bits(f);
  std::vector<DType> refused = all_but(integers_and_bool());
  for (const char* overload : {"", "Scalar", "Scalar_Tensor"})
    cases.push_back({.name = name,
                     .overload = overload,
                     .torch = name + (*overload ? std::string(".") + overload : ".Tensor"),
                     .samples = !*overload                          ? Samples(binary_samples)
                                : std::string(overload) == "Scalar" ? Samples(with_number)
                                                                    : Samples(number_first),
                     .reference = reference,
                     .dtypes = integers_and_bool(),
                     .refused = refused,
                     .gradient = false});
}
std::vector<Sample> shift_samples(Make& make) {
  std::vector<Sample> samples = binary_samples(make);
  for (Sample& sample : samples)
    sample.arguments[1] = make.integers(std::get<Tensor>(sample.arguments[1]).sizes().vec(), 0, 7, make.dtype);
  return samples;
}
std::vector<Sample> shifted_number(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  for (Sample& sample : samples)
    sample.arguments = {number_for(make),
                        make.integers(std::get<Tensor>(sample.arguments[0]).sizes().vec(), 0, 5, make.dtype)};
  return samples;
}
void add_shift(std::vector<OpCase>& cases, const std::string& name, const OnBits& f) {
  std::vector<DType> refused = all_but(integers());
  cases.push_back({.name = name,
                   .torch = name + ".Tensor",
                   .samples = shift_samples,
                   .reference = on_bits(f),
                   .dtypes = integers(),
                   .refused = refused,
                   .gradient = false});
  cases.push_back({.name = name,
                   .overload = "Scalar",
                   .torch = name + ".Tensor_Scalar",
                   .samples = with_number,
                   .reference = on_bits(f),
                   .dtypes = integers(),
                   .refused = refused,
                   .gradient = false});
  cases.push_back({.name = name,
                   .overload = "Scalar_Tensor",
                   .torch = name + ".Scalar_Tensor",
                   .samples = shifted_number,
                   .reference = on_bits(f),
                   .dtypes = integers(),
                   .refused = refused,
                   .gradient = false});
}

// ---- closeness
std::vector<Sample> close_samples(Make& make) {
  std::vector<Sample> samples = binary_samples(make);
  Tensor x = make.tensor({3, 4});
  samples.push_back({"near", {x, changed(x, [](Complex v) { return v * 1.000001; })}});
  samples.push_back({"wide", {x, changed(x, [](Complex v) { return v * 1.25; }), 0.5, 0.25}});
  samples.push_back({"nan", {make.special(), make.special(), 1e-5, 1e-8, true}});
  return samples;
}
Complex is_close(Complex a, Complex b, const Arguments& in) {
  bool nan = in.flag(4) && a != a && b != b;
  double error = std::abs(a - b);
  return a == b || nan || (std::isfinite(error) && error <= in.number(3).real() + in.number(2).real() * std::abs(b));
}

// ---- masks
std::vector<Sample> mask_samples(Make& make) {
  return {{"same shape", {make.tensor({3, 4}), make.condition({3, 4})}, true, true},
          {"0-d", {make.tensor({}), make.condition({})}, true, true},
          {"0-d mask", {make.tensor({5}), make.condition({})}, true, true},
          {"empty", {make.tensor({0, 3}), make.condition({3})}, true, true},
          {"broadcast mask", {make.tensor({2, 3, 4}), make.condition({3, 1})}, true, true},
          {"broadcast self", {make.tensor({3, 1}), make.condition({2, 1, 4})}, true, true},
          {"infinite and nan", {make.special(), make.condition({14})}, false, true},
          {"large", {make.tensor({201, 333}), make.condition({201, 333})}, false, true}};
}
Samples masks_with(const std::function<Value(Make&)>& more) {
  return [more](Make& make) {
    std::vector<Sample> samples = mask_samples(make);
    for (Sample& sample : samples) {
      sample.arguments.push_back(more(make));
      sample.values_decide_shape = false;
    }
    return samples;
  };
}
std::vector<Array> selected(const Arguments& in) {
  Array x = in.array(0), mask = in.array(1);
  auto sizes = broadcast(x.sizes, mask.sizes);
  x = broadcast_to(x, sizes);
  mask = broadcast_to(mask, sizes);
  Array y{{0}, {}};
  for (size_t i = 0; i < x.values.size(); i++)
    if (mask.values[i] != 0.0) y.values.push_back(x.values[i]);
  y.sizes = {y.numel()};
  return {y};
}
std::vector<Array> scattered(const Arguments& in) {
  Array x = in.array(0), mask = in.array(1), source = in.array(2);
  auto sizes = broadcast(x.sizes, mask.sizes);
  x = broadcast_to(x, sizes);
  mask = broadcast_to(mask, sizes);
  size_t next = 0;
  for (size_t i = 0; i < x.values.size(); i++)
    if (mask.values[i] != 0.0) x.values[i] = source.values[next++];
  return {x};
}
std::vector<Sample> scatter_samples(Make& make) {
  std::vector<Sample> samples = mask_samples(make);
  for (Sample& sample : samples) {
    auto sizes = broadcast(std::get<Tensor>(sample.arguments[0]).sizes().vec(),
                           std::get<Tensor>(sample.arguments[1]).sizes().vec());
    sample.arguments.push_back(make.tensor({count(sizes) + 1}));
  }
  return samples;
}
Reference filled() {
  return elementwise([](Complex x, Complex mask, Complex value) { return mask != 0.0 ? value : x; });
}

Values wrong_mask(Make& make) { return {make.tensor({2}), make.tensor({2}, kFloat), Scalar(1)}; }

void add_masked(std::vector<OpCase>& cases) {
  cases.push_back({.name = "masked_fill",
                   .overload = "Scalar",
                   .torch = "masked_fill.Scalar",
                   .samples = masks_with([](Make& make) -> Value { return number_for(make); }),
                   .reference = filled(),
                   .errors = {{"mask", wrong_mask, "masked_fill: expected mask to be a bool tensor, but got", false}}});
  cases.push_back({.name = "masked_fill",
                   .torch = "masked_fill.Tensor",
                   .samples = masks_with([](Make& make) -> Value { return make.tensor({}); }),
                   .reference = filled(),
                   .errors = {{"value",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}), make.condition({2}), make.tensor({2})};
                               },
                               "masked_fill: only supports a 0-dimensional value tensor, but got tensor with 1"}}});
  cases.push_back({.name = "masked_select", .torch = "masked_select", .samples = mask_samples, .reference = selected});
  cases.push_back({.name = "masked_scatter",
                   .torch = "masked_scatter",
                   .samples = scatter_samples,
                   .reference = scattered,
                   .errors = {{"source",
                               [](Make& make) -> Values {
                                 Tensor all = changed(make.condition({3}), [](Complex) { return 1.0; });
                                 return {make.tensor({3}), all, make.tensor({2})};
                               },
                               "masked_scatter: expected source to have at least 3 elements"}}});
}

}  // namespace

std::vector<OpCase> comparison_cases() {
  std::vector<OpCase> cases;
  add_equality(cases, "eq", true);
  add_equality(cases, "ne", false);
  add_ordered(cases, "lt", [](double a, double b) { return a < b; });
  add_ordered(cases, "le", [](double a, double b) { return a <= b; });
  add_ordered(cases, "gt", [](double a, double b) { return a > b; });
  add_ordered(cases, "ge", [](double a, double b) { return a >= b; });
  add_logical(cases, "logical_and", [](bool a, bool b) { return a && b; });
  add_logical(cases, "logical_or", [](bool a, bool b) { return a || b; });
  add_logical(cases, "logical_xor", [](bool a, bool b) { return a != b; });
  cases.push_back(of_kind("logical_not", [](Complex x) { return x == 0.0; }));
  cases.push_back(of_kind("isnan", [](Complex x) { return either_part(x, [](double v) { return std::isnan(v); }); }));
  cases.push_back(of_kind("isinf", [](Complex x) { return either_part(x, [](double v) { return std::isinf(v); }); }));
  cases.push_back(
      of_kind("isfinite", [](Complex x) { return !either_part(x, [](double v) { return !std::isfinite(v); }); }));
  cases.push_back(of_kind(
      "isposinf", [](Complex x) { return x.real() == infinite; }, complexes()));
  cases.push_back(of_kind(
      "isneginf", [](Complex x) { return x.real() == -infinite; }, complexes()));
  cases.push_back(of_kind("isreal", [](Complex x) { return x.imag() == 0; }));
  cases.push_back(of_kind(
      "signbit", [](Complex x) { return std::signbit(x.real()); }, complexes()));
  cases.push_back({.name = "isclose",
                   .torch = "isclose",
                   .samples = close_samples,
                   .reference =
                       [](const Arguments& in) {
                         return std::vector{zipped(in.array(0), in.array(1),
                                                   [&](Complex a, Complex b) { return is_close(a, b, in); })};
                       },
                   .result_dtype = to_bool,
                   .gradient = false,
                   .errors = {{"dtypes",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}, kFloat), make.tensor({2}, kDouble)};
                               },
                               "isclose: self dtype float32 did not match other dtype float64"},
                              {"rtol",
                               [](Make& make) -> Values {
                                 return {make.tensor({2}), make.tensor({2}), -1.0};
                               },
                               "isclose: rtol must be greater than or equal to zero, but got -1"}}});
  cases.push_back({.name = "allclose",
                   .torch = "allclose",
                   .samples = close_samples,
                   .reference =
                       [](const Arguments& in) {
                         bool all = true;
                         zipped(in.array(0), in.array(1), [&](Complex a, Complex b) {
                           all = all && is_close(a, b, in) != 0.0;
                           return a;
                         });
                         return std::vector{Array::number(all)};
                       },
                   .result_dtype = to_bool,
                   .gradient = false,
                   .no_meta = "its result is a value",
                   .no_mock = "its result is a value of the program"});
  cases.push_back({.name = "equal",
                   .torch = "equal",
                   .samples =
                       [](Make& make) {
                         std::vector<Sample> samples = binary_samples(make);
                         Tensor x = make.tensor({3, 4});
                         samples.push_back({"itself", {x, x}});
                         samples.push_back({"a copy", {x, changed(x, [](Complex v) { return v; })}});
                         DType wide = is_complex(x.dtype()) ? kComplex128 : kDouble;
                         samples.push_back({"of another dtype", {x, tensor_of(read(x), wide)}});
                         return samples;
                       },
                   .reference =
                       [](const Arguments& in) {
                         Array a = in.array(0), b = in.array(1);
                         return std::vector{Array::number(a.sizes == b.sizes && a.values == b.values)};
                       },
                   .result_dtype = to_bool,
                   .gradient = false,
                   .no_meta = "its result is a value",
                   .no_mock = "its result is a value of the program"});
  add_bitwise(cases, "bitwise_and", [](int64_t a, int64_t b) { return a & b; });
  add_bitwise(cases, "bitwise_or", [](int64_t a, int64_t b) { return a | b; });
  add_bitwise(cases, "bitwise_xor", [](int64_t a, int64_t b) { return a ^ b; });
  add_shift(cases, "bitwise_left_shift", [](int64_t a, int64_t b) { return a * (int64_t{1} << b); });
  add_shift(cases, "bitwise_right_shift", [](int64_t a, int64_t b) { return a >> b; });
  cases.push_back({.name = "bitwise_not",
                   .torch = "bitwise_not",
                   .samples = unary_samples,
                   .reference =
                       [](const Arguments& in) {
                         Array y = in.array(0);
                         for (Complex& v : y.values) v = in.dtype == kBool ? 1.0 - v : -1.0 - v;
                         return std::vector{y};
                       },
                   .dtypes = integers_and_bool(),
                   .refused = all_but(integers_and_bool()),
                   .gradient = false});
  cases.push_back({.name = "gcd",
                   .torch = "gcd",
                   .samples = binary_samples,
                   .reference = on_bits([](int64_t a, int64_t b) { return std::gcd(a, b); }),
                   .dtypes = integers(),
                   .refused = all_but(integers()),
                   .gradient = false});
  cases.push_back({.name = "lcm",
                   .torch = "lcm",
                   .samples = binary_samples,
                   .reference = on_bits([](int64_t a, int64_t b) { return std::lcm(a, b); }),
                   .dtypes = integers(),
                   .refused = all_but(integers()),
                   .gradient = false});
  add_masked(cases);
  return cases;
}

}  // namespace cresset::test
