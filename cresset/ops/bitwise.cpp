// Ops on bits and integers: one shape rule, no gradients.
#include "cresset/ops/bitwise.h"

#include "cresset/ops/forms.h"

namespace cresset {

enum class Bools : uint8_t { taken, refused };

static DType integer_type(const char* op, DType compute, Bools bools) {
  CRESSET_CHECK_AS(TypeError, is_integral(compute, bools == Bools::taken), op, ": not implemented for '",
                   toString(compute), "' (expected ", bools == Bools::taken ? "integers or bool" : "integers", ")");
  return compute;
}
static Tensor of_integers(const char* op, const BinaryKernel& kernel, Bools bools, const Into& into, const Tensor& self,
                          const Tensor& other) {
  DType compute = integer_type(op, result_type(self, other), bools);
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  kernel(y, self, other, compute);
  return not_differentiable(into, y);
}

#define CRESSET_BITWISE(name, bools, doc)                                                                              \
  static Tensor name##_into(const Into& into, const Tensor& self, const Tensor& other) {                               \
    return of_integers(#name, name##_kernel, bools, into, self, other);                                                \
  }                                                                                                                    \
  static Tensor name##_into(const Into& into, const Tensor& self, const Scalar& other) {                               \
    return name##_into(into, self, as_operand(other));                                                                 \
  }                                                                                                                    \
  static Tensor name##_into(const Into& into, const Scalar& self, const Tensor& other) {                               \
    return name##_into(into, as_operand(self), other);                                                                 \
  }                                                                                                                    \
  CRESSET_FORMS(name, , (const Tensor& self, const Tensor& other), (self, other), "self, other", doc,                  \
                .gradient = Gradient::none)                                                                            \
  CRESSET_FORMS(name, Scalar, (const Tensor& self, const Scalar& other), (self, other), "self, other", doc,            \
                .gradient = Gradient::none)                                                                            \
  CRESSET_FORMS_OUT(name, Scalar_Tensor, (const Scalar& self, const Tensor& other), (self, other), "self, other", doc, \
                    .gradient = Gradient::none)

CRESSET_BITWISE(bitwise_and, Bools::taken, "The bits that self and other have in common.")
CRESSET_BITWISE(bitwise_or, Bools::taken, "The bits that self or other has.")
CRESSET_BITWISE(bitwise_xor, Bools::taken, "The bits in which self and other differ.")
CRESSET_BITWISE(bitwise_left_shift, Bools::refused, "self with its bits moved up by other.")
CRESSET_BITWISE(bitwise_right_shift, Bools::refused, "self with its bits moved down by other; the sign stays.")

static Tensor bitwise_not_into(const Into& into, const Tensor& self) {
  DType compute = integer_type("bitwise_not", self.dtype(), Bools::taken);
  Tensor y = pointwise_result("bitwise_not", into, {&self}, compute, compute);
  bitwise_not_kernel(y, self, compute);
  return not_differentiable(into, y);
}
CRESSET_FORMS(bitwise_not, , (const Tensor& self), (self), "self", "self with every bit inverted; of bool, not self.",
              .gradient = Gradient::none)

static Tensor gcd_into(const Into& into, const Tensor& self, const Tensor& other) {
  return of_integers("gcd", gcd_kernel, Bools::refused, into, self, other);
}
CRESSET_FORMS(gcd, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The greatest common divisor.", .gradient = Gradient::none)
static Tensor lcm_into(const Into& into, const Tensor& self, const Tensor& other) {
  return of_integers("lcm", lcm_kernel, Bools::refused, into, self, other);
}
CRESSET_FORMS(lcm, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
              "The least common multiple.", .gradient = Gradient::none)

}  // namespace cresset
