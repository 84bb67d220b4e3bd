// tensor(…): a tensor from numbers written in the program: tensor(3.0), tensor({1, 2}), braces nested to any depth,
// vectors and arrays. Integers become int64, floating-point numbers the default dtype, everything else keeps its type.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

// Stands for the argument of tensor(…). It borrows lists and arrays, so it lives only as long as the call.
class CRESSET_API TensorLiteral {
 public:
  TensorLiteral();  // an empty list
  template <class T>
  requires std::is_arithmetic_v<T> TensorLiteral(T value) : dtype_(dtype_of_number<T>()), number_(value) {}
  TensorLiteral(Half value) : dtype_(kHalf), number_(value) {}
  TensorLiteral(BFloat16 value) : dtype_(kBFloat16), number_(value) {}
  TensorLiteral(std::complex<float> value) : dtype_(kComplexFloat), number_(value) {}
  TensorLiteral(std::complex<double> value) : dtype_(kComplexDouble), number_(value) {}
  TensorLiteral(std::initializer_list<TensorLiteral> list);
  template <class T>
  TensorLiteral(ArrayRef<T> values)
      : sizes_{static_cast<int64_t>(values.size())}, dtype_(dtype_of<T>), array_(values.data()) {}
  template <class T>
  TensorLiteral(const std::vector<T>& values) : TensorLiteral(ArrayRef<T>(values)) {}
  TensorLiteral(const std::vector<bool>& values);
  template <class T, size_t N>
  TensorLiteral(const std::array<T, N>& values) : TensorLiteral(ArrayRef<T>(values)) {}

  IntArrayRef sizes() const { return sizes_; }
  DType dtype() const { return dtype_; }
  void write(void*& to, DType dtype) const;  // its numbers in order; moves `to` behind them
  std::string text() const;                  // "{1, 2}", shortened

 private:
  template <class T>
  static constexpr DType dtype_of_number() {
    if constexpr (requires { DTypeOf<T>::value; })
      return dtype_of<T>;
    else
      return std::is_integral_v<T> ? kLong : kDouble;
  }
  bool is_number() const { return sizes_.empty(); }

  Dims sizes_;
  DType dtype_;
  Scalar number_;
  ArrayRef<TensorLiteral> list_;
  const void* array_ = nullptr;
  std::vector<uint8_t> bools_;  // a vector<bool> unpacked
};

CRESSET_API Tensor tensor(const TensorLiteral& values, const TensorOptions& options = {});

}  // namespace cresset
