// CPU kernels of ops/power.
#include "cresset/ops/power.h"

#include <bit>
#include <cmath>
#include <limits>

#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

// By squaring, wrapping; a negative exponent leaves 1, -1 or nothing.
template <class T>
T integer_power(T a, T b) {
  if (b < T(0)) {
    if (a == T(1)) return 1;
    if (std::is_signed_v<T> && a == static_cast<T>(-1)) return static_cast<T>(b % 2 == 0 ? 1 : -1);
    return 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(a);
  for (auto rest = static_cast<uint64_t>(b); rest != 0; rest >>= 1) {
    if (rest & 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}
struct Pow {
  template <class T>
  static T call(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return integer_power(a, b);
    else
      return std::pow(a, b);
  }
};
struct Square {
  template <class T>
  static T call(T x) {
    return static_cast<T>(x * x);
  }
};
struct Cube {
  template <class T>
  static T call(T x) {
    return static_cast<T>(x * x * x);
  }
};
struct Sqrt {
  template <class T>
  static T call(T x) {
    return std::sqrt(x);
  }
};
struct ReciprocalSqrt {
  template <class T>
  static T call(T x) {
    return T(1) / std::sqrt(x);
  }
};
struct Reciprocal {
  template <class T>
  static T call(T x) {
    return T(1) / x;
  }
};
struct ReciprocalSquare {
  template <class T>
  static T call(T x) {
    return T(1) / (x * x);
  }
};
struct One {
  template <class T>
  static T call(T) {
    return T(1);
  }
};
struct Same {
  template <class T>
  static T call(T x) {
    return x;
  }
};
// Exponents that need no logarithm, which complex zeros and infinities do not have.
InnerFunction special_power(double exponent, DType type) {
  constexpr unsigned kinds = kReals | kComplexes;
  if (exponent == 0) return unary_function<One, kinds>(type);
  if (exponent == 1) return unary_function<Same, kinds>(type);
  if (exponent == 2) return unary_function<Square, kinds>(type);
  if (exponent == 3) return unary_function<Cube, kinds>(type);
  if (exponent == 0.5) return unary_function<Sqrt, kinds>(type);
  if (exponent == -0.5) return unary_function<ReciprocalSqrt, kinds>(type);
  if (exponent == -1) return unary_function<Reciprocal, kinds>(type);
  if (exponent == -2) return unary_function<ReciprocalSquare, kinds>(type);
  return nullptr;
}
template <class T>
void pow_scalar_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), exponent = *static_cast<const T*>(constant);
  for (int64_t i = 0; i < n; i++) y[i] = Pow::call(x[i], exponent);
}
void pow_scalar(const Tensor& out, const Tensor& x, const Scalar& exponent, DType compute) {
  DType type = compute_dtype(compute);
  if (const std::complex<double> power = exponent.toComplexDouble(); power.imag() == 0)
    if (InnerFunction special = special_power(power.real(), type))
      return run_pointwise(out, {&x}, type, {.inner = special, .cost = 2});
  Constants constant(type, {exponent});
  InnerFunction inner = dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr ((kind_of<T> & (kNumbers | kComplexes)) != 0) return &pow_scalar_elements<T>;
    return nullptr;
  });
  run_pointwise(out, {&x}, type, {.inner = inner, .constant = constant.bytes, .cost = 32});
}

struct Hypot {
  template <class T>
  static T call(T a, T b) {
    return std::hypot(a, b);
  }
};
struct Atan2 {
  template <class T>
  static T call(T a, T b) {
    return std::atan2(a, b);
  }
};
struct Logaddexp {
  template <class T>
  static T call(T a, T b) {
    if (std::isinf(a) && a == b) return a;
    T top = std::max(a, b);
    return top + std::log1p(std::exp(-std::abs(a - b)));
  }
};
struct Logaddexp2 {
  template <class T>
  static T call(T a, T b) {
    constexpr T per_nat = T(1.4426950408889634074);
    if (std::isinf(a) && a == b) return a;
    T top = std::max(a, b);
    return top + std::log1p(std::exp2(-std::abs(a - b))) * per_nat;
  }
};
struct Xlogy {
  template <class T>
  static T call(T x, T y) {
    if (y != y) return std::numeric_limits<T>::quiet_NaN();
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct Xlog1py {
  template <class T>
  static T call(T x, T y) {
    if (y != y) return std::numeric_limits<T>::quiet_NaN();
    return x == 0 ? T(0) : x * std::log1p(y);
  }
};
struct ComplexXlogy {
  template <class T>
  static T call(T x, T y) {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct Copysign {
  template <class T>
  static T call(T a, T b) {
    return std::copysign(a, b);
  }
};
struct Heaviside {
  template <class T>
  static T call(T a, T b) {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};

// The neighbour in the tensor's own type: half types must not step through floats.
template <class T>
T neighbour(T a, T b) {
  if constexpr (kHalfType<T>) {
    float from = static_cast<float>(a), to = static_cast<float>(b);
    if (from != from || to != to) return T(std::numeric_limits<float>::quiet_NaN());
    if (from == to) return b;
    auto bits = std::bit_cast<uint16_t>(a);
    if (from == 0)
      bits = to > 0 ? 1 : 0x8001;
    else
      bits = static_cast<uint16_t>(bits + ((from < to) == (from > 0) ? 1 : -1));
    return std::bit_cast<T>(bits);
  } else {
    return std::nextafter(a, b);
  }
}
template <class T>
void nextafter_elements(void* out, const void* const* in, int64_t n, const void*) {
  T* y = static_cast<T*>(out);
  const T *a = static_cast<const T*>(in[0]), *b = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; i++) y[i] = neighbour(a[i], b[i]);
}
void nextafter(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  DType types[] = {compute, compute};
  InnerFunction inner = dispatch(compute, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (kind_of<T> == kReals || kHalfType<T>) return &nextafter_elements<T>;
    return nullptr;
  });
  run_pointwise_typed(out, {&a, &b}, types, compute, {.inner = inner, .cost = 8});
}

struct Mantissa {
  template <class T>
  static T call(T x) {
    int exponent;
    return std::frexp(x, &exponent);
  }
};
struct Exponent {
  template <class T>
  static int32_t call(T x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return exponent;
  }
};
void frexp_exponent(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x}, type, kInt, {.inner = unary_function<Exponent, kReals>(type), .cost = 8});
}

template <class T>
void nan_to_num_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), *numbers = static_cast<const T*>(constant);
  const T infinity = std::numeric_limits<T>::infinity(), nan = numbers[0], top = numbers[1], bottom = numbers[2];
  for (int64_t i = 0; i < n; i++) {
    T v = x[i];
    v = v == infinity ? top : v;
    v = v == -infinity ? bottom : v;
    y[i] = x[i] != x[i] ? nan : v;
  }
}
void nan_to_num(const Tensor& out, const Tensor& x, double nan, double posinf, double neginf) {
  DType type = compute_dtype(x.dtype());
  bool wide = type == kDouble;
  float narrow[] = {static_cast<float>(nan), static_cast<float>(posinf), static_cast<float>(neginf)};
  double numbers[] = {nan, posinf, neginf};
  run_pointwise(out, {&x}, type,
                {.inner = wide ? &nan_to_num_elements<double> : &nan_to_num_elements<float>,
                 .constant = wide ? static_cast<const void*>(numbers) : narrow,
                 .cost = 2});
}

void xlogy(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  if (is_complex(compute))
    binary_kernel<ComplexXlogy, kComplexes, 64>(out, a, b, compute);
  else
    binary_kernel<Xlogy, kReals, 16>(out, a, b, compute);
}

[[maybe_unused]] const bool registered =
    pow_kernel.set(kCPU, binary_kernel<Pow, kNumbers | kComplexes, 32>) && pow_scalar_kernel.set(kCPU, pow_scalar) &&
    hypot_kernel.set(kCPU, binary_kernel<Hypot, kReals, 8>) &&
    atan2_kernel.set(kCPU, binary_kernel<Atan2, kReals, 32>) &&
    logaddexp_kernel.set(kCPU, binary_kernel<Logaddexp, kReals, 32>) &&
    logaddexp2_kernel.set(kCPU, binary_kernel<Logaddexp2, kReals, 32>) && xlogy_kernel.set(kCPU, xlogy) &&
    xlog1py_kernel.set(kCPU, binary_kernel<Xlog1py, kReals, 16>) &&
    copysign_kernel.set(kCPU, binary_kernel<Copysign, kReals, 1>) && nextafter_kernel.set(kCPU, nextafter) &&
    heaviside_kernel.set(kCPU, binary_kernel<Heaviside, kNumbers | kBools, 1>) &&
    frexp_mantissa_kernel.set(kCPU, unary_kernel<Mantissa, kReals, 8>) &&
    frexp_exponent_kernel.set(kCPU, frexp_exponent) && nan_to_num_kernel.set(kCPU, nan_to_num);

}  // namespace
}  // namespace cresset::cpu
