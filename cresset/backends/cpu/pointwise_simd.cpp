// Inner functions: plain loops, which the compiler vectorises for each target. Every file that dispatches by target has
// this shape.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/pointwise_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/bfloat16-inl.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
inline constexpr bool kComplex = is_complex(dtype_of<T>);

template <class T>
struct Add {
  static T call(T a, T b, T) {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};
template <class T>
struct AddScaled {
  static T call(T a, T b, T alpha) {
    if constexpr (std::is_same_v<T, bool>)
      return a || (b && alpha);
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b) * static_cast<uint64_t>(alpha));
    else
      return a + alpha * b;
  }
};
template <class T>
struct Mul {
  static T call(T a, T b, T) {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (kComplex<T>)
      return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
      return a * b;
  }
};
template <class T>
struct Div {  // never of integers: the shape rule makes them floating-point numbers
  static T call(T a, T b, T) {
    if constexpr (std::is_integral_v<T>)
      return a;
    else
      return a / b;
  }
};
template <class T>
struct ReluBackward {
  static T call(T g, T y, T) {
    if constexpr (kComplex<T>)
      return g;
    else
      return y <= T(0) ? T(0) : g;  // at nan g, as in PyTorch
  }
};
template <class T>
struct Relu {
  static T call(T x) {
    if constexpr (kComplex<T> || std::is_same_v<T, bool>)
      return x;
    else
      return x < T(0) ? T(0) : x;  // nan stays
  }
};
template <class T>
struct Neg {
  static T call(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
    else
      return -x;
  }
};
template <class T>
struct Conj {
  static T call(T x) {
    if constexpr (kComplex<T>)
      return std::conj(x);
    else
      return x;
  }
};

// Left to itself the compiler fuses the multiplication and the addition in the body of the loop but not in its tail,
// and a product would depend on where it stands (and so on the number of threads).
template <class T>
void complex_mul(T* y, const T* a, const T* b, int64_t n) {
  using R = typename T::value_type;
  const hn::ScalableTag<R> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto product = [&](const R* p, const R* q) {
    auto u = hn::LoadU(d, p), v = hn::LoadU(d, q);
    auto left = hn::Mul(hn::DupEven(u), v), right = hn::Mul(hn::DupOdd(u), hn::Reverse2(d, v));
    return hn::OddEven(hn::Add(left, right), hn::Sub(left, right));
  };
  const R *p = reinterpret_cast<const R*>(a), *q = reinterpret_cast<const R*>(b);
  R* to = reinterpret_cast<R*>(y);
  int64_t i = 0, count = 2 * n;
  for (; i + lanes <= count; i += lanes) hn::StoreU(product(p + i, q + i), d, to + i);
  if (i == count) return;
  R left[64] = {}, right[64] = {};
  std::copy(p + i, p + count, left);
  std::copy(q + i, q + count, right);
  hn::StoreU(product(left, right), d, left);
  std::copy(left, left + (count - i), to + i);
}

template <class T, template <class> class F>
void binary(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  if constexpr (kComplex<T> && std::is_same_v<F<T>, Mul<T>>) return complex_mul(y, a, b, n);
  T c = constant ? *static_cast<const T*>(constant) : T();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = F<T>::call(a[i], b[i], c);
}
template <class T, template <class> class F>
void unary(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = F<T>::call(x[i]);
}

template <class T>
void where(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const bool* c = static_cast<const bool*>(in[0]);
  const T *a = static_cast<const T*>(in[1]), *b = static_cast<const T*>(in[2]);
  for (int64_t i = 0; i < n; i++) y[i] = c[i] ? a[i] : b[i];
}

// Writes past the cache, which saves reading each line before it is overwritten.
template <class T, template <class> class F>
void binary_streaming(void* out, const void* const* in, int64_t n, const void* constant) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  if (reinterpret_cast<uintptr_t>(y) % 64 != 0) return binary<T, F>(out, in, n, constant);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    if constexpr (std::is_same_v<F<T>, Add<T>>)
      hn::Stream(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
    else
      hn::Stream(hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  }
  hwy::FlushStream();
  for (; i < n; i++) y[i] = F<T>::call(a[i], b[i], T());
}

// ---- bfloat16 as it stands in memory; what has no function here goes through float
template <bool multiplies>
void bfloat16_binary(void* out, const void* const* in, int64_t n, const void*) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* y = static_cast<BFloat16*>(out);
  const auto *a = static_cast<const BFloat16*>(in[0]), *b = static_cast<const BFloat16*>(in[1]);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto left = load_numbers(d, a + i), right = load_numbers(d, b + i);
    store_numbers(multiplies ? hn::Mul(left, right) : hn::Add(left, right), d, y + i);
  }
  for (; i < n; i++) {
    const float left = a[i], right = b[i];
    y[i] = multiplies ? left * right : left + right;
  }
}
// As bits, the numbers below zero go from 0x8001 to 0xff80 (-infinity); what is above them is nan.
void bfloat16_relu(void* out, const void* const* in, int64_t n, const void*) {
  auto* y = static_cast<uint16_t*>(out);
  const auto* x = static_cast<const uint16_t*>(in[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = static_cast<uint16_t>(x[i] - 0x8001) <= 0x7f7f ? uint16_t{0} : x[i];
}
void bfloat16_relu_backward(void* out, const void* const* in, int64_t n, const void*) {
  auto* dx = static_cast<uint16_t*>(out);
  const auto *g = static_cast<const uint16_t*>(in[0]), *y = static_cast<const uint16_t*>(in[1]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    const bool above = y[i] != 0 && static_cast<uint16_t>(y[i] - 0x8000) > 0x7f80;
    dx[i] = above ? g[i] : uint16_t{0};
  }
}
InnerFunction find_bfloat16(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::add:
      return &bfloat16_binary<false>;
    case PointwiseOp::mul:
      return &bfloat16_binary<true>;
    case PointwiseOp::relu:
      return &bfloat16_relu;
    case PointwiseOp::relu_backward:
      return &bfloat16_relu_backward;
    case PointwiseOp::where:
      return &where<BFloat16>;
    default:
      return nullptr;
  }
}

template <class T>
InnerFunction find_typed(PointwiseOp op) {
  switch (op) {
    case PointwiseOp::add:
      return &binary<T, Add>;
    case PointwiseOp::add_scaled:
      return &binary<T, AddScaled>;
    case PointwiseOp::mul:
      return &binary<T, Mul>;
    case PointwiseOp::div:
      return &binary<T, Div>;
    case PointwiseOp::relu:
      return &unary<T, Relu>;
    case PointwiseOp::neg:
      return &unary<T, Neg>;
    case PointwiseOp::conj:
      return &unary<T, Conj>;
    case PointwiseOp::relu_backward:
      return &binary<T, ReluBackward>;
    case PointwiseOp::where:
      return &where<T>;
    case PointwiseOp::count:
      break;
  }
  return nullptr;
}

InnerFunction find_inner(PointwiseOp op, DType compute) {
  return dispatch(compute, [&](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_same_v<T, Half>)
      return op == PointwiseOp::where ? &where<T> : nullptr;  // compute in float
    else if constexpr (std::is_same_v<T, BFloat16>)
      return find_bfloat16(op);
    else
      return find_typed<T>(op);
  });
}
InnerFunction find_streaming(PointwiseOp op, DType compute) {
  if (compute == kFloat && op == PointwiseOp::add) return &binary_streaming<float, Add>;
  if (compute == kFloat && op == PointwiseOp::mul) return &binary_streaming<float, Mul>;
  if (compute == kDouble && op == PointwiseOp::add) return &binary_streaming<double, Add>;
  if (compute == kDouble && op == PointwiseOp::mul) return &binary_streaming<double, Mul>;
  return nullptr;
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_inner);
HWY_EXPORT(find_streaming);

// Looked up once and kept: the tables are small.
static constinit std::atomic<InnerFunction> inner_table[static_cast<int>(PointwiseOp::count)][kDTypes] = {};
static constinit std::atomic<InnerFunction> streaming_table[static_cast<int>(PointwiseOp::count)][kDTypes] = {};

InnerFunction inner_function(PointwiseOp op, DType compute) {
  auto& slot = inner_table[static_cast<int>(op)][static_cast<int>(compute)];
  InnerFunction found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = HWY_DYNAMIC_DISPATCH(find_inner)(op, compute);
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}
InnerFunction streaming_function(PointwiseOp op, DType compute) {
  auto& slot = streaming_table[static_cast<int>(op)][static_cast<int>(compute)];
  InnerFunction found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = HWY_DYNAMIC_DISPATCH(find_streaming)(op, compute);
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace cresset::cpu
#endif
