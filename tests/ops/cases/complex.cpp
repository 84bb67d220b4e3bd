// Cases of ops/complex.
#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

std::vector<Sample> pairs_of_parts(Make& m) {
  return {{"3-d", {m.tensor({3, 4, 2})}},
          {"1-d", {m.tensor({2})}},
          {"empty", {m.tensor({0, 2})}},
          {"transposed", {alias(m.tensor({3, 4, 2}), {4, 3, 2}, {2, 8, 1}, 0)}},
          {"large", {m.tensor({201, 333, 2})}, false}};
}
Array parts(const Array& x) {
  Array y = Array::filled(x.sizes);
  y.sizes.push_back(2);
  y.values.clear();
  for (Complex value : x.values) {
    y.values.emplace_back(value.real());
    y.values.emplace_back(value.imag());
  }
  return y;
}
std::vector<Sample> two_parts(Make& m) {
  return {{"same shape", {m.tensor({3, 4}), m.tensor({3, 4})}},
          {"0-d", {m.tensor({}), m.tensor({})}},
          {"empty", {m.tensor({0, 3}), m.tensor({0, 3})}},
          {"broadcast", {m.tensor({2, 1, 4}), m.tensor({3, 1})}},
          {"large", {m.tensor({201, 333}), m.tensor({201, 333})}, false}};
}

// Sizes above 0: for others libtorch's gradient has the wrong sign.
std::vector<Sample> sizes_and_angles(Make& m) {
  std::vector<Sample> samples = two_parts(m);
  for (Sample& sample : samples) {
    Array sizes = read(std::get<Tensor>(sample.arguments[0]));
    for (Complex& value : sizes.values) value += 3;
    sample.arguments[0] = tensor_of(sizes, m.dtype);
  }
  return samples;
}

}  // namespace

std::vector<OpCase> complex_cases() {
  const std::vector<DType> singles = {kFloat, kDouble}, complexes = {kComplex64, kComplex128};
  OpCase identity{.name = "resolve_conj",
                  .torch = "resolve_conj",
                  .samples = unary_samples,
                  .reference = elementwise([](Complex x) { return x; })};
  OpCase no_negation = identity;
  no_negation.name = no_negation.torch = "resolve_neg";
  return {
      {.name = "view_as_real",
       .torch = "view_as_real",
       .samples = unary_samples,
       .reference = [](const Arguments& in) { return std::vector{parts(in.array(0))}; },
       .dtypes = complexes,
       .refused = without(all_dtypes, {kComplex64, kComplex128}),
       .result_dtype = to_real},
      {.name = "view_as_complex",
       .torch = "view_as_complex",
       .samples = pairs_of_parts,
       .reference =
           [](const Arguments& in) {
             Array x = in.array(0), y = x;
             y.sizes.pop_back();
             y.values.clear();
             for (size_t i = 0; i + 1 < x.values.size(); i += 2)
               y.values.emplace_back(x.values[i].real(), x.values[i + 1].real());
             return std::vector{y};
           },
       .dtypes = singles,
       .refused = without(all_dtypes, {kFloat, kDouble, kFloat16}),
       .result_dtype = to_complex,
       .errors = {{"size", [](Make& m) -> Values { return {m.tensor({3})}; },
                   "view_as_complex: Tensor must have a last dimension of size 2, found shape [3]"},
                  {"stride",
                   [](Make& m) -> Values {
                     return {alias(m.tensor({2, 2}), {2, 2}, {1, 2}, 0)};
                   },
                   "view_as_complex: Tensor must have a last dimension with stride 1"},
                  {"odd",
                   [](Make& m) -> Values {
                     return {alias(m.tensor({7}), {2, 2}, {3, 1}, 0)};
                   },
                   "view_as_complex: Tensor must have a stride divisible by 2"}},
       .any_layout = false,
       .untested = {{kFloat16, "PyTorch makes complex32 of it, which is not here"}}},
      {.name = "real",
       .torch = "real",
       .samples = unary_samples,
       .reference = elementwise([](Complex x) { return x.real(); }),
       .result_dtype = to_real},
      {.name = "imag",
       .torch = "imag",
       .samples = unary_samples,
       .reference = elementwise([](Complex x) { return x.imag(); }),
       .dtypes = complexes,
       .refused = without(all_dtypes, {kComplex64, kComplex128}),
       .result_dtype = to_real},
      {.name = "complex",
       .torch = "complex",
       .samples = two_parts,
       .reference = elementwise([](Complex a, Complex b) { return Complex(a.real(), b.real()); }),
       .dtypes = singles,
       .refused = without(all_dtypes, {kFloat, kDouble, kFloat16}),
       .result_dtype = to_complex,
       .errors = {{"dtypes",
                   [](Make& m) -> Values {
                     return {m.tensor({2}, kFloat), m.tensor({2}, kDouble)};
                   },
                   "complex: Expected object of scalar type Float but got scalar type Double for second argument"}},
       .untested = {{kFloat16, "PyTorch makes complex32 of it, which is not here"}}},
      {.name = "polar",
       .torch = "polar",
       .samples = sizes_and_angles,
       .reference = elementwise([](Complex a, Complex b) { return a.real() * std::polar(1.0, b.real()); }),
       .dtypes = singles,
       .refused = without(all_dtypes, {kFloat, kDouble}),
       .result_dtype = to_complex,
       .tolerance = 4},
      identity,
      no_negation,
  };
}

}  // namespace cresset::test
