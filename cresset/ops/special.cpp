// Special functions of one number; each one's derivative is another of them.
#include "cresset/ops/special.h"

#include <cmath>
#include <numbers>

#include "cresset/core/kernel.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/math.h"
#include "cresset/ops/unary.h"

namespace cresset {

using std::numbers::pi;

// ---- the error function. e^(-x^2) keeps its place in half types: the constant comes first.
static Tensor bell(const Tensor& g, const Tensor& x, double factor, double power) {
  return mul(mul(g, factor), exp(mul(mul(x, x), power)));
}
static const double two_over_root_pi = 2 / std::sqrt(pi), root_two_pi = std::sqrt(2 * pi);

CRESSET_UNARY(erf, "Erf", x, (bell(g, x, two_over_root_pi, -1)), real_numbers, "The error function.")
CRESSET_UNARY(erfc, "Erfc", x, (bell(g, x, -two_over_root_pi, -1)), real_numbers,
              "1 - erf(self), exact also where it is small.")
CRESSET_UNARY(erfinv, "Erfinv", y, (bell(g, y, 1 / two_over_root_pi, 1)), real_numbers,
              "The inverse of the error function.")
CRESSET_UNARY_OUT(special_erfcx, "SpecialErfcx", x, (mul(g, sub(mul(mul(special_erfcx(x), x), 2), two_over_root_pi))),
                  real_numbers, "exp(self * self) * erfc(self).")

// ---- the normal distribution
CRESSET_UNARY_OUT(special_ndtr, "SpecialNdtr", x, (bell(g, x, 1 / root_two_pi, -0.5)), real_numbers,
                  "The share of the normal distribution below self.")
CRESSET_UNARY_OUT(special_ndtri, "SpecialNdtri", y, (bell(g, y, root_two_pi, 0.5)), real_numbers,
                  "The inverse of ndtr.")
CRESSET_UNARY_OUT(special_log_ndtr, "SpecialLogNdtr", x,
                  (div(mul(g, std::sqrt(2 / pi)), special_erfcx(mul(x, -std::sqrt(0.5))))), real_numbers,
                  "log(ndtr(self)), exact also where ndtr is small.")
CRESSET_UNARY_OUT(special_entr, "SpecialEntr", x, (mul(g, sub(neg(log(x)), 1))), real_numbers,
                  "-self * log(self); 0 at 0 and -inf below.")

// ---- gamma
CRESSET_UNARY(lgamma, "Lgamma", x, (mul(g, digamma(x))), real_numbers, "The logarithm of |gamma(self)|.")
CRESSET_UNARY(digamma, "Digamma", x, (mul(g, polygamma(1, x))), real_numbers, "The derivative of lgamma.")

static Tensor polygamma_into(const Into& into, int64_t n, const Tensor& self) {
  CRESSET_CHECK_AS(ValueError, n >= 0, "polygamma: polygamma(n, x) does not support negative n, found ", n);
  DType compute = unary_dtype("polygamma", real_numbers, self.dtype());
  Tensor y = pointwise_result("polygamma", into, {&self}, compute, compute);
  Tensor x = preserved(into, self, self.requires_grad());
  polygamma_kernel(y, self, n, compute);
  return differentiable("PolygammaBackward0", into, y, inputs(self), saved(x),
                        [n](const Tensor& g, Wants, const Tensor& x) { return grads(mul(g, polygamma(n + 1, x))); });
}
CRESSET_FORMS_OUT(polygamma, , (int64_t n, const Tensor& self), (n, self), "n, self", "The n-th derivative of digamma.")
CRESSET_OP(polygamma_, , Tensor&, (const Tensor& self, int64_t n), "self, n", Gradient::formula,
           "The n-th derivative of digamma, in place.")
Tensor& polygamma_(const Tensor& self, int64_t n) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) || !intercepted<void>(polygamma__op, self, n))
    polygamma_into(in_place(self), n, self);
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(polygamma_, , self, n)

static Tensor mvlgamma_into(const Into& into, const Tensor& self, int64_t p) {
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, "mvlgamma: The input tensor may not be a boolean tensor.");
  CRESSET_CHECK_AS(ValueError, p >= 1, "mvlgamma: p has to be greater than or equal to 1, found ", p);
  constexpr int64_t kMostTerms = 1'000'000;  // one logarithm each, and in the gradient one op
  CRESSET_CHECK_AS(ValueError, p <= kMostTerms, "mvlgamma: found p = ", p, " (expected at most ", kMostTerms, ")");
  DType compute = unary_dtype("mvlgamma", real_numbers, self.dtype());
  Tensor y = into.fresh() ? empty_contiguous(self.sizes(), compute, self.device())  // as PyTorch's
                          : pointwise_result("mvlgamma", into, {&self}, compute, compute);
  Tensor x = preserved(into, self, self.requires_grad());
  mvlgamma_kernel(y, self, p, compute);
  return differentiable("MvlgammaBackward0", into, y, inputs(self), saved(x),
                        [p](const Tensor& g, Wants, const Tensor& x) {
                          Tensor slope = digamma(x);
                          for (int64_t i = 1; i < p; i++)
                            slope = add(slope, digamma(sub(x, 0.5 * static_cast<double>(i))));
                          return grads(mul(g, slope));
                        });
}
CRESSET_FORMS(mvlgamma, , (const Tensor& self, int64_t p), (self, p), "self, p",
              "The logarithm of the multivariate gamma function of p dimensions.")

// ---- Bessel. I1(x) / x is 1/2 at 0.
static Tensor over_x(const Tensor& y, const Tensor& x) {
  Tensor nonzero = x.to(kBool), one = x.new_ones({});  // nothing is divided by 0, so that the slope there is 0, not nan
  return where(nonzero, div(y, where(nonzero, x, one)), full_like(x, 0.5));
}
CRESSET_UNARY(i0, "I0", x, (mul(g, special_i1(x))), real_numbers,
              "The modified Bessel function of the first kind, of order 0.")
CRESSET_UNARY_OUT(special_i0e, "SpecialI0E", x, (mul(g, sub(special_i1e(x), mul(sgn(x), special_i0e(x))))),
                  real_numbers, "exp(-|self|) * i0(self).")
CRESSET_UNARY_OUT(special_i1, "SpecialI1", x, (mul(g, sub(i0(x), over_x(special_i1(x), x)))), real_numbers,
                  "The modified Bessel function of the first kind, of order 1.")
static Tensor i1e_slope(const Tensor& x) {
  Tensor y = special_i1e(x);
  return sub(sub(special_i0e(x), mul(sgn(x), y)), over_x(y, x));
}
CRESSET_UNARY_OUT(special_i1e, "SpecialI1E", x, (mul(g, i1e_slope(x))), real_numbers, "exp(-|self|) * i1(self).")
CRESSET_UNARY_OUT(special_bessel_j0, "SpecialBesselJ0", x, (neg(mul(g, special_bessel_j1(x)))), real_numbers,
                  "The Bessel function of the first kind, of order 0.")
CRESSET_UNARY_OUT(special_bessel_j1, "SpecialBesselJ1", x,
                  (mul(g, sub(special_bessel_j0(x), over_x(special_bessel_j1(x), x)))), real_numbers,
                  "The Bessel function of the first kind, of order 1.")
CRESSET_UNARY_OUT(special_bessel_y0, "SpecialBesselY0", x, (neg(mul(g, special_bessel_y1(x)))), real_numbers,
                  "The Bessel function of the second kind, of order 0.")
CRESSET_UNARY_OUT(special_bessel_y1, "SpecialBesselY1", x,
                  (mul(g, sub(special_bessel_y0(x), div(special_bessel_y1(x), x)))), real_numbers,
                  "The Bessel function of the second kind, of order 1.")

}  // namespace cresset
