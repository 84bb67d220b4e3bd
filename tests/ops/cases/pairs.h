// Samples that several files of cases share: pairs of operands, and operands with numbers.
#pragma once

#include <cmath>

#include "tests/ops/cases/cases.h"

namespace cresset::test {

// f of every element, as the dtype stores it.
inline Tensor changed(const Tensor& x, const std::function<Complex(Complex)>& f) {
  Array values = read(x);
  for (Complex& value : values.values) value = f(value);
  Tensor y = tensor_of(values, x.dtype());
  return y;
}
inline Values changed_at(Values values, size_t at, const std::function<Complex(Complex)>& f) {
  values[at] = changed(std::get<Tensor>(values[at]), f);
  return values;
}

// Pairs in which no two elements are equal (as far as the dtype allows), so that maxima and comparisons have a slope.
inline std::vector<Sample> apart_samples(Make& make) {
  std::vector<Sample> samples = binary_samples(make);
  if (is_integral(make.dtype, true)) return samples;
  for (Sample& sample : samples)
    if (sample.label != "inf and nan")
      sample.arguments = changed_at(sample.arguments, 1, [](Complex x) { return x + 0.0137; });
  return samples;
}
// Pairs whose second operand is never an integer zero.
inline std::vector<Sample> divisor_samples(Make& make) {
  std::vector<Sample> samples = apart_samples(make);
  if (!is_integral(make.dtype, true)) return samples;
  for (Sample& sample : samples)
    sample.arguments = changed_at(sample.arguments, 1, [](Complex x) { return x == 0.0 ? Complex(3) : x; });
  return samples;
}
// Pairs with a positive first operand.
inline std::vector<Sample> positive_samples(Make& make) {
  std::vector<Sample> samples = apart_samples(make);
  if (is_complex(make.dtype)) return samples;
  for (Sample& sample : samples)
    if (sample.label != "inf and nan")
      sample.arguments = changed_at(sample.arguments, 0, [](Complex x) { return std::abs(x.real()) + 0.25; });
  return samples;
}

// The pairs and a third operand that broadcasts with them.
inline std::vector<Sample> three_samples(Make& make) {
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

inline Scalar number_for(const Make& make) {
  return is_complex(make.dtype)          ? Scalar(Complex(1.5, -0.5))
         : is_floating_point(make.dtype) ? Scalar(1.53125)
         : make.dtype == kBool           ? Scalar(true)
                                         : Scalar(3);
}
// A tensor of each shape and a number.
inline std::vector<Sample> with_number(Make& make) {
  return shaped_samples(make, [&](const Tensor&) -> Values { return {number_for(make)}; });
}
// A number and a tensor of each shape.
inline std::vector<Sample> number_first(Make& make) {
  std::vector<Sample> samples = unary_samples(make);
  for (Sample& sample : samples) sample.arguments.insert(sample.arguments.begin(), number_for(make));
  return samples;
}
inline Samples with_arguments(Values rest) {
  return [rest](Make& make) { return shaped_samples(make, [&](const Tensor&) { return rest; }); };
}

inline Reference real_pair(std::function<double(double, double)> f) {
  return elementwise([f](Complex a, Complex b) { return Complex(f(a.real(), b.real())); });
}
inline Reference real_unary(std::function<double(double)> f) {
  return elementwise([f](Complex x) { return Complex(f(x.real())); });
}
inline DType to_bool(DType) { return kBool; }

// Functions, since the list of cases is made before this file's globals are.
inline std::vector<DType> complexes() { return {kComplex64, kComplex128}; }
inline std::vector<DType> integers() { return {kUInt8, kInt8, kInt16, kInt32, kInt64}; }
inline std::vector<DType> integers_and_bool() { return {kUInt8, kInt8, kInt16, kInt32, kInt64, kBool}; }
inline std::vector<DType> numbers() {
  return {kUInt8, kInt8, kInt16, kInt32, kInt64, kFloat16, kBFloat16, kFloat, kDouble};
}
inline std::vector<DType> all_but(const std::vector<DType>& left_out) {
  std::vector<DType> rest;
  for (DType dtype : all_dtypes)
    if (std::find(left_out.begin(), left_out.end(), dtype) == left_out.end()) rest.push_back(dtype);
  return rest;
}
inline std::vector<DType> not_floats() { return all_but(floats); }
inline std::vector<DType> not_real_floats() { return all_but(real_floats); }
inline std::vector<DType> not_numbers() { return {kBool, kComplex64, kComplex128}; }

}  // namespace cresset::test
