// lerp, addcmul, addcdiv, and where with numbers.
#include "cresset/ops/ternary.h"

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/index.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- lerp
static DType lerp_type(const Tensor& self, const Tensor& end) {
  CRESSET_CHECK_AS(TypeError, self.dtype() == end.dtype(), "lerp: expected dtype ", name_of(self.dtype()),
                   " for `end` but got dtype ", name_of(end.dtype()));
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), "lerp: not implemented for '", toString(self.dtype()),
                   "' (expected a floating-point or complex type)");
  return self.dtype();
}
static Scalar rest_of_one(const Scalar& weight) {
  if (weight.isComplex()) return std::complex<double>(1) - weight.toComplexDouble();
  return 1 - weight.toDouble();
}
static Tensor lerp_into(const Into& into, const Tensor& self, const Tensor& end, const Scalar& weight) {
  DType compute = lerp_type(self, end);
  Tensor y = pointwise_result("lerp", into, {&self, &end}, compute, compute);
  lerp_kernel(y, self, end, weight, compute);
  return differentiable("LerpBackward0", into, y, inputs(self, end), saved(),
                        [a = Broadcast(self, y), b = Broadcast(end, y), weight](const Tensor& g, Wants wants) {
                          return grads(wants(0) ? a.reduce(mul(g, rest_of_one(weight).conj())) : Tensor(),
                                       wants(1) ? b.reduce(mul(g, weight.conj())) : Tensor());
                        });
}
static Tensor lerp_into(const Into& into, const Tensor& self, const Tensor& end, const Tensor& weight) {
  DType compute = lerp_type(self, end);
  CRESSET_CHECK_AS(TypeError, weight.dtype() == compute, "lerp: expected dtype ", name_of(compute),
                   " for `weight` but got dtype ", name_of(weight.dtype()));
  Tensor y = pointwise_result("lerp", into, {&self, &end, &weight}, compute, compute);
  bool keep_weight = self.requires_grad() || end.requires_grad(), keep_ends = weight.requires_grad();
  Tensor w = preserved(into, weight, keep_weight), from = preserved(into, self, keep_ends),
         to = preserved(into, end, keep_ends);
  lerp_tensor_kernel(y, self, end, weight, compute);
  return differentiable("LerpBackward1", into, y, inputs(self, end, weight),
                        saved(kept_if(keep_ends, from), kept_if(keep_ends, to), kept_if(keep_weight, w)),
                        [a = Broadcast(self, y), b = Broadcast(end, y), c = Broadcast(weight, y)](
                            const Tensor& g, Wants wants, const Tensor& self, const Tensor& end, const Tensor& weight) {
                          Tensor to_self, to_end, to_weight;
                          if (wants(0)) to_self = a.reduce(mul(g, conj(add(neg(weight), 1))));
                          if (wants(1)) to_end = b.reduce(mul(g, conj(weight)));
                          if (wants(2)) to_weight = c.reduce(mul(g, conj(sub(end, self))));
                          return grads(to_self, to_end, to_weight);
                        });
}
CRESSET_FORMS(lerp, Scalar, (const Tensor& self, const Tensor& end, const Scalar& weight), (self, end, weight),
              "self, end, weight", "The point between self and end at weight, from 0 to 1.")
CRESSET_FORMS(lerp, , (const Tensor& self, const Tensor& end, const Tensor& weight), (self, end, weight),
              "self, end, weight", "The points between self and end at the weights, from 0 to 1.")

// ---- addcmul, addcdiv
static Tensor addcmul_into(const Into& into, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                           const Scalar& value) {
  DType compute = result_type({&self, &tensor1, &tensor2});
  CRESSET_CHECK_AS(TypeError, compute != kBool, "addcmul: not implemented for 'Bool' (expected numbers)");
  Tensor y = pointwise_result("addcmul", into, {&self, &tensor1, &tensor2}, compute, compute);
  bool keep1 = tensor2.requires_grad(), keep2 = tensor1.requires_grad();
  Tensor factor1 = preserved(into, tensor1, keep1), factor2 = preserved(into, tensor2, keep2);
  addcmul_kernel(y, self, tensor1, tensor2, value, compute);  // integers cut off its fraction
  return differentiable("AddcmulBackward0", into, y, inputs(self, tensor1, tensor2),
                        saved(kept_if(keep1, factor1), kept_if(keep2, factor2)),
                        [a = Broadcast(self, y), b = Broadcast(tensor1, y), c = Broadcast(tensor2, y), value](
                            const Tensor& g, Wants wants, const Tensor& tensor1, const Tensor& tensor2) {
                          Tensor to_self, to_1, to_2;
                          if (wants(0)) to_self = a.reduce(g);
                          if (wants(1)) to_1 = b.reduce(mul(g, conj(mul(tensor2, value))));
                          if (wants(2)) to_2 = c.reduce(mul(g, conj(mul(tensor1, value))));
                          return grads(to_self, to_1, to_2);
                        });
}
CRESSET_FORMS(addcmul, , (const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value),
              (self, tensor1, tensor2, value), "self, tensor1, tensor2, value=1", "self + value * tensor1 * tensor2.")

static Tensor addcdiv_into(const Into& into, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                           const Scalar& value) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(tensor1.dtype()) || is_differentiable(tensor2.dtype()),
                   "addcdiv: Integer division with addcdiv is no longer supported, found tensor1 of dtype ",
                   name_of(tensor1.dtype()), " and tensor2 of dtype ", name_of(tensor2.dtype()));
  DType compute = result_type({&self, &tensor1, &tensor2});
  Tensor y = pointwise_result("addcdiv", into, {&self, &tensor1, &tensor2}, compute, compute);
  bool keep1 = tensor2.requires_grad(), keep2 = keep1 || tensor1.requires_grad();
  Tensor numerator = preserved(into, tensor1, keep1), denominator = preserved(into, tensor2, keep2);
  addcdiv_kernel(y, self, tensor1, tensor2, value, compute);
  return differentiable("AddcdivBackward0", into, y, inputs(self, tensor1, tensor2),
                        saved(kept_if(keep1, numerator), kept_if(keep2, denominator)),
                        [a = Broadcast(self, y), b = Broadcast(tensor1, y), c = Broadcast(tensor2, y), value](
                            const Tensor& g, Wants wants, const Tensor& tensor1, const Tensor& tensor2) {
                          Tensor to_self, to_1, to_2;
                          if (wants(0)) to_self = a.reduce(g);
                          if (wants(1)) to_1 = b.reduce(mul(g, conj(div(as_operand(value), tensor2))));
                          if (wants(2))
                            to_2 = c.reduce(neg(mul(g, conj(div(mul(tensor1, value), mul(tensor2, tensor2))))));
                          return grads(to_self, to_1, to_2);
                        });
}
CRESSET_FORMS(addcdiv, , (const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value),
              (self, tensor1, tensor2, value), "self, tensor1, tensor2, value=1", "self + value * tensor1 / tensor2.")

// ---- where
// A number beside a tensor, in the dtype of the result, which must hold it.
static Tensor beside(const Scalar& value, const Tensor& tensor) {
  Tensor number = empty_contiguous({}, result_type(tensor, as_operand(value)), kCPU);
  fill_kernel(number, value);
  return number;
}
#define CRESSET_WHERE(overload_name, Self, Other, self_tensor, other_tensor)                                \
  CRESSET_OP(where, overload_name, Tensor, (const Tensor& condition, const Self& self, const Other& other), \
             "condition, self, other", Gradient::composed, "self where condition holds, other elsewhere.")  \
  Tensor where(const Tensor& condition, const Self& self, const Other& other) try {                         \
    CRESSET_INTERCEPT(where, overload_name, Tensor, condition, self, other);                                \
    return where(condition, self_tensor, other_tensor);                                                     \
  }                                                                                                         \
  CRESSET_ERRORS_OF(where, overload_name, condition, self, other)
CRESSET_WHERE(ScalarSelf, Scalar, Tensor, beside(self, other), other)
CRESSET_WHERE(ScalarOther, Tensor, Scalar, self, beside(other, self))
CRESSET_WHERE(Scalar, Scalar, Scalar, as_operand(self), as_operand(other))

CRESSET_OP(where, condition, std::vector<Tensor>, (const Tensor& condition), "condition", Gradient::none,
           "The indices at which condition is not zero, one tensor per dimension.")
std::vector<Tensor> where(const Tensor& condition) try {
  CRESSET_INTERCEPT(where, condition, std::vector<Tensor>, condition);
  return unbind(nonzero(condition.dim() == 0 ? unsqueeze(condition, 0) : condition), 1);
}
CRESSET_ERRORS_OF(where, condition, condition)

}  // namespace cresset
