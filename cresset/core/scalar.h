// Scalar: a number of unknown type, as ops take them. It remembers whether it was bool, integer, floating or complex,
// since type promotion asks.
#pragma once

#include <complex>
#include <cstdint>
#include <iosfwd>
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

  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>) {
      using R = typename T::value_type;
      return T(static_cast<R>(toDouble()), static_cast<R>(kind_ == Kind::complex ? imaginary_ : 0.0));
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(static_cast<float>(toDouble()));
    } else if constexpr (std::is_same_v<T, bool>) {
      return kind_ <= Kind::integer ? integer_ != 0 : real_ != 0 || (kind_ == Kind::complex && imaginary_ != 0);
    } else {
      return kind_ <= Kind::integer ? static_cast<T>(integer_) : static_cast<T>(real_);
    }
  }
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
  Kind kind_;
  union {
    int64_t integer_;
    double real_;
  };
  double imaginary_ = 0;
};

CRESSET_API std::ostream& operator<<(std::ostream& out, const Scalar& scalar);

}  // namespace cresset
