// Norms. With |x|^p and x |x|^p, whose derivatives are made of each other, one formula serves every finite p.
#include "cresset/ops/vector_norm.h"

#include <cmath>

#include "cresset/ops/comparison.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/index.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- for formulas
// d|x|^p = p |x|^(p-2) Re(conj(x) dx)
Tensor abs_power(const Tensor& x, double p) {
  DType type = to_real(x.dtype());
  Tensor y = pointwise_result("abs_power", Into{}, {&x}, type, type);
  abs_power_kernel(y, x, p, false);
  return differentiable("AbsPowerBackward0", y, inputs(x), saved(x), [p](const Tensor& g, Wants, const Tensor& x) {
    return grads(p == 0 ? Tensor() : mul(signed_power(x, p - 2), mul(g, p)));
  });
}
// d(x |x|^p) = |x|^p dx + p x |x|^(p-2) Re(conj(x) dx)
Tensor signed_power(const Tensor& x, double p) {
  if (p == 0) return x;
  Tensor y = pointwise_result("signed_power", Into{}, {&x}, x.dtype(), x.dtype());
  abs_power_kernel(y, x, p, true);
  return differentiable("SignedPowerBackward0", y, inputs(x), saved(x), [p](const Tensor& g, Wants, const Tensor& x) {
    if (!x.is_complex()) return grads(p == -1 ? Tensor() : mul(g, mul(abs_power(x, p), p + 1)));
    Tensor along = mul(conj(x), g).to(to_real(x.dtype()));
    return grads(add(mul(abs_power(x, p), g), mul(signed_power(x, p - 2), mul(along, p))));
  });
}

// ---- norm
// dnorm/dx = x |x|^(p-2) norm^(1-p); for p = ±inf the sign of x, shared among those that reach it.
static Tensor norm_into(const char* node, const Into& into, const Tensor& self, double p, IntArrayRef dim,
                        bool keepdim) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()),
                   "norm(): input dtype should be either floating point or complex. Got ", toString(self.dtype()),
                   " instead.");
  uint64_t mask = dim_mask("norm", dim, self);
  Tensor y = result("norm", into, reduced_sizes(self, mask, keepdim), to_real(self.dtype()), self.device(), {&self});
  norm_kernel(y, self, masked_dims(self, mask), p);
  if (self.numel() == 0 && p < 0) fill_kernel(y, 0);  // the norm of nothing is 0, also where the smallest would count
  return differentiable(node, into, y, inputs(self), saved(self, output(y)),
                        [mask, keepdim, p](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
                          if (p == 0) return grads(Tensor());
                          Tensor wide = unreduced(g, self.dim(), mask, keepdim);
                          if (std::isinf(p)) {
                            Tensor share = tie_share(abs_power(self.detach(), 1), y, mask);
                            return grads(mul(signed_power(self, -1), mul(wide, share)));
                          }
                          Tensor scale = abs_power(unreduced(y, self.dim(), mask, keepdim), 1 - p);
                          return grads(mul(signed_power(self, p - 2), mul(wide, scale)));
                        });
}
static double order_of(const std::optional<Scalar>& p) { return p ? p->to<double>() : 2; }
static Tensor in_dtype(const Tensor& self, DType dtype) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(dtype) && (!self.is_complex() || is_complex(dtype)),
                   "norm(): dtype should be floating point or complex, and complex if the input is; found ",
                   name_of(dtype), " for an input of ", name_of(self.dtype()));
  return self.to(dtype);
}
static Tensor norm_into(const Into& into, const Tensor& self, const Scalar& p) {
  return norm_into("NormBackward0", into, self, p.to<double>(), IntArrayRef(), false);
}
static Tensor norm_into(const Into& into, const Tensor& self, const std::optional<Scalar>& p, DType dtype) {
  return norm_into("NormBackward2", into, in_dtype(self, dtype), order_of(p), IntArrayRef(), false);
}
static Tensor norm_into(const Into& into, const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                        bool keepdim) {
  return norm_into("NormBackward1", into, self, order_of(p), dim, keepdim);
}
static Tensor norm_into(const Into& into, const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                        bool keepdim, DType dtype) {
  return norm_into("NormBackward3", into, in_dtype(self, dtype), order_of(p), dim, keepdim);
}
CRESSET_FORMS_OUT(norm, , (const Tensor& self, const Scalar& p), (self, p), "self, p=2", "The p-norm of all elements.")
CRESSET_FORMS_OUT(norm, dtype, (const Tensor& self, const std::optional<Scalar>& p, DType dtype), (self, p, dtype),
                  "self, p, dtype", "The p-norm (none: 2) of all elements, computed in dtype.")
CRESSET_FORMS_OUT(norm, dim, (const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim),
                  (self, p, dim, keepdim), "self, p, dim, keepdim=false",
                  "The p-norm (none: 2) over the given dimensions.")
CRESSET_FORMS_OUT(norm, dim_dtype,
                  (const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, DType dtype),
                  (self, p, dim, keepdim, dtype), "self, p, dim, keepdim, dtype",
                  "The p-norm (none: 2) over the given dimensions, computed in dtype.")

CRESSET_OP(dist, , Tensor, (const Tensor& self, const Tensor& other, const Scalar& p), "self, other, p=2",
           Gradient::composed, "The p-norm of self - other.")
Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) try {
  CRESSET_INTERCEPT(dist, , Tensor, self, other, p);
  return norm(sub(self, other), p);
}
CRESSET_ERRORS_OF(dist, , self, other, p)

// ---- renorm
static Tensor renorm_into(const Into& into, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), "renorm: not implemented for '", toString(self.dtype()),
                   "' (expected a floating or complex type)");
  CRESSET_CHECK(!p.isComplex() && p.toDouble() > 0,
                "renorm: non-positive-norm not supported, found p = ", p.toDouble());
  CRESSET_CHECK(!maxnorm.isComplex() && maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got ",
                maxnorm.toDouble());
  CRESSET_CHECK_AS(ShapeError, self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
                   " dimensions");
  dim = wrap_dim("renorm", dim, self);
  Dims others;
  for (int i = 0; i < self.dim(); i++)
    if (i != dim) others.push_back(i);
  Tensor kept = into.fresh() ? self : preserved(into, self, self.requires_grad());
  Tensor lengths = norm(kept, p, others, true);
  // The margin is PyTorch's: what was scaled once is not scaled again for its rounding.
  Tensor too_long = gt(lengths.detach(), maxnorm);  // nan is not
  Tensor scale = div(wrapped_number(maxnorm.toDouble()), add(lengths, 1e-7));
  Tensor factors = where(too_long, scale, lengths.new_ones({}));
  if (into.fresh()) return mul(self.contiguous(), factors);
  return into.in_place() ? mul_(self, factors) : mul_out(const_cast<Tensor&>(*into.tensor), self, factors);
}
CRESSET_FUNCTION_FORM_OF(Gradient::composed, renorm, ,
                         (const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm),
                         (self, p, dim, maxnorm), "self, p, dim, maxnorm",
                         "self, with slices along dim whose p-norm is above maxnorm scaled down to it.")
CRESSET_INPLACE_FORM(renorm, , (const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm),
                     (self, p, dim, maxnorm), "self, p, dim, maxnorm",
                     "self, with slices along dim whose p-norm is above maxnorm scaled down to it.")
CRESSET_OUT_FORM(renorm, , (const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm),
                 (self, p, dim, maxnorm), "self, p, dim, maxnorm",
                 "self, with slices along dim whose p-norm is above maxnorm scaled down to it.")

// ---- cov, corrcoef
static void check_weights(const char* name, const Tensor& w, int64_t observations, bool whole) {
  CRESSET_CHECK_AS(ShapeError, w.dim() <= 1, "cov(): expected ", name, " to have one or fewer dimensions but got ",
                   name, " with ", w.dim(), " dimensions");
  CRESSET_CHECK_AS(TypeError, whole ? is_integral(w.dtype(), false) : w.is_floating_point(), "cov(): expected ", name,
                   " to have ", whole ? "integral" : "floating point", " dtype but got ", name, " with ",
                   toString(w.dtype()), " dtype");
  CRESSET_CHECK_AS(ShapeError, w.numel() == observations, "cov(): expected ", name,
                   " to have the same numel as there are observations in the input but got ", w.numel(),
                   " != ", observations);
  CRESSET_CHECK(observations == 0 || w.is_meta() || min(w.detach()).item<double>() >= 0, "cov(): ", name,
                " cannot be negative");
}
CRESSET_OP(cov, , Tensor, (const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights),
           "self, correction=1, fweights={}, aweights={}", Gradient::composed,
           "The covariances of the rows, whose columns are observations.")
Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) try {
  CRESSET_INTERCEPT(cov, , Tensor, self, correction, fweights, aweights);
  CRESSET_CHECK_AS(ShapeError, self.dim() <= 2,
                   "cov(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
                   " dimensions");
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, "cov(): bool dtype is not supported for input");
  Tensor x = self.dim() < 2 ? reshape(self, {1, self.numel()}) : self;
  int64_t n = x.size(1);
  if (fweights.defined()) check_weights("fweights", fweights, n, true), check_same_device("cov", self, fweights);
  if (aweights.defined()) check_weights("aweights", aweights, n, false), check_same_device("cov", self, aweights);
  if (!fweights.defined() && !aweights.defined()) {
    Tensor centred = sub(x, div(sum(x, 1, true), static_cast<double>(n)));
    return squeeze(div(mm(centred, t(conj(centred))), static_cast<double>(std::max<int64_t>(0, n - correction))));
  }
  Tensor w = !aweights.defined() ? fweights : fweights.defined() ? mul(fweights, aweights) : aweights;
  Tensor weight = sum(w);
  CRESSET_CHECK(weight.is_meta() || weight.item<double>() != 0, "cov(): weights sum to zero, can't be normalized");
  Tensor centred = sub(x, unsqueeze(div(sum(mul(x, w), 1), weight), 1));
  Tensor less = aweights.defined() && correction != 0 ? div(mul(sum(mul(w, aweights)), correction), weight)
                                                      : scalar_tensor(correction, w.options());
  return squeeze(div(mm(centred, t(conj(mul(centred, w)))), relu(sub(weight, less))));
}
CRESSET_ERRORS_OF(cov, , self, correction)

CRESSET_OP(corrcoef, , Tensor, (const Tensor& self), "self", Gradient::composed,
           "The correlation coefficients of the rows, whose columns are observations.")
Tensor corrcoef(const Tensor& self) try {
  CRESSET_INTERCEPT(corrcoef, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() <= 2,
                   "corrcoef(): expected input to have two or fewer dimensions but got an input with ", self.dim(),
                   " dimensions");
  Tensor c = cov(self);
  if (c.dim() == 0) return div(c, c);
  Tensor at = arange(c.size(0), TensorOptions(kLong).device(c.device()));
  Tensor deviations = abs_power(index(c, {at, at}).to(to_real(c.dtype())), 0.5);
  c = div(div(c, unsqueeze(deviations, 1)), unsqueeze(deviations, 0));
  if (c.is_complex()) return c;
  return add(sub(c, relu(sub(c, 1))), relu(sub(neg(c), 1)));  // rounding must not lead beyond ±1
}
CRESSET_ERRORS_OF(corrcoef, , self)

}  // namespace cresset
