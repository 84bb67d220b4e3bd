// Scans. The gradients of products and of logcumsumexp are linear recurrences, which are scans again: zeros need no
// special care, nothing is divided, and every derivative is there.
#include "cresset/ops/scan.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- for formulas
// x moved one further along dim (one back if reverse); `fill` comes in.
static Tensor shifted(const Tensor& x, int64_t dim, bool reverse, double fill) {
  if (x.numel() == 0 || x.dim() == 0) return full_like(x, fill);
  Dims one = x.sizes();
  int64_t n = one[static_cast<int>(dim)];
  one[static_cast<int>(dim)] = 1;
  Tensor edge = x.new_full(one, fill);
  return reverse ? cat({narrow(x, dim, 1, n - 1), edge}, dim) : cat({edge, narrow(x, dim, 0, n - 1)}, dim);
}

// With u[k] = g[k] + a[k+1] u[k+1]: the gradient of b is u, that of a is u[k] y[k-1].
Tensor linear_scan(const Tensor& a, const Tensor& b, int64_t dim, bool reverse) {
  Tensor y = empty_contiguous(b.sizes(), b.dtype(), b.device());
  linear_scan_kernel(y, a, b, dim, reverse);
  return differentiable("LinearScanBackward0", y, inputs(a, b), saved(a, output(y)),
                        [dim, reverse](const Tensor& g, Wants wants, const Tensor& a, const Tensor& y) {
                          Tensor u = linear_scan(conj(shifted(a, dim, !reverse, 0)), g, dim, !reverse);
                          return grads(wants(0) ? mul(u, conj(shifted(y, dim, reverse, 0))) : Tensor(), u);
                        });
}
Tensor exclusive_prod(const Tensor& x, int64_t dim, bool reverse) {
  Tensor start = shifted(zeros_like(x.detach()), dim, reverse, 1);
  return linear_scan(shifted(x, dim, reverse, 0), start, dim, reverse);
}

// The type of a sum or product, and self in it.
static Tensor scanned(const char* op, const Into& into, const Tensor& self, std::optional<DType> dtype) {
  if (into.in_place())
    CRESSET_CHECK_AS(TypeError, self.dtype() != kBool, op, "_: not implemented for 'Bool' (expected numbers)");
  DType type = !into.fresh() && into.tensor->defined() ? dtype.value_or(into.tensor->dtype())
               : is_integral(self.dtype(), true)       ? dtype.value_or(kLong)
                                                       : dtype.value_or(self.dtype());
  return self.to(type);
}

// ---- cumsum
static Tensor cumsum_along(const Into& into, const Tensor& self, int64_t dim, bool reverse) {
  Tensor y = result("cumsum", into, self.sizes(), self.dtype(), self.device(), {&self});
  cumsum_kernel(y, self, dim, reverse);
  return differentiable("CumsumBackward0", into, y, inputs(self), saved(), [dim, reverse](const Tensor& g, Wants) {
    return grads(cumsum_along(Into{}, g, dim, !reverse));
  });
}
static Tensor cumsum_into(const Into& into, const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim("cumsum", dim, self);
  return cumsum_along(into, scanned("cumsum", into, self, dtype), dim, false);
}
CRESSET_FORMS(cumsum, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
              "self, dim, dtype=std::nullopt", "The sums of all elements up to each, along a dimension.")

// ---- cumprod
// y[k] = x[0] … x[k]. dL/dx[k] = y[k-1] s[k], s[k] = g[k] + x[k+1] s[k+1].
static Tensor cumprod_into(const Into& into, const Tensor& given, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim("cumprod", dim, given);
  Tensor self = scanned("cumprod", into, given, dtype);
  Tensor y = result("cumprod", into, self.sizes(), self.dtype(), self.device(), {&self});
  Tensor factors = preserved(into, self, self.requires_grad());
  cumprod_kernel(y, self, dim, false);
  return differentiable("CumprodBackward0", into, y, inputs(self), saved(factors, output(y)),
                        [dim](const Tensor& g, Wants, const Tensor& x, const Tensor& y) {
                          Tensor s = linear_scan(conj(shifted(x, dim, true, 0)), g, dim, true);
                          return grads(mul(s, conj(shifted(y, dim, false, 1))));
                        });
}
CRESSET_FORMS(cumprod, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
              "self, dim, dtype=std::nullopt", "The products of all elements up to each, along a dimension.")

// ---- logcumsumexp
// dL/dx[k] = exp(x[k] - y[k]) s[k], s[k] = g[k] + exp(y[k] - y[k+1]) s[k+1]: no exponent is above 0.
static Tensor logcumsumexp_into(const Into& into, const Tensor& self, int64_t dim) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), "logcumsumexp: not implemented for '", toString(self.dtype()),
                   "' (expected a real floating-point type)");
  dim = wrap_dim("logcumsumexp", dim, self);
  Tensor y = result("logcumsumexp", into, self.sizes(), self.dtype(), self.device(), {&self});
  logcumsumexp_kernel(y, self, dim, false);
  return differentiable("LogcumsumexpBackward0", into, y, inputs(self), saved(self, output(y)),
                        [dim](const Tensor& g, Wants, const Tensor& x, const Tensor& y) {
                          Tensor factors = exp(sub(y, shifted(y, dim, true, 0)));
                          return grads(mul(exp(sub(x, y)), linear_scan(factors, g, dim, true)));
                        });
}
CRESSET_FORMS_OUT(logcumsumexp, , (const Tensor& self, int64_t dim), (self, dim), "self, dim",
                  "The logarithm of the sums of exp(self) up to each element, along a dimension.")

// ---- cummax, cummin
static std::tuple<Tensor, Tensor> best_so_far(const char* op, const char* node, const Into& values_into,
                                              const Into& indices_into, const Tensor& self, int64_t dim,
                                              bool smallest) {
  check_ordered(op, self);
  dim = wrap_dim(op, dim, self);
  Tensor values = result(op, values_into, self.sizes(), self.dtype(), self.device(), {&self});
  Tensor indices = result(op, indices_into, self.sizes(), kLong, self.device(), {&self});
  cummax_kernel(values, indices, self, dim, smallest);
  differentiable_outputs(node, values_into, {&values, &indices}, inputs(self), saved(indices),
                         [dim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(scatter_along(indices.sizes(), indices, g[0], dim));
                         });
  return {values, indices};
}
static std::tuple<Tensor, Tensor> cummax_pair(const Into& values, const Into& indices, const Tensor& self,
                                              int64_t dim) {
  return best_so_far("cummax", "CummaxBackward0", values, indices, self, dim, false);
}
static std::tuple<Tensor, Tensor> cummin_pair(const Into& values, const Into& indices, const Tensor& self,
                                              int64_t dim) {
  return best_so_far("cummin", "CumminBackward0", values, indices, self, dim, true);
}
CRESSET_PAIR_FORMS(cummax, , values, indices, (const Tensor& self, int64_t dim), (self, dim), "self, dim",
                   "The maximum of all elements up to each, along a dimension, and its place; of equals the last.")
CRESSET_PAIR_FORMS(cummin, , values, indices, (const Tensor& self, int64_t dim), (self, dim), "self, dim",
                   "The minimum of all elements up to each, along a dimension, and its place; of equals the last.")

}  // namespace cresset
