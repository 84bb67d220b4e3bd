// Scalar: a number of unknown type, as ops take them. It remembers whether it was bool, integer, floating or complex,
// since type promotion asks.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <type_traits>

#include "cresset/core/dtype.h"
#include "cresset/core/export.h"

namespace cresset {

class Tensor;

class CRESSET_API Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      kind_ = Kind::boolean;
      integer_ = value;
    } else if constexpr (std::is_integral_v<T>) {
      kind_ = Kind::integer;
      integer_ = static_cast<int64_t>(value);
    } else {
      kind_ = Kind::floating;
      real_ = static_cast<double>(value);
    }
  }
  Scalar(Half value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  Scalar(BFloat16 value) : Scalar(static_cast<double>(static_cast<float>(value))) {}
  Scalar(std::complex<double> value) : kind_(Kind::complex), real_(value.real()), imaginary_(value.imag()) {}
  Scalar(std::complex<float> value) : Scalar(std::complex<double>(value)) {}
  explicit Scalar(const Tensor& zero_dim);

  bool isBoolean() const { return kind_ == Kind::boolean; }
  bool isIntegral(bool include_bool) const {
    return kind_ == Kind::integer || (include_bool && kind_ == Kind::boolean);
  }
  bool isFloatingPoint() const { return kind_ == Kind::floating; }
  bool isComplex() const { return kind_ == Kind::complex; }
  DType type() const {
    constexpr DType types[] = {kBool, kLong, kDouble, kComplexDouble};
    return types[static_cast<int>(kind_)];
  }

  // Refuses what T cannot hold: numbers out of range, nan in an integer, an imaginary part. Fractions are cut off, and
  // negative integers wrap into uint8, as in PyTorch.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>) {
      using R = typename T::value_type;
      return T(real_to<R>(), kind_ == Kind::complex ? from_double<R>(imaginary_) : R(0));
    } else if constexpr (std::is_same_v<T, bool>) {
      return kind_ <= Kind::integer ? integer_ != 0 : real_ != 0 || (kind_ == Kind::complex && imaginary_ != 0);
    } else {
      if (CRESSET_UNLIKELY(kind_ == Kind::complex && imaginary_ != 0)) does_not_fit(dtype_or_undefined<T>());
      return real_to<T>();
    }
  }
  // The real part.
  double toDouble() const { return kind_ <= Kind::integer ? static_cast<double>(integer_) : real_; }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  std::complex<double> toComplexDouble() const { return to<std::complex<double>>(); }

  Scalar operator-() const {
    if (kind_ <= Kind::integer) return -integer_;
    if (kind_ == Kind::floating) return -real_;
    return std::complex<double>(-real_, -imaginary_);
  }
  bool equal(double value) const { return !isComplex() && toDouble() == value; }
  Scalar conj() const { return isComplex() ? Scalar(std::complex<double>(real_, -imaginary_)) : *this; }

 private:
  enum class Kind : uint8_t { boolean, integer, floating, complex };

  template <class T>
  T real_to() const {
    return kind_ <= Kind::integer ? from_integer<T>(integer_) : from_double<T>(real_);
  }
  template <class T>
  T from_integer(int64_t value) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int64_t)) {
      constexpr int64_t most = std::numeric_limits<T>::max();
      constexpr int64_t least = std::is_signed_v<T> ? int64_t{std::numeric_limits<T>::min()} : -most;
      if (CRESSET_UNLIKELY(value < least || value > most)) does_not_fit(dtype_or_undefined<T>());
      return static_cast<T>(value);
    } else if constexpr (sizeof(T) < sizeof(float)) {
      return from_double<T>(static_cast<double>(value));
    } else {
      return static_cast<T>(value);
    }
  }
  template <class T>
  T from_double(double value) const {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr bool wide = sizeof(T) == sizeof(int64_t);  // its largest value is no double
      constexpr double most = wide ? 0x1.fffffffffffffp62 : static_cast<double>(std::numeric_limits<T>::max());
      constexpr double least = static_cast<double>(std::numeric_limits<T>::min());
      if (CRESSET_UNLIKELY(!(value >= least && value <= most))) does_not_fit(dtype_or_undefined<T>());
      return static_cast<T>(value);
    } else {
      const double most = static_cast<float>(std::numeric_limits<T>::max());
      if (CRESSET_UNLIKELY((value > most || value < -most) && !std::isinf(value))) does_not_fit(dtype_of<T>);
      return T(static_cast<float>(value));
    }
  }
  template <class T>
  static constexpr DType dtype_or_undefined() {
    if constexpr (requires { DTypeOf<T>::value; })
      return dtype_of<T>;
    else
      return DType::Undefined;
  }
  [[noreturn]] void does_not_fit(DType wanted) const;

  Kind kind_;
  union {
    int64_t integer_;
    double real_;
  };
  double imaginary_ = 0;
};

CRESSET_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace cresset
