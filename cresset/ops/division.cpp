// Rounded division and remainders.
#include "cresset/ops/division.h"

#include "cresset/ops/comparison.h"
#include "cresset/ops/forms.h"

namespace cresset {

static DType division_type(const char* op, const Tensor& self, const Tensor& other) {
  DType compute = result_type(self, other);
  CRESSET_CHECK_AS(TypeError, !is_complex(compute) && compute != kBool, op, ": not implemented for '",
                   toString(compute), "' (expected real numbers)");
  return compute;
}

// ---- div with a rounding mode: flat between its steps
static Tensor rounded(const char* op, const BinaryKernel& kernel, const Into& into, const Tensor& self,
                      const Tensor& other) {
  DType compute = division_type(op, self, other);
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  kernel(y, as_stored(self, compute), as_stored(other, compute), compute);
  return y;
}
static Tensor div_into(const Into& into, const Tensor& self, const Tensor& other,
                       std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) {
    if (into.in_place()) return div_(self, other);
    if (into.fresh()) return div(self, other);
    Tensor out = *into.tensor;
    return div_out(out, self, other);
  }
  CRESSET_CHECK_AS(ValueError, *rounding_mode == "floor" || *rounding_mode == "trunc",
                   "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *rounding_mode,
                   "'");
  Tensor y = rounded("div", *rounding_mode == "floor" ? div_floor_kernel : div_trunc_kernel, into, self, other);
  return differentiable("DivBackward2", into, y, inputs(self, other), saved(),
                        [a = Broadcast(self, y), b = Broadcast(other, y)](const Tensor& g, Wants wants) {
                          Tensor zero = g.new_zeros(g.sizes());
                          return grads(wants(0) ? a.reduce(zero) : Tensor(), wants(1) ? b.reduce(zero) : Tensor());
                        });
}
static Tensor div_into(const Into& into, const Tensor& self, const Scalar& other,
                       std::optional<std::string_view> rounding_mode) {
  return div_into(into, self, as_operand(other), rounding_mode);
}
CRESSET_FORMS(div, Tensor_mode,
              (const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode),
              (self, other, rounding_mode), "self, other, rounding_mode",
              "self / other, rounded down (\"floor\") or towards zero (\"trunc\").")
CRESSET_FORMS(div, Scalar_mode,
              (const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode),
              (self, other, rounding_mode), "self, other, rounding_mode", "The same for a number.")

static Tensor floor_divide_into(const Into& into, const Tensor& self, const Tensor& other) {
  Tensor y = rounded("floor_divide", div_floor_kernel, into, self, other);
  return end_of_gradient("FloorDivideBackward0", into, y, self);
}
static Tensor floor_divide_into(const Into& into, const Tensor& self, const Scalar& other) {
  return floor_divide_into(into, self, as_operand(other));
}
CRESSET_FORMS(floor_divide, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "self / other, rounded down.", .gradient = Gradient::none)
CRESSET_FORMS(floor_divide, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "self / other for a number, rounded down.", .gradient = Gradient::none)

// ---- fmod, remainder: self - other * quotient, and the quotient is flat
static Tensor remainder_of(const char* op, const char* node, const BinaryKernel& kernel, bool floors, const Into& into,
                           const Tensor& self, const Tensor& other) {
  DType compute = division_type(op, self, other);
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  bool keep = other.requires_grad();
  Tensor dividend = preserved(into, self, keep), divisor = preserved(into, other, keep);
  kernel(y, as_stored(self, compute), as_stored(other, compute), compute);
  return differentiable(node, into, y, inputs(self, other), saved(kept_if(keep, dividend), kept_if(keep, divisor)),
                        [a = Broadcast(self, y), b = Broadcast(other, y), floors](
                            const Tensor& g, Wants wants, const Tensor& self, const Tensor& other) {
                          Tensor to_other;
                          if (wants(1)) to_other = b.reduce(neg(mul(g, div(self, other, floors ? "floor" : "trunc"))));
                          return grads(wants(0) ? a.reduce(g) : Tensor(), to_other);
                        });
}
static Tensor fmod_into(const Into& into, const Tensor& self, const Tensor& other) {
  return remainder_of("fmod", "FmodBackward1", fmod_kernel, false, into, self, other);
}
static Tensor fmod_into(const Into& into, const Tensor& self, const Scalar& other) {
  return fmod_into(into, self, as_operand(other));
}
CRESSET_FORMS(fmod, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "What is left of self / other rounded towards zero; it has self's sign.")
CRESSET_FORMS(fmod, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "fmod for a number.")

static Tensor remainder_into(const Into& into, const Tensor& self, const Tensor& other) {
  return remainder_of("remainder", "RemainderBackward1", remainder_kernel, true, into, self, other);
}
static Tensor remainder_into(const Into& into, const Tensor& self, const Scalar& other) {
  return remainder_into(into, self, as_operand(other));
}
static Tensor remainder_into(const Into& into, const Scalar& self, const Tensor& other) {
  return remainder_into(into, as_operand(self), other);
}
CRESSET_FORMS(remainder, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "What is left of self / other rounded down; it has other's sign.")
CRESSET_FORMS(remainder, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other",
              "remainder for a number.")
CRESSET_FORMS_OUT(remainder, Scalar_Tensor, (const Scalar& self, const Tensor& other), (self, other), "self, other",
                  "remainder of a number.")

// ---- rsub
CRESSET_OP(rsub, , Tensor, (const Tensor& self, const Tensor& other, const Scalar& alpha), "self, other, alpha=1",
           Gradient::composed, "other - alpha * self.")
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) try {
  CRESSET_INTERCEPT(rsub, , Tensor, self, other, alpha);
  return sub(other, self, alpha);
}
CRESSET_ERRORS_OF(rsub, , self, other, alpha)
CRESSET_OP(rsub, Scalar, Tensor, (const Tensor& self, const Scalar& other, const Scalar& alpha), "self, other, alpha=1",
           Gradient::composed, "other - alpha * self for a number.")
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) try {
  CRESSET_INTERCEPT(rsub, Scalar, Tensor, self, other, alpha);
  return sub(as_operand(other), self, alpha);
}
CRESSET_ERRORS_OF(rsub, Scalar, self, other, alpha)

}  // namespace cresset
