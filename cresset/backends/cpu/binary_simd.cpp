// Hot ops of two or three operands: plain loops, which the compiler vectorises for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/binary_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/binary_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {

// One function that no loop swallows: the compiler would fuse products and sums in a loop's body but not in its tail,
// and a result would depend on where it stands.
template <class T>
[[gnu::noinline]] T complex_product(T a, T b) {
  return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
}
template <class T>
T product(T a, T b) {
  if constexpr (is_complex(dtype_of<T>))
    return complex_product(a, b);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// ---- two operands. Kinds: what the op has.
struct Eq {
  static constexpr unsigned kinds = kNumbers | kComplexes;
  template <class T>
  static uint8_t call(T a, T b, const T*) {
    return a == b;
  }
};
struct Ne {
  static constexpr unsigned kinds = kNumbers | kComplexes;
  template <class T>
  static uint8_t call(T a, T b, const T*) {
    return a != b;
  }
};
struct Lt {
  static constexpr unsigned kinds = kNumbers;
  template <class T>
  static uint8_t call(T a, T b, const T*) {
    return a < b;
  }
};
struct Le {
  static constexpr unsigned kinds = kNumbers;
  template <class T>
  static uint8_t call(T a, T b, const T*) {
    return a <= b;
  }
};
struct And {
  static constexpr unsigned kinds = kIntegers;
  template <class T>
  static T call(T a, T b, const T*) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  static constexpr unsigned kinds = kIntegers;
  template <class T>
  static T call(T a, T b, const T*) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  static constexpr unsigned kinds = kIntegers;
  template <class T>
  static T call(T a, T b, const T*) {
    return static_cast<T>(a ^ b);
  }
};
// nan wins.
struct Maximum {
  static constexpr unsigned kinds = kNumbers;
  template <class T>
  static T call(T a, T b, const T*) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct Minimum {
  static constexpr unsigned kinds = kNumbers;
  template <class T>
  static T call(T a, T b, const T*) {
    return (a < b) | (a != a) ? a : b;
  }
};
struct Within {
  static constexpr unsigned kinds = kReals;
  template <class T>
  static T call(T g, T x, const T* bounds) {
    return (x >= bounds[0]) & (x <= bounds[1]) ? g : T(0);
  }
};
struct Inside {
  static constexpr unsigned kinds = kReals;
  template <class T>
  static T call(T g, T x, const T* bounds) {
    return (x <= bounds[0]) | (x >= bounds[1]) ? T(0) : g;  // at nan g, as in PyTorch
  }
};
struct Lerp {
  static constexpr unsigned kinds = kReals | kComplexes;
  template <class T>
  static T call(T a, T b, const T* weight) {
    bool near_a;
    if constexpr (is_complex(dtype_of<T>))
      near_a = weight->real() * weight->real() + weight->imag() * weight->imag() < 0.25;
    else
      near_a = *weight < T(0.5);
    return near_a ? a + product(*weight, b - a) : b - product(b - a, T(1) - *weight);
  }
};

// ---- three operands
struct ClampTensor {
  static constexpr unsigned kinds = kNumbers;
  template <class T>
  static T call(T x, T low, T high, T) {
    T y = (x < low) | (low != low) ? low : x;
    return (y > high) | (high != high) ? high : y;
  }
};
struct ExtremumBackward {
  static constexpr unsigned kinds = kReals;
  template <class T>
  static T call(T g, T a, T b, T sign) {
    return a * sign < b * sign ? T(0) : a == b ? g / 2 : g;
  }
};
struct LerpTensor {
  static constexpr unsigned kinds = kReals | kComplexes;
  template <class T>
  static T call(T a, T b, T weight, T) {
    return Lerp::call(a, b, &weight);
  }
};
struct Addcmul {
  static constexpr unsigned kinds = kNumbers | kComplexes;
  template <class T>
  static T call(T a, T b, T c, T factor) {
    return static_cast<T>(a + product(product(factor, b), c));
  }
};
struct Addcdiv {
  static constexpr unsigned kinds = kReals | kComplexes;
  template <class T>
  static T call(T a, T b, T c, T factor) {
    return a + product(factor, b) / c;
  }
};

template <class F, class T>
void two(void* out, const void* const* in, int64_t n, const void* constant) {
  auto* y = static_cast<decltype(F::call(T(), T(), static_cast<const T*>(nullptr)))*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  T constants[2] = {};
  if (constant) std::copy_n(static_cast<const T*>(constant), 2, constants);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = F::call(a[i], b[i], constants);
}
template <class F, class T>
void three(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]), *c = static_cast<const T*>(in[2]);
  const T factor = constant ? *static_cast<const T*>(constant) : T();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = F::call(a[i], b[i], c[i], factor);
}
template <class T>
void clamp(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  const T low = static_cast<const T*>(constant)[0], high = static_cast<const T*>(constant)[1];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    T up = x[i] < low ? low : x[i];  // nan stays
    y[i] = up > high ? high : up;
  }
}

template <class F, class T>
InnerFunction two_if() {
  if constexpr ((kind_of<T> & F::kinds) != 0) return &two<F, T>;
  return nullptr;
}
template <class F, class T>
InnerFunction three_if() {
  if constexpr ((kind_of<T> & F::kinds) != 0) return &three<F, T>;
  return nullptr;
}

template <class T>
InnerFunction find_typed(BinaryOp op) {
  switch (op) {
    case BinaryOp::eq:
      return two_if<Eq, T>();
    case BinaryOp::ne:
      return two_if<Ne, T>();
    case BinaryOp::lt:
      return two_if<Lt, T>();
    case BinaryOp::le:
      return two_if<Le, T>();
    case BinaryOp::bit_and:
      return two_if<And, T>();
    case BinaryOp::bit_or:
      return two_if<Or, T>();
    case BinaryOp::bit_xor:
      return two_if<Xor, T>();
    case BinaryOp::maximum:
      return two_if<Maximum, T>();
    case BinaryOp::minimum:
      return two_if<Minimum, T>();
    case BinaryOp::clamp:
      if constexpr ((kind_of<T> & kNumbers) != 0) return &clamp<T>;
      return nullptr;
    case BinaryOp::clamp_tensor:
      return three_if<ClampTensor, T>();
    case BinaryOp::within:
      return two_if<Within, T>();
    case BinaryOp::inside:
      return two_if<Inside, T>();
    case BinaryOp::extremum_backward:
      return three_if<ExtremumBackward, T>();
    case BinaryOp::lerp:
      return two_if<Lerp, T>();
    case BinaryOp::lerp_tensor:
      return three_if<LerpTensor, T>();
    case BinaryOp::addcmul:
      return three_if<Addcmul, T>();
    case BinaryOp::addcdiv:
      return three_if<Addcdiv, T>();
    case BinaryOp::count:
      break;
  }
  return nullptr;
}

InnerFunction find_binary(BinaryOp op, DType compute) {
  if (compute == kBool) compute = kByte;  // 0 and 1
  return dispatch(compute, [&](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (kHalfType<T> || std::is_same_v<T, bool>)
      return nullptr;
    else
      return find_typed<T>(op);
  });
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_binary);

static constinit std::atomic<InnerFunction> table[static_cast<int>(BinaryOp::count)][kDTypes] = {};

InnerFunction binary_simd(BinaryOp op, DType compute) {
  auto& slot = table[static_cast<int>(op)][static_cast<int>(compute)];
  InnerFunction found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = HWY_DYNAMIC_DISPATCH(find_binary)(op, compute);
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace cresset::cpu
#endif
