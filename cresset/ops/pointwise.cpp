// Pointwise ops: promotion and broadcasting in the shape rule, the gradient under each.
#include "cresset/ops/pointwise.h"

#include "cresset/core/warning.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- add, sub
static void check_alpha(const char* op, const Scalar& alpha, DType compute) {
  CRESSET_CHECK_AS(TypeError, !alpha.isBoolean() || compute == kBool, op,
                   ": Boolean alpha only supported for Boolean results, found a result of ", name_of(compute));
  CRESSET_CHECK_AS(TypeError, alpha.isIntegral(true) || is_differentiable(compute), op,
                   ": For integral input tensors, argument alpha must not be a floating point number, found ", alpha);
}

// op: "add" or "sub", for messages.
static Tensor add_scaled_into(const char* op, const Into& into, const Tensor& self, const Tensor& other,
                              const Scalar& alpha) {
  DType compute = result_type(self, other);
  check_alpha(op, alpha, compute);
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  add_kernel(y, self, other, alpha, compute);
  if (CRESSET_LIKELY(alpha.equal(1)))  // a node of two cache lines
    return differentiable("AddBackward0", into, y, inputs(self, other), saved(),
                          [a = Broadcast(self, y), b = Broadcast(other, y)](const Tensor& g, Wants wants) {
                            return grads(wants(0) ? a.reduce(g) : Tensor(), wants(1) ? b.reduce(g) : Tensor());
                          });
  return differentiable("AddBackward0", into, y, inputs(self, other), saved(),
                        [a = Broadcast(self, y), b = Broadcast(other, y), alpha](const Tensor& g, Wants wants) {
                          return grads(wants(0) ? a.reduce(g) : Tensor(),
                                       wants(1) ? b.reduce(mul(g, alpha.conj())) : Tensor());
                        });
}
static Tensor add_into(const Into& into, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return add_scaled_into("add", into, self, other, alpha);
}
static Tensor add_into(const Into& into, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return add_into(into, self, as_operand(other), alpha);
}
CRESSET_FORMS(add, , (const Tensor& self, const Tensor& other, const Scalar& alpha), (self, other, alpha),
              "self, other, alpha=1", "self + alpha * other, with broadcasting and type promotion.")
CRESSET_FORMS(add, Scalar, (const Tensor& self, const Scalar& other, const Scalar& alpha), (self, other, alpha),
              "self, other, alpha=1", "self + alpha * other for a number.")

static Tensor sub_into(const Into& into, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool && other.dtype() != kBool,
                   "sub: Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                   "invert a mask, use the `~` or `logical_not()` operator instead");
  CRESSET_CHECK_AS(TypeError, !alpha.isBoolean(), "sub: Boolean alpha only supported for Boolean results");
  return add_scaled_into("sub", into, self, other, -alpha);
}
static Tensor sub_into(const Into& into, const Tensor& self, const Scalar& other, const Scalar& alpha) {
  return sub_into(into, self, as_operand(other), alpha);
}
CRESSET_FORMS(sub, , (const Tensor& self, const Tensor& other, const Scalar& alpha), (self, other, alpha),
              "self, other, alpha=1", "self - alpha * other, with broadcasting and type promotion.")
CRESSET_FORMS(sub, Scalar, (const Tensor& self, const Scalar& other, const Scalar& alpha), (self, other, alpha),
              "self, other, alpha=1", "self - alpha * other for a number.")

// ---- mul
static Tensor times_conj(const Tensor& g, const Tensor& x) { return x.is_complex() ? mul(g, conj(x)) : mul(g, x); }

static Tensor mul_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = result_type(self, other);
  Tensor y = pointwise_result("mul", into, {&self, &other}, compute, compute);
  Tensor copies[2];  // of factors that are about to be overwritten
  const Tensor& factor = into.fresh() ? self : copies[0] = preserved(into, self, other.requires_grad());
  const Tensor& other_factor = into.fresh() ? other : copies[1] = preserved(into, other, self.requires_grad());
  mul_kernel(y, self, other, compute);
  return differentiable("MulBackward0", into, y, inputs(self, other),
                        saved(kept_if(other.requires_grad(), factor), kept_if(self.requires_grad(), other_factor)),
                        [a = Broadcast(self, y), b = Broadcast(other, y)](const Tensor& g, Wants wants,
                                                                          const Tensor& self, const Tensor& other) {
                          return grads(wants(0) ? a.reduce(times_conj(g, other)) : Tensor(),
                                       wants(1) ? b.reduce(times_conj(g, self)) : Tensor());
                        });
}
static Tensor mul_into(const Into& into, const Tensor& self, const Scalar& other) {
  return mul_into(into, self, as_operand(other));
}
CRESSET_FORMS(mul, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self * other, with broadcasting and type promotion.")
CRESSET_FORMS(mul, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "self * other for a number.")

// ---- div
static Tensor div_into(const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = result_type(self, other);
  if (is_integral(compute, true)) compute = default_dtype();
  Tensor y = pointwise_result("div", into, {&self, &other}, compute, compute);
  Tensor numerator = preserved(into, self, other.requires_grad()),
         denominator = preserved(into, other, self.requires_grad() || other.requires_grad());
  div_kernel(y, self, other, compute);
  return differentiable("DivBackward0", into, y, inputs(self, other),
                        saved(kept_if(other.requires_grad(), numerator), denominator),
                        [a = Broadcast(self, y), b = Broadcast(other, y)](const Tensor& g, Wants wants,
                                                                          const Tensor& self, const Tensor& other) {
                          Tensor over = div(g, conj(other));  // g / b for a, and -(g / b) * (a / b) for b
                          return grads(wants(0) ? a.reduce(over) : Tensor(),
                                       wants(1) ? b.reduce(neg(mul(over, conj(div(self, other))))) : Tensor());
                        });
}
static Tensor div_into(const Into& into, const Tensor& self, const Scalar& other) {
  return div_into(into, self, as_operand(other));
}
CRESSET_FORMS(div, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self / other, with broadcasting and type promotion; integers become floating-point numbers.")
CRESSET_FORMS(div, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "self / other for a number.")

// ---- unary
static Tensor exp_into(const Into& into, const Tensor& self) {
  DType compute = is_integral(self.dtype(), true) ? default_dtype() : self.dtype();
  Tensor y = pointwise_result("exp", into, {&self}, compute, compute);
  exp_kernel(y, self, compute);
  return differentiable("ExpBackward0", into, y, inputs(self), saved(output(y)),
                        [](const Tensor& g, Wants, const Tensor& y) { return grads(mul(g, conj(y))); });
}
CRESSET_FORMS(exp, , (const Tensor& self), (self), "self", "e to the power of each element.")

static Tensor relu_backward(const Tensor& g, const Tensor& y);

static Tensor relu_into(const Into& into, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex() && self.dtype() != kBool, "relu: found dtype ", name_of(self.dtype()),
                   " (expected a real number type; Boolean and complex inputs are not supported)");
  Tensor y = pointwise_result("relu", into, {&self}, self.dtype(), self.dtype());
  relu_kernel(y, self, self.dtype());
  return differentiable("ReluBackward0", into, y, inputs(self), saved(output(y)),
                        [](const Tensor& g, Wants, const Tensor& y) { return grads(relu_backward(g, y)); });
}
CRESSET_FORMS(relu, , (const Tensor& self), (self), "self", "max(self, 0), element by element.")

// Linear in g; where y stands has no influence on the slope, so y gets no gradient.
static Tensor relu_backward(const Tensor& g, const Tensor& y) {
  Tensor dx = pointwise_result("relu_backward", Into{}, {&g, &y}, g.dtype(), g.dtype());
  relu_backward_kernel(dx, g, y, g.dtype());
  return differentiable("ThresholdBackwardBackward0", dx, inputs(g), saved(y),
                        [](const Tensor& gg, Wants, const Tensor& y) { return grads(relu_backward(gg, y)); });
}

static Tensor neg_into(const Into& into, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool,
                   "neg: Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                   "mask, use the `~` or `logical_not()` operator instead");
  Tensor y = pointwise_result("neg", into, {&self}, self.dtype(), self.dtype());
  neg_kernel(y, self, self.dtype());
  return differentiable("NegBackward0", into, y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(neg(g)); });
}
CRESSET_FORMS(neg, , (const Tensor& self), (self), "self", "-self, element by element.")

CRESSET_OP(conj, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "The complex conjugate; a real tensor is returned as it is.")
Tensor conj(const Tensor& self) try {
  if (CRESSET_LIKELY(!self.is_complex())) return self;
  CRESSET_INTERCEPT(conj, , Tensor, self);
  Tensor y = pointwise_result("conj", Into{}, {&self}, self.dtype(), self.dtype());
  conj_kernel(y, self, self.dtype());
  return differentiable("ConjBackward0", y, inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(conj(g)); });
}
CRESSET_ERRORS_OF(conj, , self)

// ---- where
static Tensor where_into(const Into& into, const Tensor& condition, const Tensor& self, const Tensor& other) {
  CRESSET_CHECK_AS(TypeError, condition.dtype() == kBool || condition.dtype() == kByte,
                   "where: expected condition to be a boolean tensor, but got a tensor with dtype ",
                   name_of(condition.dtype()));
  if (CRESSET_UNLIKELY(condition.dtype() == kByte))
    CRESSET_WARN_ONCE_UNLESS_HANDLED(
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version "
        "of PyTorch. Use a boolean condition instead.");
  DType compute = result_type(self, other);
  Tensor y = pointwise_result("where", into, {&condition, &self, &other}, compute, compute);
  where_kernel(y, condition, self, other);
  return differentiable(
      "WhereBackward0", into, y, inputs(self, other), saved(condition),
      [a = Broadcast(self, y), b = Broadcast(other, y)](const Tensor& g, Wants wants, const Tensor& condition) {
        Tensor zero = g.new_zeros({});
        return grads(wants(0) ? a.reduce(where(condition, g, zero)) : Tensor(),
                     wants(1) ? b.reduce(where(condition, zero, g)) : Tensor());
      });
}
CRESSET_FORMS_OUT(where, , (const Tensor& condition, const Tensor& self, const Tensor& other), (condition, self, other),
                  "condition, self, other", "self where condition holds, other elsewhere.")

}  // namespace cresset
