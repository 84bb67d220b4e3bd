// Element types, their C++ types, and PyTorch's promotion rules. Enumerators carry libtorch's names.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

#include "cresset/core/export.h"
#include "cresset/core/half.h"

namespace cresset {

enum class ScalarType : uint8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  ComplexFloat,
  ComplexDouble,
  Bool,
  BFloat16,
  Undefined
};
using Dtype = ScalarType;
using DType = ScalarType;
inline constexpr int kDTypes = 12;

inline constexpr DType kUInt8 = DType::Byte, kByte = kUInt8, kInt8 = DType::Char, kChar = kInt8;
inline constexpr DType kInt16 = DType::Short, kShort = kInt16, kInt32 = DType::Int, kInt = kInt32;
inline constexpr DType kInt64 = DType::Long, kLong = kInt64, kFloat16 = DType::Half, kHalf = kFloat16, kF16 = kFloat16;
inline constexpr DType kFloat32 = DType::Float, kFloat = kFloat32, kF32 = kFloat32;
inline constexpr DType kFloat64 = DType::Double, kDouble = kFloat64, kF64 = kFloat64;
inline constexpr DType kComplexFloat = DType::ComplexFloat, kComplex64 = kComplexFloat;
inline constexpr DType kComplexDouble = DType::ComplexDouble, kComplex128 = kComplexDouble;
inline constexpr DType kBool = DType::Bool, kBFloat16 = DType::BFloat16, kBF16 = kBFloat16;

// CRESSET_FOR_EACH_DTYPE(macro): macro(C++ type, enumerator), in the enumerators' order.
// clang-format off
#define CRESSET_FOR_EACH_DTYPE(_)                                                                                \
  _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int32_t, Int) _(int64_t, Long) _(::cresset::Half, Half)   \
  _(float, Float) _(double, Double) _(std::complex<float>, ComplexFloat) _(std::complex<double>, ComplexDouble)  \
  _(bool, Bool) _(::cresset::BFloat16, BFloat16)
// clang-format on

template <class T>
struct DTypeOf;
#define CRESSET_DTYPE_OF(T, Name)               \
  template <>                                   \
  struct DTypeOf<T> {                           \
    static constexpr DType value = DType::Name; \
  };
CRESSET_FOR_EACH_DTYPE(CRESSET_DTYPE_OF)
#undef CRESSET_DTYPE_OF
template <>
struct DTypeOf<long long> {
  static constexpr DType value = DType::Long;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

constexpr size_t element_size(DType dtype) {
  constexpr uint8_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 8, 16, 1, 2, 0};
  return sizes[static_cast<int>(dtype)];
}
constexpr size_t elementSize(DType dtype) { return element_size(dtype); }
constexpr bool is_floating_point(DType t) { return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16; }
constexpr bool is_complex(DType t) { return t == kComplexFloat || t == kComplexDouble; }
constexpr bool is_integral(DType t, bool include_bool) { return t <= DType::Long || (include_bool && t == kBool); }
constexpr bool isFloatingType(DType t) { return is_floating_point(t); }
constexpr bool isComplexType(DType t) { return is_complex(t); }
constexpr bool isIntegralType(DType t, bool include_bool) { return is_integral(t, include_bool); }
constexpr bool is_signed(DType t) { return t != kUInt8 && t != kBool; }
// What gradients may have.
constexpr bool is_differentiable(DType t) { return is_floating_point(t) || is_complex(t); }
// The real type of a complex one's parts.
constexpr DType to_real(DType t) { return t == kComplexFloat ? kFloat : t == kComplexDouble ? kDouble : t; }
constexpr DType to_complex(DType t) { return is_complex(t) ? t : t == kDouble ? kComplexDouble : kComplexFloat; }

CRESSET_API const char* name_of(DType dtype);   // "float32": Cresset's messages and Python's names
CRESSET_API const char* toString(DType dtype);  // "Float": libtorch's
CRESSET_API std::ostream& operator<<(std::ostream& out, DType dtype);

// What Tensor::dtype() and TensorOptions::dtype() give: an element type that prints as C++ calls it ("float", "long
// int"), and has the members that libtorch's programs ask for.
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(DType dtype) : dtype_(dtype) {}
  template <class T>
  static constexpr TypeMeta Make() {
    return TypeMeta(dtype_of<T>);
  }
  static constexpr TypeMeta fromScalarType(DType dtype) { return TypeMeta(dtype); }
  constexpr TypeMeta& operator=(DType dtype) { return dtype_ = dtype, *this; }

  constexpr operator DType() const { return dtype_; }
  constexpr DType toScalarType() const { return dtype_; }
  constexpr bool isScalarType() const { return dtype_ != DType::Undefined; }
  constexpr bool isScalarType(DType dtype) const { return dtype_ == dtype; }
  template <class T>
  constexpr bool Match() const {
    return dtype_ == dtype_of<T>;
  }
  constexpr size_t itemsize() const { return element_size(dtype_); }
  CRESSET_API std::string_view name() const;

 private:
  DType dtype_ = DType::Undefined;
};
CRESSET_API std::ostream& operator<<(std::ostream& out, TypeMeta meta);

CRESSET_API DType promote_types(DType a, DType b);
CRESSET_API bool can_cast(DType from, DType to);

CRESSET_API DType default_dtype();
inline TypeMeta get_default_dtype() { return TypeMeta(default_dtype()); }
CRESSET_API void set_default_dtype(DType dtype);
namespace detail {
CRESSET_API void set_any_default_dtype(DType dtype);  // integers as well: libtorch's form, which takes a TypeMeta
}
// Half and bfloat16 compute in float; everything else in itself.
constexpr DType compute_dtype(DType t) { return t == kHalf || t == kBFloat16 ? kFloat : t; }

// Calls f with a null pointer of the C++ type: dispatch(dtype, [&](auto* p) { using T =
// std::remove_pointer_t<decltype(p)>; ... }).
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
#define CRESSET_DISPATCH_CASE(T, Name) \
  case DType::Name:                    \
    return f(static_cast<T*>(nullptr));
    CRESSET_FOR_EACH_DTYPE(CRESSET_DISPATCH_CASE)
#undef CRESSET_DISPATCH_CASE
    case DType::Undefined:
      break;
  }
  __builtin_unreachable();
}

}  // namespace cresset
