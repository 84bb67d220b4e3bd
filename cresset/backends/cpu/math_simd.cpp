// Loops over the vector functions of math-inl.h: one pass, a tail that goes through the same function (so that a value
// never depends on where it stands), and stores past the cache where the result is larger than it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/math_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "cresset/backends/cpu/math-inl.h"
#include "cresset/backends/cpu/math_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#define CRESSET_UNARY_VECTOR(Name, ...)  \
  struct Name {                          \
    static constexpr int inputs = 1;     \
    template <class D, class V>          \
    static HWY_INLINE V call(D d, V x) { \
      (void)d;                           \
      return __VA_ARGS__;                \
    }                                    \
  };
#define CRESSET_BINARY_VECTOR(Name, ...)      \
  struct Name {                               \
    static constexpr int inputs = 2;          \
    template <class D, class V>               \
    static HWY_INLINE V call(D d, V g, V x) { \
      (void)d;                                \
      return __VA_ARGS__;                     \
    }                                         \
  };

template <class D>
HWY_INLINE auto one(D d) {
  return hn::Set(d, Lane<D>(1));
}
CRESSET_UNARY_VECTOR(Exp, exp(d, x))
CRESSET_UNARY_VECTOR(Expm1, expm1(d, x))
CRESSET_UNARY_VECTOR(Tanh, tanh(d, x))
CRESSET_UNARY_VECTOR(Sigmoid, sigmoid(d, x))
CRESSET_UNARY_VECTOR(Silu, silu(d, x))
CRESSET_BINARY_VECTOR(SiluBackward, hn::Mul(g, silu_slope(d, x)))
CRESSET_BINARY_VECTOR(TanhBackward, hn::Mul(g, hn::NegMulAdd(x, x, one(d))))
CRESSET_BINARY_VECTOR(SigmoidBackward, hn::Mul(g, hn::Mul(x, hn::Sub(one(d), x))))
CRESSET_UNARY_VECTOR(Abs, hn::Abs(x))
CRESSET_UNARY_VECTOR(Sign, hn::Sub(hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one(d)),
                                   hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), one(d))))
CRESSET_UNARY_VECTOR(Square, hn::Mul(x, x))
CRESSET_UNARY_VECTOR(Reciprocal, hn::Div(one(d), x))
CRESSET_UNARY_VECTOR(Sqrt, hn::Sqrt(x))
CRESSET_UNARY_VECTOR(Rsqrt, hn::Div(one(d), hn::Sqrt(x)))
CRESSET_UNARY_VECTOR(Floor, hn::Floor(x))
CRESSET_UNARY_VECTOR(Ceil, hn::Ceil(x))
CRESSET_UNARY_VECTOR(Round, hn::Round(x))
CRESSET_UNARY_VECTOR(Trunc, hn::Trunc(x))
CRESSET_UNARY_VECTOR(Frac, hn::Sub(x, hn::Trunc(x)))
CRESSET_UNARY_VECTOR(Exp2, exp2(d, x))
CRESSET_UNARY_VECTOR(Log, log(d, x))
CRESSET_UNARY_VECTOR(Log2, log2(d, x))
CRESSET_UNARY_VECTOR(Log10, log10(d, x))
CRESSET_UNARY_VECTOR(Log1p, log1p(d, x))
CRESSET_UNARY_VECTOR(Sin, sin_or_cos<0>(d, x))
CRESSET_UNARY_VECTOR(Cos, sin_or_cos<1>(d, x))
CRESSET_UNARY_VECTOR(Tan, tan(d, x))
CRESSET_UNARY_VECTOR(Asin, asin(d, x))
CRESSET_UNARY_VECTOR(Acos, acos(d, x))
CRESSET_UNARY_VECTOR(Atan, atan(d, x))
CRESSET_UNARY_VECTOR(Sinh, sinh(d, x))
CRESSET_UNARY_VECTOR(Cosh, cosh(d, x))
CRESSET_UNARY_VECTOR(Erf, erf(d, x))
CRESSET_UNARY_VECTOR(Erfc, erfc(d, x))
CRESSET_UNARY_VECTOR(Gelu, gelu(d, x))
CRESSET_UNARY_VECTOR(GeluTanh, gelu_tanh(d, x))
CRESSET_BINARY_VECTOR(GeluBackward, hn::Mul(g, gelu_slope(d, x)))
CRESSET_BINARY_VECTOR(GeluTanhBackward, hn::Mul(g, gelu_tanh_slope(d, x)))

// `past_cache` is asked in the loop: a second copy of every function would be dearer than the branch.
template <class F, class T>
HWY_NOINLINE void apply(T* y, const void* const* in, int64_t n, bool past_cache) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *a = static_cast<const T*>(in[0]), *b = F::inputs == 2 ? static_cast<const T*>(in[1]) : nullptr;
  auto at = [&](const T* p, const T* q) HWY_ATTR {
    if constexpr (F::inputs == 1)
      return F::call(d, hn::LoadU(d, p));
    else
      return F::call(d, hn::LoadU(d, p), hn::LoadU(d, q));
  };
  int64_t i = 0;
  if (past_cache && reinterpret_cast<uintptr_t>(y) % 64 == 0) {
    for (; i + lanes <= n; i += lanes) hn::Stream(at(a + i, b + i), d, y + i);
    hwy::FlushStream();
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(at(a + i, b + i), d, y + i);
  if (i == n) return;
  HWY_ALIGN T left[64] = {}, right[64] = {};
  std::copy(a + i, a + n, left);
  if (F::inputs == 2) std::copy(b + i, b + n, right);
  hn::StoreU(at(left, right), d, left);
  std::copy(left, left + (n - i), y + i);
}
template <class F, class T>
void plain(void* out, const void* const* in, int64_t n, const void*) {
  apply<F, T>(static_cast<T*>(out), in, n, false);
}
template <class F, class T>
void streaming(void* out, const void* const* in, int64_t n, const void*) {
  apply<F, T>(static_cast<T*>(out), in, n, true);
}

struct Entry {
  InnerFunction functions[2][2];  // by dtype, then store
};
template <class F>
constexpr Entry both() {
  return {{{&plain<F, float>, &streaming<F, float>}, {&plain<F, double>, &streaming<F, double>}}};
}
template <class F>
constexpr Entry only_float() {
  return {{{&plain<F, float>, &streaming<F, float>}, {nullptr, nullptr}}};
}

// In MathOp's order.
InnerFunction find_math(MathOp op, bool is_double, Store store) {
  static constexpr Entry table[] = {both<Exp>(),
                                    both<Expm1>(),
                                    both<Tanh>(),
                                    both<Sigmoid>(),
                                    both<Silu>(),
                                    both<SiluBackward>(),
                                    both<TanhBackward>(),
                                    both<SigmoidBackward>(),
                                    both<Abs>(),
                                    both<Sign>(),
                                    both<Square>(),
                                    both<Reciprocal>(),
                                    both<Sqrt>(),
                                    both<Rsqrt>(),
                                    both<Floor>(),
                                    both<Ceil>(),
                                    both<Round>(),
                                    both<Trunc>(),
                                    both<Frac>(),
                                    only_float<Exp2>(),
                                    only_float<Log>(),
                                    only_float<Log2>(),
                                    only_float<Log10>(),
                                    only_float<Log1p>(),
                                    only_float<Sin>(),
                                    only_float<Cos>(),
                                    only_float<Tan>(),
                                    only_float<Asin>(),
                                    only_float<Acos>(),
                                    only_float<Atan>(),
                                    only_float<Sinh>(),
                                    only_float<Cosh>(),
                                    only_float<Erf>(),
                                    only_float<Erfc>(),
                                    only_float<Gelu>(),
                                    only_float<GeluTanh>(),
                                    only_float<GeluBackward>(),
                                    only_float<GeluTanhBackward>()};
  static_assert(std::size(table) == static_cast<size_t>(MathOp::count));
  return table[static_cast<int>(op)].functions[is_double][static_cast<int>(store)];
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_math);

InnerFunction math_function(MathOp op, DType compute, Store store) {
  bool is_double = compute == kDouble;
  if (compute != kFloat && !(is_double && op < MathOp::first_float_only)) return nullptr;
  static constinit std::atomic<InnerFunction> found[static_cast<int>(MathOp::count)][2][2] = {};
  auto& slot = found[static_cast<int>(op)][is_double][static_cast<int>(store)];
  InnerFunction function = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!function)) {
    choose_simd_target();
    function = HWY_DYNAMIC_DISPATCH(find_math)(op, is_double, store);
    slot.store(function, std::memory_order_relaxed);
  }
  return function;
}

}  // namespace cresset::cpu
#endif
