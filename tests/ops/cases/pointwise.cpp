// Cases of ops/pointwise.
#include "tests/ops/cases/cases.h"

namespace cresset::test {
namespace {

// Pairs of tensors, and one pair with alpha.
std::vector<Sample> add_samples(Make& make) {
  std::vector<Sample> samples = binary_samples(make);
  samples.push_back({"alpha", {make.tensor({3, 4}), make.tensor({4}), Scalar(2)}});
  if (is_differentiable(make.dtype))
    samples.push_back({"real alpha", {make.tensor({3, 4}), make.tensor({3, 1}), Scalar(-0.5)}});
  if (is_complex(make.dtype))
    samples.push_back({"complex alpha", {make.tensor({3}), make.tensor({3}), Scalar(Complex(0.5, 2))}});
  return samples;
}

// A tensor of each shape and a number that the dtype can hold.
std::vector<Sample> number_samples(Make& make) {
  return shaped_samples(make, [&](const Tensor&) -> Values {
    return {is_complex(make.dtype)          ? Scalar(Complex(1.5, -0.5))
            : is_floating_point(make.dtype) ? Scalar(1.5)
            : make.dtype == kBool           ? Scalar(true)
                                            : Scalar(3)};
  });
}

Reference with_alpha(double sign) {
  return [sign](const Arguments& in) {
    Complex alpha = (in.given(2) ? in.number(2) : 1.0) * sign;
    return std::vector{zipped(in.array(0), in.array(1), [&](Complex a, Complex b) { return a + alpha * b; })};
  };
}

std::vector<Sample> where_samples(Make& make) {
  return {{"same shape", {make.condition({3, 4}), make.tensor({3, 4}), make.tensor({3, 4})}},
          {"0-d", {make.condition({}), make.tensor({}), make.tensor({})}},
          {"empty", {make.condition({0}), make.tensor({0}), make.tensor({1})}},
          {"broadcast", {make.condition({3, 1}), make.tensor({2, 1, 4}), make.tensor({})}},
          {"inf and nan", {make.condition({14}), make.special(), make.like_special()}, false},
          {"large", {make.condition({201, 333}), make.tensor({333}), make.tensor({201, 333})}, false}};
}

// Real numbers are divided as such: complex division has rules of its own for inf and 0.
Complex quotient(Complex a, Complex b) { return a.imag() == 0 && b.imag() == 0 ? Complex(a.real() / b.real()) : a / b; }

Values different_shapes(Make& make) { return {make.tensor({2, 3}), make.tensor({2, 4})}; }

}  // namespace

std::vector<OpCase> pointwise_cases() {
  return {
      {.name = "add",
       .torch = "add.Tensor",
       .samples = add_samples,
       .reference = with_alpha(1),
       .errors = {{"shapes", different_shapes, "add: shapes [2, 3] and [2, 4] do not broadcast"},
                  {"shapes_in_torchs_words", different_shapes,
                   "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"},
                  {"alpha",
                   [](Make& make) -> Values {
                     return {make.tensor({2}, kInt32), make.tensor({2}, kInt32), Scalar(0.5)};
                   },
                   "add: For integral input tensors, argument alpha must not be a floating point number, found 0.5"}}},
      {.name = "add",
       .overload = "Scalar",
       .torch = "add.Scalar",
       .samples = number_samples,
       .reference = with_alpha(1)},
      {.name = "sub",
       .torch = "sub.Tensor",
       .samples = add_samples,
       .reference = with_alpha(-1),
       .dtypes = without(all_dtypes, {kBool}),
       .refused = {kBool},
       .errors = {{"shapes", different_shapes, "sub: shapes [2, 3] and [2, 4] do not broadcast"},
                  {"bool",
                   [](Make& make) -> Values {
                     return {make.condition({2}), make.condition({2})};
                   },
                   "sub: Subtraction, the `-` operator, with a bool tensor is not supported"}}},
      {.name = "sub",
       .overload = "Scalar",
       .torch = "sub.Scalar",
       .samples = number_samples,
       .reference = with_alpha(-1),
       .dtypes = without(all_dtypes, {kBool}),
       .refused = {kBool}},
      {.name = "mul",
       .torch = "mul.Tensor",
       .samples = binary_samples,
       .reference = elementwise([](Complex a, Complex b) { return a * b; }),
       .errors = {{"shapes", different_shapes, "mul: shapes [2, 3] and [2, 4] do not broadcast"}}},
      {.name = "mul",
       .overload = "Scalar",
       .torch = "mul.Scalar",
       .samples = number_samples,
       .reference = elementwise([](Complex a, Complex b) { return a * b; })},
      {.name = "div",
       .torch = "div.Tensor",
       .samples = binary_samples,
       .reference = elementwise(quotient),
       .result_dtype = floating,
       .errors = {{"shapes", different_shapes, "div: shapes [2, 3] and [2, 4] do not broadcast"}}},
      {.name = "div",
       .overload = "Scalar",
       .torch = "div.Scalar",
       .samples = number_samples,
       .reference = elementwise(quotient),
       .result_dtype = floating},
      {.name = "exp",
       .torch = "exp",
       .samples = unary_samples,
       .reference = elementwise([](Complex x) { return std::exp(x); }),
       .result_dtype = floating},
      {.name = "relu",
       .torch = "relu",
       .samples = unary_samples,
       .reference = elementwise([](Complex x) { return std::isnan(x.real()) || x.real() > 0 ? x : 0; }),
       .dtypes = without(all_dtypes, {kBool, kComplex64, kComplex128}),
       .refused = {kBool, kComplex64, kComplex128},
       .errors = {{"bool", [](Make& make) -> Values { return {make.condition({2})}; },
                   "relu: found dtype bool (expected a real number type; Boolean"}}},
      {.name = "neg",
       .torch = "neg",
       .samples = unary_samples,
       .reference = elementwise([](Complex x) { return -x; }),
       .dtypes = without(all_dtypes, {kBool}),
       .refused = {kBool},
       .errors = {{"bool", [](Make& make) -> Values { return {make.condition({2})}; },
                   "neg: Negation, the `-` operator, on a bool tensor is not supported"}}},
      {.name = "conj", .torch = "conj_physical", .samples = unary_samples, .reference = elementwise([](Complex x) {
                                                                             return std::conj(x);
                                                                           })},
      {.name = "where",
       .torch = "where.self",
       .samples = where_samples,
       .reference = elementwise([](Complex c, Complex a, Complex b) { return c != 0.0 ? a : b; }),
       .errors = {{"condition",
                   [](Make& make) -> Values {
                     return {make.tensor({2}, kFloat), make.tensor({2}), make.tensor({2})};
                   },
                   "where: expected condition to be a boolean tensor, but got a tensor with dtype float32"},
                  {"shapes",
                   [](Make& make) -> Values {
                     return {make.condition({2}), make.tensor({2}), make.tensor({3})};
                   },
                   "where: shapes [2] and [3] do not broadcast"}}},
  };
}

}  // namespace cresset::test
