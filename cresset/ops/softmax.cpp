// Softmax and its logarithm: their gradients need the result only, and are ops with kernels of their own.
#include "cresset/ops/softmax.h"

#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"

namespace cresset {

// The type that the result has and is computed in.
static DType softmax_dtype(const char* op, const Tensor& self, std::optional<DType> dtype) {
  DType type = dtype.value_or(self.dtype());
  CRESSET_CHECK_AS(TypeError, is_floating_point(type), op, ": not implemented for '", toString(type),
                   "' (expected a floating point type; give dtype to convert)");
  return type;
}

// ---- softmax
static Tensor softmax_into(const Into& into, const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim("softmax", dim, self);
  DType type = softmax_dtype("softmax", self, dtype);
  Tensor y = result("softmax", into, self.sizes(), type, self.device(), {&self});
  softmax_kernel(y, self, dim);
  return differentiable("SoftmaxBackward0", into, y, inputs(self), saved(output(y)),
                        [dim, type = self.dtype()](const Tensor& g, Wants, const Tensor& y) {
                          return grads(softmax_backward(g, y, dim).to(type));
                        });
}
CRESSET_FUNCTION_FORM(softmax, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
                      "self, dim, dtype=std::nullopt", "exp(self) divided by its sum along a dimension.")
CRESSET_OUT_FORM(softmax, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
                 "self, dim, dtype=std::nullopt", "exp(self) divided by its sum along a dimension.")

// Linear in g and its own transpose there; in y it is a product rule with the sum inside.
Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  dim = wrap_dim("softmax_backward", dim, y);
  Tensor dx = empty_contiguous(y.sizes(), y.dtype(), y.device());
  softmax_backward_kernel(dx, g, y, dim);
  return differentiable("SoftmaxBackwardDataBackward0", dx, inputs(g, y), saved(g, y),
                        [dim](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& y) {
                          Tensor to_g, to_y;
                          if (wants(0)) to_g = softmax_backward(gg, y, dim);
                          if (wants(1))
                            to_y = mul(gg, sub(g, sum(mul(g, y), dim, true))) - mul(g, sum(mul(gg, y), dim, true));
                          return grads(to_g, to_y);
                        });
}

CRESSET_OP(softmin, , Tensor, (const Tensor& self, int64_t dim, std::optional<DType> dtype),
           "self, dim, dtype=std::nullopt", Gradient::composed, "softmax of -self along a dimension.")
Tensor softmin(const Tensor& self, int64_t dim, std::optional<DType> dtype) try {
  CRESSET_INTERCEPT(softmin, , Tensor, self, dim, dtype);
  return softmax(neg(self), dim, dtype);
}
CRESSET_ERRORS_OF(softmin, , self, dim, dtype)

// ---- log_softmax
static Tensor log_softmax_into(const Into& into, const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim("log_softmax", dim, self);
  DType type = softmax_dtype("log_softmax", self, dtype);
  Tensor y = result("log_softmax", into, self.sizes(), type, self.device(), {&self});
  log_softmax_kernel(y, self, dim);
  return differentiable("LogSoftmaxBackward0", into, y, inputs(self), saved(output(y)),
                        [dim, type = self.dtype()](const Tensor& g, Wants, const Tensor& y) {
                          return grads(log_softmax_backward(g, y, dim).to(type));
                        });
}
CRESSET_FUNCTION_FORM(log_softmax, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
                      "self, dim, dtype=std::nullopt", "The logarithm of softmax along a dimension.")
CRESSET_OUT_FORM(log_softmax, , (const Tensor& self, int64_t dim, std::optional<DType> dtype), (self, dim, dtype),
                 "self, dim, dtype=std::nullopt", "The logarithm of softmax along a dimension.")

// dx = g - exp(y) * sum(g): linear in g, and exp(y) is its own derivative.
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t dim) {
  dim = wrap_dim("log_softmax_backward", dim, y);
  Tensor dx = empty_contiguous(y.sizes(), y.dtype(), y.device());
  log_softmax_backward_kernel(dx, g, y, dim);
  return differentiable("LogSoftmaxBackwardDataBackward0", dx, inputs(g, y), saved(g, y),
                        [dim](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& y) {
                          Tensor weighted = mul(gg, exp(y)), to_g, to_y;
                          if (wants(0)) to_g = sub(gg, sum(weighted, dim, true));
                          if (wants(1)) to_y = neg(mul(weighted, sum(g, dim, true)));
                          return grads(to_g, to_y);
                        });
}

}  // namespace cresset
