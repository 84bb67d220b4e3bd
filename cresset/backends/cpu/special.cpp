// CPU kernels of ops/special: scalar functions in double, which float rounds; erf and erfc of floats are vector
// functions (math_simd.h).
#include "cresset/ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "cresset/backends/cpu/math_scalar.h"
#include "cresset/backends/cpu/math_simd.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

using std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRootPi = 1.7724538509055160273, kRootHalf = std::numbers::sqrt2 / 2;

// exp(x^2) erfc(x); x^2's rounding error is put back. From 10 on the asymptotic series.
double erfcx(double x) {
  if (x < -27) return kInf;
  if (!(x >= 10)) {
    double square = x * x, lost = std::fma(x, x, -square);
    return std::exp(square) * std::erfc(x) * (1 + lost);
  }
  double term = 1, sum = 1, z = 1 / (2 * x * x);
  for (int k = 1; k <= 12; k++) sum += term *= -(2 * k - 1) * z;
  return sum / (x * kRootPi);
}

// ---- the inverse of erfc on (0, 1]: a rough start, then Halley's method, which triples the digits each time.
// With e the error of erfc(y) over its slope, y + e / (1 + y e) is the next y.
double erfc_inverse_upper(double p) {
  double logarithm = std::log(p * (2 - p)), a = 2 / (pi * 0.147) + 0.5 * logarithm;
  double y = std::sqrt(std::sqrt(a * a - logarithm / 0.147) - a);
  // Further out the start is too rough for erfc, whose digits end, too; its logarithm is nearly a parabola:
  // log(erfcx(y)) - y^2, of slope -2 / (sqrt(pi) erfcx(y)).
  if (p < 0.01) {
    for (int i = 0; i < 4; i++) {
      double scaled = erfcx(y);
      y += (std::log(scaled) - y * y - std::log(p)) * scaled * kRootPi / 2;
    }
    return y;
  }
  for (int i = 0; i < 3; i++) {
    double e = (std::erfc(y) - p) / (2 / kRootPi * std::exp(-y * y));
    y += e / (1 + y * e);
  }
  return y;
}
double erfc_inverse(double p) {
  if (!(p >= 0 && p <= 2)) return kNan;
  if (p == 0) return kInf;
  if (p == 2) return -kInf;
  return p <= 1 ? erfc_inverse_upper(p) : -erfc_inverse_upper(2 - p);
}
double erfinv(double x) {
  double a = std::abs(x);
  if (!(a < 0.5)) return std::copysign(erfc_inverse(1 - a), x);
  double y = x * kRootPi / 2;
  for (int i = 0; i < 4; i++) {
    double e = (std::erf(y) - x) / (2 / kRootPi * std::exp(-y * y));
    y -= e / (1 + y * e);
  }
  return y;
}

double ndtr(double x) { return 0.5 * std::erfc(-x * kRootHalf); }
double log_ndtr(double x) {
  return x < -1 ? std::log(erfcx(-x * kRootHalf) / 2) - 0.5 * x * x : std::log1p(-0.5 * std::erfc(x * kRootHalf));
}
double ndtri(double p) { return -std::numbers::sqrt2 * erfc_inverse(2 * p); }
double entr(double x) { return x > 0 ? -x * std::log(x) : x == 0 ? 0 : std::isnan(x) ? x : -kInf; }

// ---- gamma
double lgamma_of(double x) {
  int sign;  // lgamma itself would write it into a global
  return ::lgamma_r(x, &sign);
}
// Recurrence up to 10, then the asymptotic series; reflection below 0.
double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  double reflected = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    double whole;
    reflected = -pi / std::tan(pi * std::modf(x, &whole));
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x++) sum -= 1 / x;
  double z = 1 / (x * x);
  double series =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return x == kInf ? kInf : sum + std::log(x) - 0.5 / x - series + reflected;
}

// The sum of (q + k)^-s over k >= 0 for s > 1 and q > 0: terms up to 10, then Euler and Maclaurin.
double zeta_positive(double s, double q) {
  double sum = 0;
  for (; q < 10; q++) sum += std::pow(q, -s);
  double power = std::pow(q, -s);
  sum += power * q / (s - 1) + 0.5 * power;
  constexpr double bernoulli[] = {1. / 6,       -1. / 30, 1. / 42,      -1. / 30,     5. / 66,
                                  -691. / 2730, 7. / 6,   -3617. / 510, 43867. / 798, -174611. / 330};
  double factor = s * power / q, factorial = 2;
  for (int k = 0; k < 10; k++) {
    sum += bernoulli[k] / factorial * factor;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
    factorial *= (2 * k + 3) * (2 * k + 4);
  }
  return sum;
}
// Below 0 the terms on both sides of it, s being whole: with q = f - m they are those from f up, and (±1)^s times those
// from 1 - f to m - f.
double zeta(double s, double q) {
  if (q > 0) return q == kInf ? 0 : zeta_positive(s, q);
  if (std::isnan(q)) return q;
  if (q == std::floor(q)) return kInf;
  double m = std::ceil(-q), f = q + m;
  double left = zeta_positive(s, 1 - f) - zeta_positive(s, 1 - f + m);
  return zeta_positive(s, f) + (std::fmod(s, 2) == 0 ? left : -left);
}
double polygamma_of(int64_t n, double x) {
  if (n == 0) return digamma(x);
  double order = static_cast<double>(n), size = std::exp(lgamma_of(order + 1)) * zeta(order + 1, x);
  return n % 2 ? size : -size;
}
double mvlgamma_of(int64_t p, double x) {
  double dims = static_cast<double>(p), sum = dims * (dims - 1) / 4 * std::log(pi);
  for (int64_t i = 0; i < p; i++) sum += lgamma_of(x - 0.5 * static_cast<double>(i));
  return sum;
}

// ---- modified Bessel functions, scaled by exp(-|x|): the power series, whose terms are all positive, then the
// asymptotic one, whose error is below exp(-2 |x|).
double bessel_scaled(int order, double x) {
  double a = std::abs(x);
  if (a > 25) {
    double term = 1, sum = 1, square = 4. * order * order;
    for (int k = 1; k <= 30; k++) {
      term *= ((2 * k - 1) * (2 * k - 1) - square) / (8 * k * a);
      sum += term;
      if (std::abs(term) < 1e-17) break;
    }
    return sum / std::sqrt(2 * pi * a);
  }
  double z = a * a / 4, term = order ? a / 2 : 1, sum = term;
  for (int k = 1; term > sum * 1e-17; k++) sum += term *= z / (k * (k + order));
  return sum * std::exp(-a);
}
double i0e(double x) { return bessel_scaled(0, x); }
double i1e(double x) { return std::isinf(x) ? std::copysign(0, x) : std::copysign(bessel_scaled(1, x), x); }
// In two steps, so that exp does not overflow before the result does.
double unscaled(double scaled, double x) {
  double half = std::exp(std::abs(x) / 2);
  return std::isinf(x) ? std::copysign(kInf, scaled) : scaled * half * half;
}
double i0_of(double x) { return unscaled(i0e(x), x); }
double i1_of(double x) { return std::isinf(x) ? x : unscaled(i1e(x), x); }

template <auto f>
void scalar(const Tensor& out, const Tensor& x, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x}, type, {scalar_function<f>(type), nullptr, nullptr, 60});
}
template <MathOp op, auto f>
void simd(const Tensor& out, const Tensor& x, DType compute) {
  if (compute_dtype(compute) == kDouble) return scalar<f>(out, x, compute);
  InnerFunction streaming = out.nbytes() >= kBeyondCache ? math_function(op, kFloat, Store::streaming) : nullptr;
  run_pointwise(out, {&x}, kFloat, {math_function(op, kFloat, Store::plain), streaming, nullptr, 12});
}

// With a whole number for an argument.
template <class T, auto f>
void numbered_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T* x = static_cast<const T*>(in[0]);
  for (int64_t i = 0; i < n; i++) y[i] = static_cast<T>(f(*static_cast<const int64_t*>(constant), x[i]));
}
template <auto f>
void numbered(const Tensor& out, const Tensor& x, int64_t number, DType compute) {
  DType type = compute_dtype(compute);
  InnerFunction inner = type == kDouble ? &numbered_elements<double, f> : &numbered_elements<float, f>;
  run_pointwise(out, {&x}, type, {inner, nullptr, &number, 100});
}

[[maybe_unused]] const bool registered =
    erf_kernel.set(kCPU, simd<MathOp::erf, [](std::floating_point auto x) { return std::erf(x); }>) &&
    erfc_kernel.set(kCPU, simd<MathOp::erfc, [](std::floating_point auto x) { return std::erfc(x); }>) &&
    erfinv_kernel.set(kCPU, scalar<&erfinv>) && special_erfcx_kernel.set(kCPU, scalar<&erfcx>) &&
    special_ndtr_kernel.set(kCPU, scalar<&ndtr>) && special_ndtri_kernel.set(kCPU, scalar<&ndtri>) &&
    special_log_ndtr_kernel.set(kCPU, scalar<&log_ndtr>) && special_entr_kernel.set(kCPU, scalar<&entr>) &&
    lgamma_kernel.set(kCPU, scalar<&lgamma_of>) && digamma_kernel.set(kCPU, scalar<&digamma>) &&
    polygamma_kernel.set(kCPU, numbered<&polygamma_of>) && mvlgamma_kernel.set(kCPU, numbered<&mvlgamma_of>) &&
    i0_kernel.set(kCPU, scalar<&i0_of>) && special_i0e_kernel.set(kCPU, scalar<&i0e>) &&
    special_i1_kernel.set(kCPU, scalar<&i1_of>) && special_i1e_kernel.set(kCPU, scalar<&i1e>) &&
    special_bessel_j0_kernel.set(kCPU, scalar<[](double x) { return ::j0(x); }>) &&
    special_bessel_j1_kernel.set(kCPU, scalar<[](double x) { return ::j1(x); }>) &&
    special_bessel_y0_kernel.set(kCPU, scalar<[](double x) { return x < 0 ? kNan : ::y0(x); }>) &&
    special_bessel_y1_kernel.set(kCPU, scalar<[](double x) { return x < 0 ? kNan : ::y1(x); }>);

}  // namespace
}  // namespace cresset::cpu
