// Derivatives exist with respect to `other` alone, as in PyTorch: those with respect to self have no closed form.
#include "cresset/ops/special_binary.h"

#include "cresset/ops/forms.h"
#include "cresset/ops/math.h"
#include "cresset/ops/power.h"
#include "cresset/ops/special.h"

namespace cresset {
namespace {

using Slope = Tensor (*)(const Tensor& self, const Tensor& other);

Tensor in_other(const char* op, const char* node, const BinaryKernel& kernel, DType compute, const Into& into,
                const Tensor& self, const Tensor& other, Slope slope) {
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  bool keep = self.requires_grad() || other.requires_grad();
  Tensor left = preserved(into, self, keep), right = preserved(into, other, keep);
  kernel(y, self, other, compute);
  return differentiable(
      node, into, y, inputs(self, other), saved(left, right),
      [op, slope, b = Broadcast(other, y)](const Tensor& g, Wants wants, const Tensor& self, const Tensor& other) {
        CRESSET_CHECK_AS(NotImplementedError, !wants(0), op, ": the derivative with respect to self",
                         " is not implemented (only that with respect to other)");
        return grads(Tensor(), b.reduce(mul(g, slope(self, other))));
      });
}

DType real_dtype(const char* op, DType dtype) {
  CRESSET_CHECK_AS(TypeError, is_floating_point(dtype), op, ": found dtype ", name_of(dtype),
                   " (expected a real floating-point type; not implemented for others)");
  return dtype;
}

// x^(a-1) e^-x / Γ(a), the density under the integral.
Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp(sub(sub(xlogy(sub(a, 1), x), x), lgamma(a))); }

}  // namespace

static Tensor igamma_into(const Into& into, const Tensor& self, const Tensor& other) {
  return in_other("igamma", "IgammaBackward0", igamma_kernel, real_dtype("igamma", result_type(self, other)), into,
                  self, other, &gamma_density);
}
CRESSET_FORMS(igamma, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The lower incomplete gamma function of self at other, divided by the gamma function of self.")
static Tensor igammac_into(const Into& into, const Tensor& self, const Tensor& other) {
  return in_other("igammac", "IgammacBackward0", igammac_kernel, real_dtype("igammac", result_type(self, other)), into,
                  self, other, [](const Tensor& a, const Tensor& x) { return neg(gamma_density(a, x)); });
}
CRESSET_FORMS(igammac, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The upper incomplete gamma function of self at other, divided by the gamma function of self.")

static Tensor special_zeta_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = result_type(self, other);
  if (is_integral(compute, true)) compute = default_dtype();
  return in_other("special_zeta", "SpecialZetaBackward0", zeta_kernel, real_dtype("special_zeta", compute), into, self,
                  other, [](const Tensor& x, const Tensor& q) { return neg(mul(x, special_zeta(add(x, 1), q))); });
}
CRESSET_FORMS_OUT(special_zeta, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "Hurwitz's zeta function: the sum of (k + other)^-self over k = 0, 1, 2, …", .where = Where::function)

}  // namespace cresset
