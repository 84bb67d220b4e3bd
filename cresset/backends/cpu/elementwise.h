// Inner functions from a formula for one element, for ops that gain nothing from a vector function of their own: the
// compiler vectorises what it can for the oldest CPU. F::call(a, b) is the formula.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {

// The kinds of element types that a formula is compiled for. Half types never come: they are handed over as floats.
enum Kinds : unsigned { kReals = 1, kIntegers = 2, kBools = 4, kComplexes = 8, kNumbers = kReals | kIntegers };

template <class T>
inline constexpr bool kHalfType = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr unsigned kind_of = kHalfType<T>              ? 0u
                                    : std::is_same_v<T, bool> ? kBools
                                    : std::is_integral_v<T>   ? kIntegers
                                    : is_complex(dtype_of<T>) ? kComplexes
                                                              : kReals;

template <class F, class T>
void unary_elements(void* out, const void* const* in, int64_t n, const void*) {
  auto* y = static_cast<decltype(F::call(T()))*>(out);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++) y[i] = F::call(x[i]);
}
template <class F, class T>
void binary_elements(void* out, const void* const* in, int64_t n, const void*) {
  auto* y = static_cast<decltype(F::call(T(), T()))*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; i++) y[i] = F::call(a[i], b[i]);
}

// The loop of F for a type, null where F has it not.
template <class F, unsigned kinds>
InnerFunction unary_function(DType type) {
  return dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr ((kind_of<T> & kinds) != 0) return &unary_elements<F, T>;
    return nullptr;
  });
}
template <class F, unsigned kinds>
InnerFunction binary_function(DType type) {
  return dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr ((kind_of<T> & kinds) != 0) return &binary_elements<F, T>;
    return nullptr;
  });
}

// A kernel that computes F in the compute type.
template <class F, unsigned kinds, int cost>
void binary_kernel(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b}, type, {.inner = binary_function<F, kinds>(type), .cost = cost});
}
template <class F, unsigned kinds, int cost>
void unary_kernel(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x}, type, {.inner = unary_function<F, kinds>(type), .cost = cost});
}

// Up to three constants of an op in the compute type. Numbers that it cannot hold are refused.
struct Constants {
  alignas(16) char bytes[48];
  Constants(DType dtype, std::initializer_list<Scalar> values) {
    dispatch(dtype, [&](auto* p) {
      using T = std::remove_pointer_t<decltype(p)>;
      T* to = reinterpret_cast<T*>(bytes);
      for (const Scalar& value : values) *to++ = value.to<T>();
    });
  }
};

}  // namespace cresset::cpu
