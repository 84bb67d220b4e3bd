// CPU kernels of ops/bitwise.
#include "cresset/ops/bitwise.h"

#include "cresset/backends/cpu/binary_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <BinaryOp op>
void bits(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  run_pointwise(out, {&a, &b}, compute, {binary_simd(op, compute)});
}

struct Invert {
  template <class T>
  static T call(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
};

template <class T>
constexpr auto bits_of = static_cast<T>(sizeof(T) * 8);
struct LeftShift {
  template <class T>
  static T call(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return b < T(0) || b >= bits_of<T> ? T(0) : static_cast<T>(static_cast<U>(static_cast<U>(a) << b));
  }
};
struct RightShift {
  template <class T>
  static T call(T a, T b) {
    bool all = b < T(0) || b >= bits_of<T>;
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (all ? bits_of<T> - 1 : b));
    return all ? T(0) : static_cast<T>(a >> b);
  }
};

// Magnitudes, since the smallest integer has no positive counterpart.
template <class T>
std::make_unsigned_t<T> magnitude(T x) {
  using U = std::make_unsigned_t<T>;
  return x < T(0) ? static_cast<U>(U(0) - static_cast<U>(x)) : static_cast<U>(x);
}
template <class U>
U greatest_divisor(U a, U b) {
  while (b != 0) {
    U rest = static_cast<U>(a % b);
    a = b;
    b = rest;
  }
  return a;
}
struct Gcd {
  template <class T>
  static T call(T a, T b) {
    return static_cast<T>(greatest_divisor(magnitude(a), magnitude(b)));
  }
};
struct Lcm {
  template <class T>
  static T call(T a, T b) {
    auto x = magnitude(a), y = magnitude(b), divisor = greatest_divisor(x, y);
    return divisor == 0 ? T(0) : static_cast<T>(static_cast<uint64_t>(x / divisor) * y);
  }
};

[[maybe_unused]] const bool registered =
    bitwise_and_kernel.set(kCPU, bits<BinaryOp::bit_and>) && bitwise_or_kernel.set(kCPU, bits<BinaryOp::bit_or>) &&
    bitwise_xor_kernel.set(kCPU, bits<BinaryOp::bit_xor>) &&
    bitwise_not_kernel.set(kCPU, unary_kernel<Invert, kIntegers | kBools, 1>) &&
    bitwise_left_shift_kernel.set(kCPU, binary_kernel<LeftShift, kIntegers, 1>) &&
    bitwise_right_shift_kernel.set(kCPU, binary_kernel<RightShift, kIntegers, 1>) &&
    gcd_kernel.set(kCPU, binary_kernel<Gcd, kIntegers, 64>) && lcm_kernel.set(kCPU, binary_kernel<Lcm, kIntegers, 64>);

}  // namespace
}  // namespace cresset::cpu
