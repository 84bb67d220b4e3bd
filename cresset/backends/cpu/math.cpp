// CPU kernels of ops/math: vector functions where there are some (math_simd.h), the C library's elsewhere.
#include "cresset/ops/math.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "cresset/backends/cpu/math_scalar.h"
#include "cresset/backends/cpu/math_simd.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

// The vector function of op, or `other` where the type has none.
void run_simd(MathOp op, const Tensor& out, std::initializer_list<const Tensor*> in, DType type, int cost,
              InnerFunction other) {
  InnerFunction inner = math_function(op, type, Store::plain);
  if (!inner) return run_pointwise(out, in, type, {other, nullptr, nullptr, cost * 4});
  InnerFunction streaming = out.nbytes() >= kBeyondCache ? math_function(op, type, Store::streaming) : nullptr;
  run_pointwise(out, in, type, {inner, streaming, nullptr, cost});
}
template <MathOp op, int cost, auto f>
void simd(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  run_simd(op, out, {&x}, type, cost, type == kFloat ? nullptr : scalar_function<f>(type));
}
template <auto f>
void scalar(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x}, type, {scalar_function<f>(type), nullptr, nullptr, 20});
}

// Rounding leaves integers as they are.
template <class T>
void same_elements(void* out, const void* const* in, int64_t n, const void*) {
  std::memcpy(out, in[0], static_cast<size_t>(n) * sizeof(T));
}
template <MathOp op>
void rounding(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  if (is_floating_point(type)) return run_simd(op, out, {&x}, type, 1, nullptr);
  InnerFunction inner =
      dispatch(type, [](auto* p) -> InnerFunction { return &same_elements<std::remove_pointer_t<decltype(p)>>; });
  run_pointwise(out, {&x}, type, {inner});
}
// For ops that integers have too.
template <MathOp op, auto f>
void any_number(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  InnerFunction other = is_floating_point(type) ? nullptr : number_function<f>(type);
  run_simd(op, out, {&x}, type, 1, other);
}

constexpr auto sign_of = [](auto x) {
  using T = decltype(x);
  if constexpr (is_complex(dtype_of<T>)) {
    auto size = std::abs(x);
    return size == 0 ? T(0) : x / size;
  } else {
    return static_cast<T>((T(0) < x) - (x < T(0)));
  }
};
constexpr auto square_of = [](auto x) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));  // wraps
  else
    return x * x;
};
constexpr auto size_of = [](auto x) {
  using T = decltype(x);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(x < T(0) ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x));
  else
    return std::abs(x);
};

// From complex numbers real ones.
template <class R, auto f>
void real_elements(void* out, const void* const* in, int64_t n, const void*) {
  R* y = static_cast<R*>(out);
  const auto* x = static_cast<const std::complex<R>*>(in[0]);
  for (int64_t i = 0; i < n; i++) y[i] = f(x[i]);
}
template <auto f>
void run_real(const Tensor& out, const Tensor& x, DType type) {
  InnerFunction inner = type == kComplexFloat ? &real_elements<float, f> : &real_elements<double, f>;
  run_pointwise(out, {&x}, type, to_real(type), {inner, nullptr, nullptr, 8});
}
void abs(const Tensor& out, const Tensor& x, DType compute) {
  if (!is_complex(compute)) return any_number<MathOp::abs, size_of>(out, x, compute);
  run_real<[](auto z) { return std::abs(z); }>(out, x, compute);
}
void angle(const Tensor& out, const Tensor& x, DType compute) {
  if (is_complex(compute)) return run_real<[](auto z) { return std::arg(z); }>(out, x, compute);
  scalar<[](std::floating_point auto v) {
    using T = decltype(v);
    return std::isnan(v) ? v : v < 0 ? std::numbers::pi_v<T> : T(0);
  }>(out, x, compute);
}

// 10^|decimals| in the type of the numbers, as PyTorch's.
template <class T>
void round_decimals_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  int64_t decimals = *static_cast<const int64_t*>(constant);
  T power = static_cast<T>(std::pow(10, std::abs(static_cast<double>(decimals))));
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++)
    y[i] = decimals < 0 ? std::nearbyint(x[i] / power) * power : std::nearbyint(x[i] * power) / power;
}
void round_decimals(const Tensor& out, const Tensor& x, int64_t decimals, DType compute) {
  DType type = compute_dtype(compute);
  if (decimals == 0) return rounding<MathOp::round>(out, x, compute);
  InnerFunction inner = type == kDouble ? &round_decimals_elements<double> : &round_decimals_elements<float>;
  run_pointwise(out, {&x}, type, {inner, nullptr, &decimals, 8});
}

// eps below 0 stands for none.
template <class T>
void logit_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T eps = static_cast<T>(*static_cast<const double*>(constant)), top = 1 - eps;
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++) {
    T v = eps < 0 ? x[i] : x[i] < eps ? eps : x[i] > top ? top : x[i];
    y[i] = std::log(v / (1 - v));
  }
}
template <class T>
void logit_backward_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  double given = *static_cast<const double*>(constant);
  T low = given < 0 ? T(0) : static_cast<T>(given), high = 1 - low;
  T outside = given < 0 ? std::numeric_limits<T>::quiet_NaN() : T(0);
  T* dx = static_cast<T*>(out);
  const T *g = static_cast<const T*>(in[0]), *x = static_cast<const T*>(in[1]);
  for (int64_t i = 0; i < n; i++)
    dx[i] = x[i] < low || x[i] > high      ? outside
            : x[i] == T(0) || x[i] == T(1) ? g[i] * std::numeric_limits<T>::infinity()
                                           : g[i] / (x[i] * (1 - x[i]));
}
void logit(const Tensor& out, const Tensor& x, std::optional<double> eps, DType compute) {
  DType type = compute_dtype(compute);
  double bound = eps.value_or(-1);
  InnerFunction inner = type == kDouble ? &logit_elements<double> : &logit_elements<float>;
  run_pointwise(out, {&x}, type, {inner, nullptr, &bound, 20});
}
void logit_backward(const Tensor& dx, const Tensor& g, const Tensor& x, std::optional<double> eps, DType compute) {
  DType type = compute_dtype(compute);
  double bound = eps.value_or(-1);
  InnerFunction inner = type == kDouble ? &logit_backward_elements<double> : &logit_backward_elements<float>;
  run_pointwise(dx, {&g, &x}, type, {inner, nullptr, &bound, 4});
}

template <MathOp op, int cost>
void backward(const Tensor& dx, const Tensor& g, const Tensor& x, DType compute) {
  run_simd(op, dx, {&g, &x}, compute_dtype(compute), cost, nullptr);
}

// ---- gelu in double
constexpr double kInnerScale = 0.7978845608028654;  // sqrt(2 / pi)
void gelu_double(void* out, const void* const* in, int64_t n, const void*) {
  double* y = static_cast<double*>(out);
  const double* x = static_cast<const double*>(in[0]);
  for (int64_t i = 0; i < n; i++) y[i] = x[i] * 0.5 * std::erfc(-x[i] * std::numbers::sqrt2 / 2);
}
void gelu_tanh_double(void* out, const void* const* in, int64_t n, const void*) {
  double* y = static_cast<double*>(out);
  const double* x = static_cast<const double*>(in[0]);
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] / (1 + std::exp(-2 * kInnerScale * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
}
void gelu_backward_double(void* out, const void* const* in, int64_t n, const void*) {
  double* dx = static_cast<double*>(out);
  const double *g = static_cast<const double*>(in[0]), *x = static_cast<const double*>(in[1]);
  for (int64_t i = 0; i < n; i++) {
    double below = 0.5 * std::erfc(-x[i] * std::numbers::sqrt2 / 2);
    dx[i] = g[i] * (below + x[i] * std::exp(-0.5 * x[i] * x[i]) * 0.3989422804014327);
  }
}
void gelu_tanh_backward_double(void* out, const void* const* in, int64_t n, const void*) {
  double* dx = static_cast<double*>(out);
  const double *g = static_cast<const double*>(in[0]), *x = static_cast<const double*>(in[1]);
  for (int64_t i = 0; i < n; i++) {
    double s = 1 / (1 + std::exp(-2 * kInnerScale * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
    double inner = 2 * kInnerScale * (1 + 3 * 0.044715 * x[i] * x[i]);
    dx[i] = g[i] * s * (1 + x[i] * inner * (1 - s));
  }
}
void gelu(const Tensor& out, const Tensor& x, bool by_tanh) {
  run_simd(by_tanh ? MathOp::gelu_tanh : MathOp::gelu, out, {&x}, compute_dtype(x.dtype()), 16,
           by_tanh ? &gelu_tanh_double : &gelu_double);
}
void gelu_backward(const Tensor& dx, const Tensor& g, const Tensor& x, bool by_tanh) {
  run_simd(by_tanh ? MathOp::gelu_tanh_backward : MathOp::gelu_backward, dx, {&g, &x}, compute_dtype(dx.dtype()), 16,
           by_tanh ? &gelu_tanh_backward_double : &gelu_backward_double);
}

constexpr auto sinc_of = [](auto x) {
  using T = decltype(x);
  using R = decltype(std::abs(x));
  T v = x * std::numbers::pi_v<R>;
  return x == T(0) ? T(1) : std::sin(v) / v;
};
constexpr auto log2_of = [](auto x) {
  if constexpr (is_complex(dtype_of<decltype(x)>))
    return std::log(x) / std::numbers::ln2_v<typename decltype(x)::value_type>;
  else
    return std::log2(x);
};
constexpr auto reciprocal_of = [](auto x) { return decltype(x)(1) / x; };

[[maybe_unused]] const bool registered =
    exp_kernel.set(kCPU, simd<MathOp::exp, 8, [](auto x) { return std::exp(x); }>) && abs_kernel.set(kCPU, abs) &&
    sign_kernel.set(kCPU, any_number<MathOp::sign, sign_of>) &&
    sgn_kernel.set(kCPU, any_number<MathOp::sign, sign_of>) &&
    square_kernel.set(kCPU, any_number<MathOp::square, square_of>) &&
    reciprocal_kernel.set(kCPU, simd<MathOp::reciprocal, 2, reciprocal_of>) &&
    sqrt_kernel.set(kCPU, simd<MathOp::sqrt, 4, [](auto x) { return std::sqrt(x); }>) &&
    rsqrt_kernel.set(kCPU, simd<MathOp::rsqrt, 6, [](auto x) { return decltype(x)(1) / std::sqrt(x); }>) &&
    exp2_kernel.set(kCPU, simd<MathOp::exp2, 8, [](std::floating_point auto x) { return std::exp2(x); }>) &&
    expm1_kernel.set(kCPU, simd<MathOp::expm1, 8, [](std::floating_point auto x) { return std::expm1(x); }>) &&
    log_kernel.set(kCPU, simd<MathOp::log, 8, [](auto x) { return std::log(x); }>) &&
    log2_kernel.set(kCPU, simd<MathOp::log2, 8, log2_of>) &&
    log10_kernel.set(kCPU, simd<MathOp::log10, 8, [](auto x) { return std::log10(x); }>) &&
    log1p_kernel.set(kCPU, simd<MathOp::log1p, 8, [](std::floating_point auto x) { return std::log1p(x); }>) &&
    sin_kernel.set(kCPU, simd<MathOp::sin, 10, [](auto x) { return std::sin(x); }>) &&
    cos_kernel.set(kCPU, simd<MathOp::cos, 10, [](auto x) { return std::cos(x); }>) &&
    tan_kernel.set(kCPU, simd<MathOp::tan, 10, [](auto x) { return std::tan(x); }>) &&
    asin_kernel.set(kCPU, simd<MathOp::asin, 10, [](auto x) { return std::asin(x); }>) &&
    acos_kernel.set(kCPU, simd<MathOp::acos, 10, [](auto x) { return std::acos(x); }>) &&
    atan_kernel.set(kCPU, simd<MathOp::atan, 10, [](auto x) { return std::atan(x); }>) &&
    sinh_kernel.set(kCPU, simd<MathOp::sinh, 10, [](auto x) { return std::sinh(x); }>) &&
    cosh_kernel.set(kCPU, simd<MathOp::cosh, 10, [](auto x) { return std::cosh(x); }>) &&
    tanh_kernel.set(kCPU, simd<MathOp::tanh, 10, [](auto x) { return std::tanh(x); }>) &&
    asinh_kernel.set(kCPU, scalar<[](auto x) { return std::asinh(x); }>) &&
    acosh_kernel.set(kCPU, scalar<[](auto x) { return std::acosh(x); }>) &&
    atanh_kernel.set(kCPU, scalar<[](auto x) { return std::atanh(x); }>) &&
    sigmoid_kernel.set(
        kCPU, simd<MathOp::sigmoid, 8, [](auto x) { return decltype(x)(1) / (decltype(x)(1) + std::exp(-x)); }>) &&
    silu_kernel.set(kCPU, simd<MathOp::silu, 8, [](auto x) { return x / (decltype(x)(1) + std::exp(-x)); }>) &&
    floor_kernel.set(kCPU, rounding<MathOp::floor>) && ceil_kernel.set(kCPU, rounding<MathOp::ceil>) &&
    round_kernel.set(kCPU, rounding<MathOp::round>) && trunc_kernel.set(kCPU, rounding<MathOp::trunc>) &&
    frac_kernel.set(kCPU, rounding<MathOp::frac>) && round_decimals_kernel.set(kCPU, round_decimals) &&
    rad2deg_kernel.set(kCPU,
                       scalar<[](std::floating_point auto x) { return x * decltype(x)(180 / std::numbers::pi); }>) &&
    deg2rad_kernel.set(kCPU,
                       scalar<[](std::floating_point auto x) { return x * decltype(x)(std::numbers::pi / 180); }>) &&
    sinc_kernel.set(kCPU, scalar<sinc_of>) && angle_kernel.set(kCPU, angle) && logit_kernel.set(kCPU, logit) &&
    logit_backward_kernel.set(kCPU, logit_backward) && gelu_kernel.set(kCPU, gelu) &&
    gelu_backward_kernel.set(kCPU, gelu_backward) &&
    tanh_backward_kernel.set(kCPU, backward<MathOp::tanh_backward, 1>) &&
    sigmoid_backward_kernel.set(kCPU, backward<MathOp::sigmoid_backward, 1>) &&
    silu_backward_kernel.set(kCPU, backward<MathOp::silu_backward, 10>);

}  // namespace
}  // namespace cresset::cpu
