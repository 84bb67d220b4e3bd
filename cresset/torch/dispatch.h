// AT_DISPATCH_…: a body for each element type, in which scalar_t is the C++ type.
#pragma once

#include "cresset/core/dtype.h"
#include "cresset/core/error.h"

namespace cresset::detail {

template <DType dtype>
auto element_of() {
#define CRESSET_ELEMENT_OF(T, Name) \
  if constexpr (dtype == DType::Name) return T();
  CRESSET_FOR_EACH_DTYPE(CRESSET_ELEMENT_OF)
#undef CRESSET_ELEMENT_OF
}
template <DType dtype>
using ElementType = decltype(element_of<dtype>());

}  // namespace cresset::detail

#define CRESSET_DISPATCH_CASE(enumerator, name, ...)                          \
  case enumerator: {                                                          \
    using name [[maybe_unused]] = ::cresset::detail::ElementType<enumerator>; \
    return __VA_ARGS__();                                                     \
  }
#define AT_DISPATCH_CASE(enumerator, ...) CRESSET_DISPATCH_CASE(enumerator, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                            \
  [&] {                                                                                                                \
    const ::cresset::DType dispatched_dtype = TYPE;                                                                    \
    switch (dispatched_dtype) {                                                                                        \
      __VA_ARGS__                                                                                                      \
      default:                                                                                                         \
        throw ::cresset::NotImplementedError(                                                                          \
            ::cresset::message_of('"', NAME, "\" not implemented for '", ::cresset::toString(dispatched_dtype), "'")); \
    }                                                                                                                  \
  }()
#define AT_DISPATCH_CASE_FLOATING_TYPES(...)        \
  AT_DISPATCH_CASE(::cresset::kDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                \
  AT_DISPATCH_CASE(::cresset::kComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)       \
  AT_DISPATCH_CASE(::cresset::kByte, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kChar, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kShort, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kInt, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::cresset::kLong, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)        \
  AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)        \
  AT_DISPATCH_CASE(::cresset::kHalf, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...) \
  AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...) \
  AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__)           \
  AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
// ... and with one to four more.
#define CRESSET_CASES_AND(SET, A, ...) AT_DISPATCH_CASE_##SET(__VA_ARGS__) AT_DISPATCH_CASE(A, __VA_ARGS__)
#define CRESSET_CASES_AND2(SET, A, B, ...) CRESSET_CASES_AND(SET, A, __VA_ARGS__) AT_DISPATCH_CASE(B, __VA_ARGS__)
#define CRESSET_CASES_AND3(SET, A, B, C, ...) \
  CRESSET_CASES_AND2(SET, A, B, __VA_ARGS__) AT_DISPATCH_CASE(C, __VA_ARGS__)
#define CRESSET_CASES_AND4(SET, A, B, C, D, ...) \
  CRESSET_CASES_AND3(SET, A, B, C, __VA_ARGS__) AT_DISPATCH_CASE(D, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(...) CRESSET_CASES_AND(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(...) CRESSET_CASES_AND2(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES_AND(...) CRESSET_CASES_AND(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES_AND(...) CRESSET_CASES_AND(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND(...) CRESSET_CASES_AND(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND2(...) CRESSET_CASES_AND2(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND3(...) CRESSET_CASES_AND3(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND1(...) CRESSET_CASES_AND(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND2(...) \
  CRESSET_CASES_AND2(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES_AND3(...) \
  CRESSET_CASES_AND3(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND(...) CRESSET_CASES_AND(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND2(...) CRESSET_CASES_AND2(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND3(...) CRESSET_CASES_AND3(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX_AND4(...) CRESSET_CASES_AND4(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                                  \
  AT_DISPATCH_SWITCH(TYPE, NAME,                                                  \
                     CRESSET_DISPATCH_CASE(::cresset::kInt, index_t, __VA_ARGS__) \
                         CRESSET_DISPATCH_CASE(::cresset::kLong, index_t, __VA_ARGS__))
#define CRESSET_DISPATCH(SET, TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_##SET(__VA_ARGS__))
#define CRESSET_DISPATCH_AND(SET, A, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_AND(SET, A, __VA_ARGS__))
#define CRESSET_DISPATCH_AND2(SET, A, B, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_AND2(SET, A, B, __VA_ARGS__))
#define CRESSET_DISPATCH_AND3(SET, A, B, C, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_AND3(SET, A, B, C, __VA_ARGS__))
#define CRESSET_DISPATCH_AND4(SET, A, B, C, D, TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_AND4(SET, A, B, C, D, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES(...) CRESSET_DISPATCH(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(...) CRESSET_DISPATCH_AND(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(...) CRESSET_DISPATCH_AND2(FLOATING_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(...) CRESSET_DISPATCH(FLOATING_TYPES_AND_HALF, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(...) CRESSET_DISPATCH(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(...) CRESSET_DISPATCH_AND(INTEGRAL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(...) CRESSET_DISPATCH(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES_AND(...) CRESSET_DISPATCH_AND(COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(...) CRESSET_DISPATCH(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_HALF(...) CRESSET_DISPATCH_AND(ALL_TYPES, ::cresset::kHalf, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(...) CRESSET_DISPATCH_AND(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(...) CRESSET_DISPATCH_AND2(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(...) CRESSET_DISPATCH_AND3(ALL_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(...) CRESSET_DISPATCH(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND1(...) CRESSET_DISPATCH_AND(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(...) CRESSET_DISPATCH_AND2(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(...) CRESSET_DISPATCH_AND3(FLOATING_AND_COMPLEX_TYPES, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(...) CRESSET_DISPATCH(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(...) CRESSET_DISPATCH_AND(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(...) CRESSET_DISPATCH_AND2(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(...) CRESSET_DISPATCH_AND3(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(...) CRESSET_DISPATCH_AND4(ALL_TYPES_AND_COMPLEX, __VA_ARGS__)

// ---- a macro of two arguments, the C++ type and the enumerator, for each element type
#define AT_FORALL_INT_TYPES(_) _(uint8_t, Byte) _(int8_t, Char) _(int16_t, Short) _(int, Int) _(int64_t, Long)
#define AT_FORALL_SCALAR_TYPES(_) AT_FORALL_INT_TYPES(_) _(float, Float) _(double, Double)
#define AT_FORALL_COMPLEX_TYPES(_) _(std::complex<float>, ComplexFloat) _(std::complex<double>, ComplexDouble)
#define AT_FORALL_SCALAR_TYPES_AND(A, _) \
  AT_FORALL_SCALAR_TYPES(_)              \
  _(::cresset::detail::ElementType<::cresset::ScalarType::A>, A)
#define AT_FORALL_SCALAR_TYPES_AND2(A, B, _) \
  AT_FORALL_SCALAR_TYPES_AND(A, _)           \
  _(::cresset::detail::ElementType<::cresset::ScalarType::B>, B)
#define AT_FORALL_SCALAR_TYPES_AND3(A, B, C, _) \
  AT_FORALL_SCALAR_TYPES_AND2(A, B, _)          \
  _(::cresset::detail::ElementType<::cresset::ScalarType::C>, C)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(_) CRESSET_FOR_EACH_DTYPE(_)
#define AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_EXCEPT_COMPLEX_HALF(_) CRESSET_FOR_EACH_DTYPE(_)
