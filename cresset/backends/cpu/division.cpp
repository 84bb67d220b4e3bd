// CPU kernels of ops/division. Integers: a zero divisor throws, and the smallest number divided by -1 wraps (the
// instruction would trap).
#include "cresset/ops/division.h"

#include <cmath>

#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

[[noreturn, gnu::cold]] void divided_by_zero() {
  throw ValueError("div: ZeroDivisionError: found an integer divided by zero");
}
template <class T>
void check_divisor(T b) {
  if (CRESSET_UNLIKELY(b == 0)) divided_by_zero();
}
template <class T>
T quotient(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  return static_cast<T>(a / b);
}
template <class T>
T rest(T a, T b) {
  check_divisor(b);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

struct DivTrunc {
  template <class T>
  static T call(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return quotient(a, b);
    else
      return std::trunc(a / b);
  }
};
struct DivFloor {
  template <class T>
  static T call(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      T q = quotient(a, b);
      return static_cast<T>(q - (rest(a, b) != 0 && (a < 0) != (b < 0) ? 1 : 0));
    } else {
      // The quotient is made from the exact remainder, as Python does: floor(a / b) would round up near whole numbers.
      if (b == 0) return a / b;
      T modulo = std::fmod(a, b), q = (a - modulo) / b;
      if (modulo != 0 && (b < 0) != (modulo < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      T whole = std::floor(q);
      return q - whole > T(0.5) ? whole + 1 : whole;
    }
  }
};
struct Fmod {
  template <class T>
  static T call(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return rest(a, b);
    else
      return std::fmod(a, b);
  }
};
struct Remainder {
  template <class T>
  static T call(T a, T b) {
    T modulo = Fmod::call(a, b);
    return modulo != 0 && (b < 0) != (modulo < 0) ? static_cast<T>(modulo + b) : modulo;
  }
};

[[maybe_unused]] const bool registered = div_floor_kernel.set(kCPU, binary_kernel<DivFloor, kNumbers, 16>) &&
                                         div_trunc_kernel.set(kCPU, binary_kernel<DivTrunc, kNumbers, 8>) &&
                                         fmod_kernel.set(kCPU, binary_kernel<Fmod, kNumbers, 16>) &&
                                         remainder_kernel.set(kCPU, binary_kernel<Remainder, kNumbers, 16>);

}  // namespace
}  // namespace cresset::cpu
