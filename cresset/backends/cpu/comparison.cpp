// CPU kernels of ops/comparison.
#include "cresset/ops/comparison.h"

#include <cmath>
#include <limits>

#include "cresset/backends/cpu/binary_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <BinaryOp op>
void compare(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b}, type, kBool, {binary_simd(op, type)});
}

// Reading converts to bool.
template <BinaryOp op>
void logical(const Tensor& out, const Tensor& a, const Tensor& b) {
  run_pointwise(out, {&a, &b}, kBool, {binary_simd(op, kBool)});
}
struct Not {
  static bool call(bool x) { return !x; }
};
void logical_not(const Tensor& out, const Tensor& x) { run_pointwise(out, {&x}, kBool, {&unary_elements<Not, bool>}); }

// Of both parts, if it is complex.
template <class T, class F>
bool either(T x, F f) {
  if constexpr (is_complex(dtype_of<T>))
    return f(x.real()) | f(x.imag());
  else
    return f(x);
}
struct IsInf {
  template <class T>
  static bool call(T x) {
    return either(x, [](auto v) { return std::abs(v) == std::numeric_limits<decltype(v)>::infinity(); });
  }
};
struct IsFinite {
  template <class T>
  static bool call(T x) {
    return !either(x, [](auto v) { return !(std::abs(v) <= std::numeric_limits<decltype(v)>::max()); });
  }
};
struct IsReal {
  template <class T>
  static bool call(T x) {
    return x.imag() == 0;
  }
};
struct SignBit {
  template <class T>
  static bool call(T x) {
    return std::signbit(x);
  }
};
template <class F, unsigned kinds>
void classify(const Tensor& out, const Tensor& x) {
  DType type = compute_dtype(x.dtype());
  run_pointwise(out, {&x}, type, kBool, {unary_function<F, kinds>(type)});
}

struct Closeness {
  double rtol, atol;
  bool equal_nan;
};
template <class T>
void isclose_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  bool* y = static_cast<bool*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  const auto& closeness = *static_cast<const Closeness*>(constant);
  using R = decltype(std::abs(T()));
  const R rtol = static_cast<R>(closeness.rtol), atol = static_cast<R>(closeness.atol);
  for (int64_t i = 0; i < n; i++) {
    R error = std::abs(a[i] - b[i]);
    bool close = error <= std::numeric_limits<R>::max() && error <= atol + std::abs(T(rtol) * b[i]);
    y[i] = a[i] == b[i] || close || (closeness.equal_nan && a[i] != a[i] && b[i] != b[i]);
  }
}
void isclose(const Tensor& out, const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan,
             DType compute) {
  DType type = compute_dtype(compute);
  Closeness closeness{rtol, atol, equal_nan};
  InnerFunction inner = dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr ((kind_of<T> & (kReals | kComplexes)) != 0) return &isclose_elements<T>;
    return nullptr;
  });
  run_pointwise(out, {&a, &b}, type, kBool, {.inner = inner, .constant = &closeness, .cost = 4});
}

[[maybe_unused]] const bool registered =
    eq_kernel.set(kCPU, compare<BinaryOp::eq>) && ne_kernel.set(kCPU, compare<BinaryOp::ne>) &&
    lt_kernel.set(kCPU, compare<BinaryOp::lt>) && le_kernel.set(kCPU, compare<BinaryOp::le>) &&
    logical_and_kernel.set(kCPU, logical<BinaryOp::bit_and>) &&
    logical_or_kernel.set(kCPU, logical<BinaryOp::bit_or>) && logical_xor_kernel.set(kCPU, logical<BinaryOp::ne>) &&
    logical_not_kernel.set(kCPU, logical_not) && isinf_kernel.set(kCPU, classify<IsInf, kReals | kComplexes>) &&
    isfinite_kernel.set(kCPU, classify<IsFinite, kReals | kComplexes>) &&
    isreal_kernel.set(kCPU, classify<IsReal, kComplexes>) && signbit_kernel.set(kCPU, classify<SignBit, kReals>) &&
    isclose_kernel.set(kCPU, isclose);

}  // namespace
}  // namespace cresset::cpu
