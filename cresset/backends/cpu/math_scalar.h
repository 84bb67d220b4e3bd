// Loops over a function of one number that the C library or a formula gives: one instantiation per type.
#pragma once

#include <concepts>

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {

template <class T, auto f>
void scalar_elements(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++) y[i] = static_cast<T>(f(x[i]));
}

// For float and double, and the complex types if f takes them. A function of double serves float, too.
template <auto f>
InnerFunction scalar_function(DType type) {
  if (type == kFloat) return &scalar_elements<float, f>;
  if (type == kDouble) return &scalar_elements<double, f>;
  if constexpr (requires { f(std::complex<float>()); }) {
    if (type == kComplexFloat) return &scalar_elements<std::complex<float>, f>;
    if (type == kComplexDouble) return &scalar_elements<std::complex<double>, f>;
  }
  return nullptr;
}

// For integers and complex types.
template <auto f>
InnerFunction number_function(DType type) {
  return dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_integral_v<T> || is_complex(dtype_of<T>))
      return &scalar_elements<T, f>;
    else
      return nullptr;
  });
}

}  // namespace cresset::cpu
