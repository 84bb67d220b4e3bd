// Comparisons and logic: no gradients, bool results, and four kernels for six comparisons.
#include "cresset/ops/comparison.h"

#include <limits>

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/reduce.h"

namespace cresset {

Tensor end_of_gradient(const char* node, const Into& into, Tensor y, const Tensor& self) {
  if (!into.in_place()) return not_differentiable(into, std::move(y));
  return differentiable(node, into, std::move(y), inputs(self), saved(),
                        [](const Tensor& g, Wants) { return grads(g.new_zeros(g.sizes())); });
}

// ---- eq, ne, lt, le, gt, ge
enum class Order : uint8_t { as_given, swapped };

Tensor as_stored(const Tensor& x, DType compute) {
  bool half = compute == kHalf || compute == kBFloat16;
  return half && x.numel() == 1 && x.dtype() != compute ? x.detach().to(compute) : x;
}

static Tensor compared(const char* op, const char* node, const BinaryKernel& kernel, Order order, const Into& into,
                       const Tensor& self, const Tensor& other) {
  DType compute = result_type(self, other);
  bool by_size = &kernel != &eq_kernel && &kernel != &ne_kernel;
  CRESSET_CHECK_AS(TypeError, !by_size || !is_complex(compute), op, ": not implemented for '", toString(compute),
                   "' (expected real numbers: complex ones have no order)");
  Tensor y = pointwise_result(op, into, {&self, &other}, kBool, kBool);
  Tensor left = as_stored(self, compute), right = as_stored(other, compute);
  if (order == Order::as_given)
    kernel(y, left, right, compute);
  else
    kernel(y, right, left, compute);
  return end_of_gradient(node, into, y, self);
}

// gt and ge are lt and le the other way round.
#define CRESSET_COMPARISON(name, node, kernel, order, doc)                                                  \
  static Tensor name##_into(const Into& into, const Tensor& self, const Tensor& other) {                    \
    return compared(#name, node, kernel, order, into, self, other);                                         \
  }                                                                                                         \
  static Tensor name##_into(const Into& into, const Tensor& self, const Scalar& other) {                    \
    return compared(#name, node, kernel, order, into, self, as_operand(other));                             \
  }                                                                                                         \
  CRESSET_FORMS(name, , (const Tensor& self, const Tensor& other), (self, other), "self, other", doc,       \
                .gradient = Gradient::none)                                                                 \
  CRESSET_FORMS(name, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other", doc, \
                .gradient = Gradient::none)

CRESSET_COMPARISON(eq, "EqBackward1", eq_kernel, Order::as_given, "self == other, element by element.")
CRESSET_COMPARISON(ne, "NeBackward1", ne_kernel, Order::as_given, "self != other, element by element.")
CRESSET_COMPARISON(lt, "LtBackward1", lt_kernel, Order::as_given, "self < other, element by element.")
CRESSET_COMPARISON(le, "LeBackward1", le_kernel, Order::as_given, "self <= other, element by element.")
CRESSET_COMPARISON(gt, "GtBackward1", lt_kernel, Order::swapped, "self > other, element by element.")
CRESSET_COMPARISON(ge, "GeBackward1", le_kernel, Order::swapped, "self >= other, element by element.")

// ---- logic: every number but zero is true
#define CRESSET_LOGICAL(name, node, doc)                                                              \
  static Tensor name##_into(const Into& into, const Tensor& self, const Tensor& other) {              \
    Tensor y = pointwise_result(#name, into, {&self, &other}, kBool, kBool);                          \
    name##_kernel(y, self, other);                                                                    \
    return end_of_gradient(node, into, y, self);                                                      \
  }                                                                                                   \
  CRESSET_FORMS(name, , (const Tensor& self, const Tensor& other), (self, other), "self, other", doc, \
                .gradient = Gradient::none)

CRESSET_LOGICAL(logical_and, "LogicalAndBackward0", "Whether self and other are both nonzero.")
CRESSET_LOGICAL(logical_or, "LogicalOrBackward0", "Whether self or other is nonzero.")
CRESSET_LOGICAL(logical_xor, "LogicalXorBackward0", "Whether exactly one of self and other is nonzero.")

static Tensor logical_not_into(const Into& into, const Tensor& self) {
  Tensor y = pointwise_result("logical_not", into, {&self}, kBool, kBool);
  logical_not_kernel(y, self);
  return end_of_gradient("LogicalNotBackward0", into, y, self);
}
CRESSET_FORMS(logical_not, , (const Tensor& self), (self), "self", "Whether self is zero.", .gradient = Gradient::none)

// ---- kinds of numbers
static Tensor bool_like(const char* op, const Into& into, const Tensor& self) {
  return pointwise_result(op, into, {&self}, kBool, kBool);
}
static void refuse_complex(const char* op, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex(), op, ": does not support complex inputs, found dtype ",
                   name_of(self.dtype()));
}

static Tensor isnan_into(const Into& into, const Tensor& self) {
  Tensor y = bool_like("isnan", into, self);
  ne_kernel(y, self, self, self.dtype());
  return y;
}
CRESSET_FUNCTION_FORM(isnan, , (const Tensor& self), (self), "self", "Whether an element is not a number.",
                      .gradient = Gradient::none)

static Tensor isinf_into(const Into& into, const Tensor& self) {
  Tensor y = bool_like("isinf", into, self);
  if (is_differentiable(self.dtype()))
    isinf_kernel(y, self);
  else
    fill_kernel(y, false);
  return y;
}
CRESSET_FUNCTION_FORM(isinf, , (const Tensor& self), (self), "self", "Whether an element is infinite.",
                      .gradient = Gradient::none)

static Tensor isfinite_into(const Into& into, const Tensor& self) {
  Tensor y = bool_like("isfinite", into, self);
  if (is_differentiable(self.dtype()))
    isfinite_kernel(y, self);
  else
    fill_kernel(y, true);
  return y;
}
CRESSET_FUNCTION_FORM(isfinite, , (const Tensor& self), (self), "self",
                      "Whether an element is neither infinite nor nan.", .gradient = Gradient::none)

static Tensor is_infinity(const char* op, const Into& into, const Tensor& self, double infinity) {
  refuse_complex(op, self);
  Tensor y = bool_like(op, into, self);
  if (self.is_floating_point())
    eq_kernel(y, self, as_operand(infinity), self.dtype());
  else
    fill_kernel(y, false);
  return not_differentiable(into, y);
}
static Tensor isposinf_into(const Into& into, const Tensor& self) {
  return is_infinity("isposinf", into, self, std::numeric_limits<double>::infinity());
}
CRESSET_FORMS_OUT(isposinf, , (const Tensor& self), (self), "self", "Whether an element is +inf.",
                  .gradient = Gradient::none)
static Tensor isneginf_into(const Into& into, const Tensor& self) {
  return is_infinity("isneginf", into, self, -std::numeric_limits<double>::infinity());
}
CRESSET_FORMS_OUT(isneginf, , (const Tensor& self), (self), "self", "Whether an element is -inf.",
                  .gradient = Gradient::none)

static Tensor isreal_into(const Into& into, const Tensor& self) {
  Tensor y = bool_like("isreal", into, self);
  if (self.is_complex())
    isreal_kernel(y, self);
  else
    fill_kernel(y, true);
  return y;
}
CRESSET_FUNCTION_FORM(isreal, , (const Tensor& self), (self), "self", "Whether an element has no imaginary part.",
                      .gradient = Gradient::none)

static Tensor signbit_into(const Into& into, const Tensor& self) {
  refuse_complex("signbit", self);
  Tensor y = bool_like("signbit", into, self);
  if (self.is_floating_point())
    signbit_kernel(y, self);
  else
    lt_kernel(y, self, as_operand(0), self.dtype());
  return not_differentiable(into, y);
}
CRESSET_FORMS_OUT(signbit, , (const Tensor& self), (self), "self", "Whether the sign bit is set: negative, or -0.",
                  .gradient = Gradient::none)

// ---- isclose, allclose, equal
static Tensor isclose_into(const Into& into, const Tensor& self, const Tensor& other, double rtol, double atol,
                           bool equal_nan) {
  CRESSET_CHECK_AS(TypeError, self.dtype() == other.dtype(), "isclose: self dtype ", name_of(self.dtype()),
                   " did not match other dtype ", name_of(other.dtype()));
  CRESSET_CHECK_AS(ValueError, rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", rtol);
  CRESSET_CHECK_AS(ValueError, atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", atol);
  Tensor y = pointwise_result("isclose", into, {&self, &other}, kBool, kBool);
  DType compute = is_integral(self.dtype(), true) ? default_dtype() : self.dtype();
  isclose_kernel(y, self, other, rtol, atol, equal_nan, compute);
  return y;
}
CRESSET_FUNCTION_FORM(isclose, , (const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan),
                      (self, other, rtol, atol, equal_nan), "self, other, rtol=1e-5, atol=1e-8, equal_nan=false",
                      "Whether |self - other| <= atol + rtol * |other|, element by element.",
                      .gradient = Gradient::none)

static bool none_of(const Tensor& flags) { return sum(flags).item<int64_t>() == 0; }

CRESSET_OP(allclose, , bool, (const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan),
           "self, other, rtol=1e-5, atol=1e-8, equal_nan=false", Gradient::none, "Whether all elements are close.")
bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) try {
  CRESSET_INTERCEPT(allclose, , bool, self, other, rtol, atol, equal_nan);
  return none_of(logical_not(isclose(self, other, rtol, atol, equal_nan)));
}
CRESSET_ERRORS_OF(allclose, , self, other, rtol, atol, equal_nan)

CRESSET_OP(equal, , bool, (const Tensor& self, const Tensor& other), "self, other", Gradient::none,
           "Whether both have the same shape and equal elements.")
bool equal(const Tensor& self, const Tensor& other) try {
  CRESSET_INTERCEPT(equal, , bool, self, other);
  check_same_device("equal", self, other);
  return self.sizes() == other.sizes() && none_of(ne(self, other));
}
CRESSET_ERRORS_OF(equal, , self, other)

}  // namespace cresset
