// CPU kernels of ops/special_binary, computed in double: series where they converge quickly, continued fractions and
// asymptotic sums elsewhere.
#include "cresset/ops/special_binary.h"

#include <cmath>
#include <limits>

#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmall = 1e-300, kPrecision = 1e-16;
constexpr int kMostTerms = 20000;

double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);  // lgamma writes to a global
}
double front(double a, double x) { return std::exp(a * std::log(x) - x - log_gamma(a)); }

// The lower function by its series, for x < a + 1.
double lower_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostTerms && term > sum * kPrecision; n++) sum += term *= x / (a + n);
  return sum * front(a, x);
}
// The upper one by its continued fraction (Lentz's way), for x >= a + 1.
double upper_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kSmall, d = 1 / b, h = d;
  for (int n = 1; n < kMostTerms; n++) {
    double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    if (std::fabs(d) < kSmall) d = kSmall;
    c = b + an / c;
    if (std::fabs(c) < kSmall) c = kSmall;
    d = 1 / d;
    double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < kPrecision) break;
  }
  return h * front(a, x);
}

// P(a, x) or Q(a, x) = 1 - P.
double incomplete_gamma(double a, double x, bool upper) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0)) return kNan;
  if (std::isinf(a)) return std::isinf(x) ? kNan : upper ? 1 : 0;
  if (a == 0 || std::isinf(x)) return upper ? 0 : 1;
  if (x == 0) return upper ? 1 : 0;
  if (x < a + 1) return upper ? 1 - lower_series(a, x) : lower_series(a, x);
  return upper ? upper_fraction(a, x) : 1 - upper_fraction(a, x);
}

// Euler's and Maclaurin's sum: the first terms as they are, the rest as an integral with corrections.
double hurwitz_zeta(double x, double q) {
  if (x == 1) return kInfinity;
  if (!(x > 1) || std::isnan(q)) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x)) return kNan;
  }
  double sum = 0, at = q;
  for (int k = 0; k < 12 || at < 12; k++, at += 1) sum += std::pow(at, -x);
  constexpr double kBernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};
  double power = std::pow(at, -x);
  sum += power * at / (x - 1) + power / 2;
  double factor = x * power / at, fall = 2;  // x (x+1) … at^(-x-2j+1) / (2j)!
  for (int j = 0; j < 7; j++) {
    sum += kBernoulli[j] * factor / fall;
    factor *= (x + 2 * j + 1) * (x + 2 * j + 2) / (at * at);
    fall *= (2 * j + 3) * (2 * j + 4);
  }
  return sum;
}

struct Igamma {
  template <class T>
  static T call(T a, T x) {
    return static_cast<T>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), false));
  }
};
struct Igammac {
  template <class T>
  static T call(T a, T x) {
    return static_cast<T>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), true));
  }
};
struct Zeta {
  template <class T>
  static T call(T x, T q) {
    return static_cast<T>(hurwitz_zeta(static_cast<double>(x), static_cast<double>(q)));
  }
};

[[maybe_unused]] const bool registered = igamma_kernel.set(kCPU, binary_kernel<Igamma, kReals, 256>) &&
                                         igammac_kernel.set(kCPU, binary_kernel<Igammac, kReals, 256>) &&
                                         zeta_kernel.set(kCPU, binary_kernel<Zeta, kReals, 256>);

}  // namespace
}  // namespace cresset::cpu
