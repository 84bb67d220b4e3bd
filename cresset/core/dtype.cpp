// Names, promotion and the default dtype.
#include "cresset/core/dtype.h"

#include <atomic>
#include <ostream>

#include "cresset/core/error.h"

namespace cresset {

const char* name_of(DType dtype) {
  constexpr const char* names[] = {"uint8",   "int8",      "int16",      "int32", "int64",    "float16",  "float32",
                                   "float64", "complex64", "complex128", "bool",  "bfloat16", "undefined"};
  return names[static_cast<int>(dtype)];
}

const char* toString(DType dtype) {
  constexpr const char* names[] = {"Byte",   "Char",         "Short",         "Int",  "Long",     "Half",     "Float",
                                   "Double", "ComplexFloat", "ComplexDouble", "Bool", "BFloat16", "Undefined"};
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << toString(dtype); }

std::string_view TypeMeta::name() const {
  constexpr const char* names[] = {"unsigned char",
                                   "signed char",
                                   "short int",
                                   "int",
                                   "long int",
                                   "c10::Half",
                                   "float",
                                   "double",
                                   "c10::complex<float>",
                                   "c10::complex<double>",
                                   "bool",
                                   "c10::BFloat16",
                                   "nullptr (uninitialized)"};
  return names[static_cast<int>(dtype_)];
}

std::ostream& operator<<(std::ostream& out, TypeMeta meta) { return out << meta.name(); }

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::Undefined || b == DType::Undefined) return a == DType::Undefined ? b : a;
  if (is_complex(a) || is_complex(b)) {
    bool wide = a == kComplexDouble || b == kComplexDouble || a == kDouble || b == kDouble;
    return wide ? kComplexDouble : kComplexFloat;
  }
  if (is_floating_point(a) || is_floating_point(b)) {
    if (!is_floating_point(a)) return b;
    if (!is_floating_point(b)) return a;
    if (a == kDouble || b == kDouble) return kDouble;
    return kFloat;  // two different ones of float, half and bfloat16
  }
  if (a == kBool) return b;
  if (b == kBool) return a;
  if (a == kByte || b == kByte) {  // the only unsigned one: a signed type of its own width cannot hold it
    DType other = a == kByte ? b : a;
    return other == kChar ? kShort : other;
  }
  return a > b ? a : b;  // signed integers stand in the order of their width
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating_point(from) && is_integral(to, true)) return false;
  return to != kBool || from == kBool;
}

static std::atomic<DType> current_default_dtype{kFloat};

void detail::set_any_default_dtype(DType dtype) { current_default_dtype = dtype; }

DType default_dtype() { return current_default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(DType dtype) {
  CRESSET_CHECK_AS(
      TypeError, is_floating_point(dtype), "set_default_dtype: found ", name_of(dtype),
      " (only floating-point types are supported as the default type: float16, bfloat16, float32 and float64)");
  current_default_dtype = dtype;
}

}  // namespace cresset
