// The shape rule and the graph nodes that the ops of one tensor share.
#include "cresset/ops/unary.h"

namespace cresset {

DType unary_dtype(const char* op, const Numbers& numbers, DType dtype) {
  bool refused = is_complex(dtype) ? !numbers.complex
                 : dtype == kBool  ? !numbers.boolean
                                   : is_integral(dtype, false) && numbers.integers == Integers::refused;
  CRESSET_CHECK_AS(TypeError, !refused, op, ": not implemented for '", toString(dtype), "' (expected a ",
                   numbers.complex                         ? ""
                   : numbers.integers != Integers::refused ? "real "
                                                           : "real floating-point ",
                   numbers.complex && numbers.integers == Integers::refused ? "floating-point or complex type"
                   : numbers.boolean                                        ? "type"
                                                                            : "type other than bool",
                   ")");
  return is_integral(dtype, true) && numbers.integers == Integers::become_float ? default_dtype() : dtype;
}

Tensor unary(const UnaryRule& rule, const UnaryKernel& kernel, const Into& into, const Tensor& self) {
  DType compute = unary_dtype(rule.name, {rule.integers, rule.complex, rule.boolean}, self.dtype());
  Tensor y = pointwise_result(rule.name, into, {&self}, compute, compute);
  Tensor copy;  // of an argument that is about to be overwritten
  bool needed = rule.keeps == Keeps::x && self.requires_grad();
  const Tensor& x = into.fresh() ? self : copy = preserved(into, self, needed);
  kernel(y, self, compute);
  if (rule.keeps == Keeps::y)
    return differentiable(rule.node, into, y, inputs(self), saved(output(y)),
                          [f = rule.gradient](const Tensor& g, Wants, const Tensor& y) { return grads(f(g, y)); });
  return differentiable(rule.node, into, y, inputs(self), saved(kept_if(needed, x)),
                        [f = rule.gradient](const Tensor& g, Wants, const Tensor& x) { return grads(f(g, x)); });
}

}  // namespace cresset
