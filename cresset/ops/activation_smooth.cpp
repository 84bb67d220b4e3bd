// Activations made of exponentials. A slope's own slope is written with the same kernels, so derivatives of any order
// are there.
#include "cresset/ops/activation.h"
#include "cresset/ops/cat.h"
#include "cresset/ops/comparison.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/power.h"
#include "cresset/ops/shape.h"

namespace cresset {

static void check_real(const char* op, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), op, ": not implemented for '", toString(self.dtype()),
                   "' (expected a real floating-point type)");
}
static Tensor real_like(const char* op, const Into& into, const Tensor& self) {
  check_real(op, self);
  return pointwise_result(op, into, {&self}, self.dtype(), self.dtype());
}
static Tensor slope_result(const char* op, const Tensor& g, const Tensor& x) {
  return pointwise_result(op, Into{}, {&g, &x}, g.dtype(), g.dtype());
}

// ---- elu, selu, celu: scale * x, and scale * alpha * (exp(input_scale * x) - 1) below zero
struct EluNumbers {
  double alpha, scale, input_scale;
};
// Below zero, slope' = input_scale * slope.
static Tensor elu_backward(const Tensor& g, const Tensor& x, EluNumbers n) {
  Tensor dx = slope_result("elu_backward", g, x);
  elu_backward_kernel(dx, g, x, n.alpha, n.scale, n.input_scale);
  return differentiable("EluBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [n](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1))
                            to_x = where(ge(x, 0), g.new_zeros({}), mul(elu_backward(mul(gg, g), x, n), n.input_scale));
                          return grads(wants(0) ? elu_backward(gg, x, n) : Tensor(), to_x);
                        });
}
// From the result y, where it has x's sign: slope = input_scale * (y + scale * alpha) below zero.
static Tensor elu_backward_from_result(const Tensor& g, const Tensor& y, EluNumbers n) {
  Tensor dx = slope_result("elu_backward", g, y);
  elu_backward_from_result_kernel(dx, g, y, n.alpha, n.scale, n.input_scale);
  return differentiable("EluBackwardBackward0", dx, inputs(g, y), saved(g, y),
                        [n](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& y) {
                          Tensor to_y;
                          if (wants(1)) to_y = where(ge(y, 0), g.new_zeros({}), mul(mul(gg, g), n.input_scale));
                          return grads(wants(0) ? elu_backward_from_result(gg, y, n) : Tensor(), to_y);
                        });
}
static Tensor elu_of(const char* op, const char* node, const Into& into, const Tensor& self, EluNumbers n) {
  Tensor y = real_like(op, into, self);
  bool from_result = into.in_place() && n.alpha >= 0 && n.scale > 0 && n.input_scale > 0;
  Tensor x = from_result ? self : preserved(into, self, self.requires_grad());
  elu_kernel(y, self, n.alpha, n.scale, n.input_scale);
  if (from_result)
    return differentiable(node, into, y, inputs(self), saved(output(y)), [n](const Tensor& g, Wants, const Tensor& y) {
      return grads(elu_backward_from_result(g, y, n));
    });
  return differentiable(node, into, y, inputs(self), saved(x),
                        [n](const Tensor& g, Wants, const Tensor& x) { return grads(elu_backward(g, x, n)); });
}
static Tensor elu_into(const Into& into, const Tensor& self, const Scalar& alpha, const Scalar& scale,
                       const Scalar& input_scale) {
  return elu_of("elu", "EluBackward0", into, self, {alpha.to<double>(), scale.to<double>(), input_scale.to<double>()});
}
CRESSET_FORMS(elu, , (const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale),
              (self, alpha, scale, input_scale), "self, alpha=1, scale=1, input_scale=1",
              "self, and alpha * (exp(self) - 1) below zero.", .where = Where::function)

static Tensor selu_into(const Into& into, const Tensor& self) {
  return elu_of("selu", "EluBackward0", into, self,
                {1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1});
}
CRESSET_FUNCTION_FORM(selu, , (const Tensor& self), (self), "self", "elu with the numbers that normalise themselves.",
                      .where = Where::function)
CRESSET_INPLACE_FORM(selu, , (const Tensor& self), (self), "self", "elu with the numbers that normalise themselves.",
                     .where = Where::function)
static Tensor celu_into(const Into& into, const Tensor& self, const Scalar& alpha) {
  double a = alpha.to<double>();
  CRESSET_CHECK_AS(ValueError, a != 0, "celu: ZeroDivisionError: alpha cannot be 0 for CELU");
  return elu_of("celu", "EluBackward0", into, self, {a, 1, 1 / a});
}
CRESSET_FUNCTION_FORM(celu, , (const Tensor& self, const Scalar& alpha), (self, alpha), "self, alpha=1",
                      "self, and alpha * (exp(self / alpha) - 1) below zero.", .where = Where::function)
CRESSET_INPLACE_FORM(celu, , (const Tensor& self, const Scalar& alpha), (self, alpha), "self, alpha=1",
                     "self, and alpha * (exp(self / alpha) - 1) below zero.", .where = Where::function)

// ---- softplus: its slope is s = sigmoid(beta * x), and s' = beta * s * (1 - s)
static Tensor softplus_backward(const Tensor& g, const Tensor& x, double beta, double threshold) {
  Tensor dx = slope_result("softplus_backward", g, x);
  softplus_backward_kernel(dx, g, x, beta, threshold, 0);
  return differentiable("SoftplusBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [beta, threshold](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) {
                            Tensor once = softplus_backward(mul(gg, g), x, beta, threshold);
                            to_x = mul(sub(once, softplus_backward(once, x, beta, threshold)), beta);
                          }
                          return grads(wants(0) ? softplus_backward(gg, x, beta, threshold) : Tensor(), to_x);
                        });
}
static Tensor softplus_into(const Into& into, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  Tensor y = real_like("softplus", into, self);
  double b = beta.to<double>(), t = threshold.to<double>();
  softplus_kernel(y, self, b, t, 0);
  return differentiable(
      "SoftplusBackward0", into, y, inputs(self), saved(self),
      [b, t](const Tensor& g, Wants, const Tensor& x) { return grads(softplus_backward(g, x, b, t)); });
}
CRESSET_FORMS_OUT(softplus, , (const Tensor& self, const Scalar& beta, const Scalar& threshold),
                  (self, beta, threshold), "self, beta=1, threshold=20", "log(1 + exp(beta * self)) / beta.",
                  .where = Where::function)

// For formulas of other ops: g * sigmoid(x).
static Tensor times_sigmoid(const Tensor& g, const Tensor& x) { return softplus_backward(g, x, 1, 1e300); }

// ---- log_sigmoid: its slope is t = 1 / (1 + exp(x)), and t' = -t * (1 - t)
static Tensor log_sigmoid_backward(const Tensor& g, const Tensor& x) {
  Tensor dx = slope_result("log_sigmoid_backward", g, x);
  log_sigmoid_backward_kernel(dx, g, x, 0, 0, 0);
  return differentiable("LogSigmoidBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) {
                            Tensor once = log_sigmoid_backward(mul(gg, g), x);
                            to_x = sub(log_sigmoid_backward(once, x), once);
                          }
                          return grads(wants(0) ? log_sigmoid_backward(gg, x) : Tensor(), to_x);
                        });
}
static Tensor log_sigmoid_into(const Into& into, const Tensor& self) {
  check_real("log_sigmoid", self);
  Tensor y = result("log_sigmoid", into, self.sizes(), self.dtype(), self.device(), {&self});  // contiguous in PyTorch
  log_sigmoid_kernel(y, self, 0, 0, 0);
  return differentiable("LogSigmoidBackward0", into, y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(log_sigmoid_backward(g, x)); });
}
CRESSET_FORMS_OUT(log_sigmoid, , (const Tensor& self), (self), "self", "log(sigmoid(self)).", .where = Where::function)

// ---- mish: x * t with t = tanh(softplus(x)). With s = sigmoid(x), t' = s * (1 - t^2), and the slope's own slope is
// t' * (2 + x * (1 - s) - 2 * x * s * t).
static Tensor mish_backward(const Tensor& g, const Tensor& x) {
  Tensor dx = slope_result("mish_backward", g, x);
  mish_backward_kernel(dx, g, x, 0, 0, 0);
  return differentiable("MishBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) {
                            Tensor one = g.new_ones({}), plus = softplus(x), t = sub(plus, tanhshrink(plus));
                            Tensor s = times_sigmoid(one, x), bend = mul(s, add(neg(mul(t, t)), 1));
                            Tensor rest = mul(x, add(neg(mul(s, add(mul(t, 2), 1))), 1));
                            to_x = mul(mul(gg, g), mul(bend, add(rest, 2)));
                          }
                          return grads(wants(0) ? mish_backward(gg, x) : Tensor(), to_x);
                        });
}
static Tensor mish_into(const Into& into, const Tensor& self) {
  Tensor y = real_like("mish", into, self), x = preserved(into, self, self.requires_grad());
  mish_kernel(y, self, 0, 0, 0);
  return differentiable("MishBackward0", into, y, inputs(self), saved(x),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(mish_backward(g, x)); });
}
CRESSET_FORMS(mish, , (const Tensor& self), (self), "self", "self * tanh(softplus(self)).", .where = Where::function)

// ---- softsign: x / (1 + |x|); with r = 1 / (1 + |x|) the slope is r^2, and r * sign(x) = sign(x) - softsign(x)
static Tensor softsign_backward(const Tensor& g, const Tensor& x) {
  Tensor dx = slope_result("softsign_backward", g, x);
  softsign_backward_kernel(dx, g, x, 0, 0, 0);
  return differentiable("SoftsignBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) {
                            Tensor signed_r = sub(copysign(as_operand(1.0), x), softsign(x));
                            to_x = mul(softsign_backward(mul(mul(gg, g), signed_r), x), -2);
                          }
                          return grads(wants(0) ? softsign_backward(gg, x) : Tensor(), to_x);
                        });
}
static Tensor softsign_into(const Into& into, const Tensor& self) {
  Tensor y = real_like("softsign", into, self);
  softsign_kernel(y, self, 0, 0, 0);
  return differentiable("SoftsignBackward0", into, y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(softsign_backward(g, x)); });
}
CRESSET_FUNCTION_FORM(softsign, , (const Tensor& self), (self), "self", "self / (1 + |self|).",
                      .where = Where::function)

// ---- tanhshrink: x - t with t = tanh(x); its slope is t^2, and t' = 1 - t^2
static Tensor tanhshrink_backward(const Tensor& g, const Tensor& x) {
  Tensor dx = slope_result("tanhshrink_backward", g, x);
  tanhshrink_backward_kernel(dx, g, x, 0, 0, 0);
  return differentiable("TanhshrinkBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) {
                            Tensor t = sub(x, tanhshrink(x)), q = mul(mul(gg, g), t);
                            to_x = mul(sub(q, mul(q, mul(t, t))), 2);
                          }
                          return grads(wants(0) ? tanhshrink_backward(gg, x) : Tensor(), to_x);
                        });
}
static Tensor tanhshrink_into(const Into& into, const Tensor& self) {
  Tensor y = real_like("tanhshrink", into, self);
  tanhshrink_kernel(y, self, 0, 0, 0);
  return differentiable("TanhshrinkBackward0", into, y, inputs(self), saved(self),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(tanhshrink_backward(g, x)); });
}
CRESSET_FUNCTION_FORM(tanhshrink, , (const Tensor& self), (self), "self", "self - tanh(self).",
                      .where = Where::function)

// ---- glu: a * s with s = sigmoid(b), for the halves a and b of x
static Tensor half_of(const Tensor& x, int64_t dim, int64_t which) {
  int64_t n = x.size(dim) / 2;
  return narrow(x, dim, which * n, n);
}
// to_a = g * s, to_b = g * a * s * (1 - s).
static Tensor glu_backward(const Tensor& g, const Tensor& x, int64_t dim) {
  Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device());
  {
    NoGradGuard no_grad;
    glu_backward_kernel(half_of(dx, dim, 0), half_of(dx, dim, 1), g, half_of(x, dim, 0), half_of(x, dim, 1));
  }
  return differentiable("GluBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [dim](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor a = half_of(x, dim, 0), b = half_of(x, dim, 1), va = half_of(gg, dim, 0),
                                 vb = half_of(gg, dim, 1);
                          Tensor s = times_sigmoid(g.new_ones({}), b), bend = mul(s, add(neg(s), 1)), to_g, to_x;
                          if (wants(0)) to_g = add(mul(va, s), mul(mul(vb, a), bend));
                          if (wants(1)) {
                            Tensor q = mul(g, bend);
                            Tensor to_b = add(mul(q, va), mul(mul(mul(q, vb), a), add(mul(s, -2), 1)));
                            to_x = cat({mul(q, vb), to_b}, dim);
                          }
                          return grads(to_g, to_x);
                        });
}
static Tensor glu_into(const Into& into, const Tensor& self, int64_t dim) {
  check_real("glu", self);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "glu: does not support 0-dimensional tensors");
  dim = wrap_dim("glu", dim, self);
  CRESSET_CHECK_AS(ShapeError, self.size(dim) % 2 == 0, "glu: Halving dimension must be even, but dimension ", dim,
                   " is size ", self.size(dim));
  Tensor a, b;
  {
    NoGradGuard no_grad;
    a = half_of(self, dim, 0);
    b = half_of(self, dim, 1);
  }
  Tensor y = pointwise_result("glu", into, {&a, &b}, self.dtype(), self.dtype());
  glu_kernel(y, a, b);
  return differentiable("GluBackward0", into, y, inputs(self), saved(self),
                        [dim](const Tensor& g, Wants, const Tensor& x) { return grads(glu_backward(g, x, dim)); });
}
CRESSET_FORMS_OUT(glu, , (const Tensor& self, int64_t dim), (self, dim), "self, dim=-1",
                  "The first half along dim times the sigmoid of the second.", .where = Where::function)

}  // namespace cresset
