// Array: what reference implementations work on. Row-major values in complex double and nothing else, so that a
// reference shares no code with what it checks.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::test {

using Complex = std::complex<double>;
using Index = std::vector<int64_t>;

struct Array {
  std::vector<int64_t> sizes;
  std::vector<Complex> values;
  DType dtype = DType::Undefined;  // of a reference's result: Undefined means that of the inputs

  static Array filled(std::vector<int64_t> sizes, Complex value = 0);
  static Array number(Complex value) { return {{}, {value}}; }
  int64_t numel() const { return static_cast<int64_t>(values.size()); }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  Complex& operator[](const Index& index);
  const Complex& operator[](const Index& index) const { return const_cast<Array&>(*this)[index]; }
};

int64_t count(const std::vector<int64_t>& sizes);
void for_each_index(const std::vector<int64_t>& sizes, const std::function<void(const Index&)>& f);
std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
Array broadcast_to(const Array& x, const std::vector<int64_t>& sizes);
// Each element of the result is x at from(index).
Array gathered(const Array& x, std::vector<int64_t> sizes, const std::function<Index(const Index&)>& from);
// Over the listed dimensions (none: all), which are kept as size 1 or dropped.
Array reduced(const Array& x, std::vector<int64_t> dims, bool keepdim,
              const std::function<Complex(const std::vector<Complex>&)>& f);

// Between arrays and tensors, element by element, without an op.
Array read(const Tensor& tensor);
void write(const Tensor& tensor, const Array& array);
Tensor tensor_of(const Array& array, DType dtype);

// The value that `dtype` makes of a number: rounded, wrapped, or inf.
Complex stored_as(Complex value, DType dtype);

struct Tolerance {
  double relative, absolute;
};
Tolerance tolerance_of(DType dtype, double times = 1);

// nan equals nan. `wanted` is first brought to the dtype of `found`.
::testing::AssertionResult near(const Tensor& found, const Array& wanted, double tolerance_times = 1);
::testing::AssertionResult near(const Array& found, const Array& wanted, Tolerance tolerance);
::testing::AssertionResult same_bits(const Tensor& found, const Tensor& wanted);
::testing::AssertionResult same_geometry(const Tensor& found, const Tensor& wanted);  // sizes, strides, dtype

}  // namespace cresset::test
