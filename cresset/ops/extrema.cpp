// maximum, minimum, clamp and their relatives. Their gradients choose: no formula depends on the inputs smoothly.
#include "cresset/ops/extrema.h"

#include <cmath>
#include <limits>

#include "cresset/ops/comparison.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"

namespace cresset {

static DType ordered_type(const char* op, DType compute) {
  CRESSET_CHECK_AS(TypeError, !is_complex(compute), op, ": not implemented for complex tensors, found dtype ",
                   name_of(compute));
  return compute;
}

// ---- maximum, minimum
static Tensor extremum_backward(const Tensor& g, const Tensor& a, const Tensor& b, int64_t sign) {
  Tensor dx = pointwise_result("maximum_backward", Into{}, {&g, &a, &b}, g.dtype(), g.dtype());
  extremum_backward_kernel(dx, g, a, b, sign, g.dtype());
  return differentiable("MaximumBackwardBackward0", dx, inputs(g), saved(a, b),
                        [sign](const Tensor& gg, Wants, const Tensor& a, const Tensor& b) {
                          return grads(extremum_backward(gg, a, b, sign));
                        });
}
static Tensor extremum(const char* op, const char* node, const BinaryKernel& kernel, int64_t sign, const Into& into,
                       const Tensor& self, const Tensor& other) {
  DType compute = ordered_type(op, result_type(self, other));
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  kernel(y, self, other, compute);
  return differentiable(node, into, y, inputs(self, other), saved(self, other),
                        [a = Broadcast(self, y), b = Broadcast(other, y), sign](
                            const Tensor& g, Wants wants, const Tensor& self, const Tensor& other) {
                          return grads(wants(0) ? a.reduce(extremum_backward(g, self, other, sign)) : Tensor(),
                                       wants(1) ? b.reduce(extremum_backward(g, other, self, sign)) : Tensor());
                        });
}
#define CRESSET_EXTREMUM(name, overload_name, node, kernel, sign, doc)                   \
  static Tensor name##_into(const Into& into, const Tensor& self, const Tensor& other) { \
    return extremum(#name, node, kernel, sign, into, self, other);                       \
  }                                                                                      \
  CRESSET_FORMS_OUT(name, overload_name, (const Tensor& self, const Tensor& other), (self, other), "self, other", doc)

CRESSET_EXTREMUM(maximum, , "MaximumBackward0", maximum_kernel, 1, "The larger of two elements, nan if either is.")
CRESSET_EXTREMUM(minimum, , "MinimumBackward0", minimum_kernel, -1, "The smaller of two elements, nan if either is.")
CRESSET_EXTREMUM(max, other, "MaximumBackward0", maximum_kernel, 1, "The larger of two elements: maximum.")
CRESSET_EXTREMUM(min, other, "MinimumBackward0", minimum_kernel, -1, "The smaller of two elements: minimum.")

// ---- fmax, fmin: ties go to self, and nan to nobody if it can be helped
static Tensor extremum_of_numbers(const char* op, const char* node, const BinaryKernel& kernel, bool largest,
                                  const Into& into, const Tensor& self, const Tensor& other) {
  DType compute = ordered_type(op, result_type(self, other));
  Tensor y = pointwise_result(op, into, {&self, &other}, compute, compute);
  kernel(y, self, other, compute);
  return differentiable(node, into, y, inputs(self, other), saved(self, other),
                        [a = Broadcast(self, y), b = Broadcast(other, y), largest](
                            const Tensor& g, Wants wants, const Tensor& self, const Tensor& other) {
                          Tensor first = logical_or(largest ? ge(self, other) : le(self, other), isnan(other));
                          Tensor zero = g.new_zeros({});
                          return grads(wants(0) ? a.reduce(where(first, g, zero)) : Tensor(),
                                       wants(1) ? b.reduce(where(first, zero, g)) : Tensor());
                        });
}
static Tensor fmax_into(const Into& into, const Tensor& self, const Tensor& other) {
  return extremum_of_numbers("fmax", "FmaxBackward0", fmax_kernel, true, into, self, other);
}
CRESSET_FORMS_OUT(fmax, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "The larger of two elements, nan only if both are.")
static Tensor fmin_into(const Into& into, const Tensor& self, const Tensor& other) {
  return extremum_of_numbers("fmin", "FminBackward0", fmin_kernel, false, into, self, other);
}
CRESSET_FORMS_OUT(fmin, , (const Tensor& self, const Tensor& other), (self, other), "self, other",
                  "The smaller of two elements, nan only if both are.")

// ---- clamp by numbers
Tensor clamp_backward(const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                      const std::optional<Scalar>& max, bool inner) {
  Tensor dx = pointwise_result("clamp_backward", Into{}, {&g, &x}, g.dtype(), g.dtype());
  clamp_backward_kernel(dx, g, x, min, max, inner);
  return differentiable("ClampBackwardBackward0", dx, inputs(g), saved(x),
                        [min, max, inner](const Tensor& gg, Wants, const Tensor& x) {
                          return grads(clamp_backward(gg, x, min, max, inner));
                        });
}
static Tensor clamped(const char* op, const char* node, const Into& into, const Tensor& self,
                      const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  CRESSET_CHECK_AS(ValueError, min || max, op, ": At least one of 'min' or 'max' must not be None");
  DType compute = ordered_type(op, self.dtype());
  if (!is_floating_point(compute)) {
    Tensor low = min ? as_operand(*min) : Tensor(), high = max ? as_operand(*max) : Tensor();
    compute = ordered_type(op, result_type({&self, &low, &high}));
  }
  CRESSET_CHECK_AS(TypeError, compute != kBool, op, ": not implemented for 'Bool' (expected numbers)");
  Tensor y = pointwise_result(op, into, {&self}, compute, compute);
  Tensor x = preserved(into, self, self.requires_grad());
  double nan = std::numeric_limits<double>::quiet_NaN();
  auto undecided = [](const std::optional<Scalar>& bound) { return bound && std::isnan(bound->toDouble()); };
  const bool one_of_two = op != std::string_view("clamp") || (min && max);
  if (one_of_two && (undecided(min) || undecided(max)))  // PyTorch's answer
    fill_kernel(y, nan);
  else
    clamp_kernel(y, self, min, max, compute);
  return differentiable(node, into, y, inputs(self), saved(x), [min, max](const Tensor& g, Wants, const Tensor& x) {
    return grads(clamp_backward(g, x, min, max));
  });
}
static Tensor clamp_into(const Into& into, const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max) {
  return clamped("clamp", "ClampBackward1", into, self, min, max);
}
static Tensor clamp_min_into(const Into& into, const Tensor& self, const Scalar& min) {
  return clamped("clamp_min", "ClampMinBackward0", into, self, min, std::nullopt);
}
static Tensor clamp_max_into(const Into& into, const Tensor& self, const Scalar& max) {
  return clamped("clamp_max", "ClampMaxBackward0", into, self, std::nullopt, max);
}
CRESSET_FORMS(clamp, , (const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max),
              (self, min, max), "self, min, max=std::nullopt", "self, but not below min and not above max.")
CRESSET_FORMS(clamp_min, , (const Tensor& self, const Scalar& min), (self, min), "self, min",
              "self, but not below min.")
CRESSET_FORMS(clamp_max, , (const Tensor& self, const Scalar& max), (self, max), "self, max",
              "self, but not above max.")

// ---- clamp by tensors
static Tensor one_bound(const char* op, const Into& into, const Tensor& self, const Tensor& bound, bool above) {
  DType compute = ordered_type(op, result_type(self, bound));
  Tensor y = pointwise_result(op, into, {&self, &bound}, compute, compute);
  bool keep = self.requires_grad() || bound.requires_grad();
  Tensor x = preserved(into, self, keep), limit = preserved(into, bound, keep);
  (above ? minimum_kernel : maximum_kernel)(y, self, bound, compute);
  return differentiable(
      above ? "ClampMaxBackward1" : "ClampMinBackward1", into, y, inputs(self, bound), saved(x, limit),
      [a = Broadcast(self, y), b = Broadcast(bound, y), above](const Tensor& g, Wants wants, const Tensor& x,
                                                               const Tensor& limit) {
        Tensor keeps = above ? le(x, limit) : ge(x, limit), zero = g.new_zeros({});
        return grads(wants(0) ? a.reduce(where(keeps, g, zero)) : Tensor(),
                     wants(1) ? b.reduce(where(above ? gt(x, limit) : lt(x, limit), g, zero)) : Tensor());
      });
}
static Tensor clamp_into(const Into& into, const Tensor& self, const Tensor& min, const Tensor& max) {
  CRESSET_CHECK_AS(ValueError, min.defined() || max.defined(),
                   "clamp: At least one of 'min' or 'max' must not be None");
  if (!max.defined()) return one_bound("clamp", into, self, min, false);
  if (!min.defined()) return one_bound("clamp", into, self, max, true);
  DType compute = ordered_type("clamp", result_type({&self, &min, &max}));
  CRESSET_CHECK_AS(TypeError, compute != kBool, "clamp: not implemented for 'Bool' (expected numbers)");
  Tensor y = pointwise_result("clamp", into, {&self, &min, &max}, compute, compute);
  bool keep = self.requires_grad() || min.requires_grad() || max.requires_grad();
  Tensor x = preserved(into, self, keep), low = preserved(into, min, keep), high = preserved(into, max, keep);
  clamp_tensor_kernel(y, self, min, max, compute);
  return differentiable("ClampBackward0", into, y, inputs(self, min, max), saved(x, low, high),
                        [a = Broadcast(self, y), b = Broadcast(min, y), c = Broadcast(max, y)](
                            const Tensor& g, Wants wants, const Tensor& x, const Tensor& low, const Tensor& high) {
                          Tensor zero = g.new_zeros({}), to_self, to_min, to_max;
                          if (wants(0)) to_self = a.reduce(where(logical_and(ge(x, low), le(x, high)), g, zero));
                          if (wants(1)) to_min = b.reduce(where(logical_and(lt(low, high), lt(x, low)), g, zero));
                          if (wants(2)) to_max = c.reduce(where(logical_or(lt(high, low), gt(x, high)), g, zero));
                          return grads(to_self, to_min, to_max);
                        });
}
static Tensor clamp_min_into(const Into& into, const Tensor& self, const Tensor& min) {
  return one_bound("clamp_min", into, self, min, false);
}
static Tensor clamp_max_into(const Into& into, const Tensor& self, const Tensor& max) {
  return one_bound("clamp_max", into, self, max, true);
}
CRESSET_FORMS(clamp, Tensor, (const Tensor& self, const Tensor& min, const Tensor& max), (self, min, max),
              "self, min={}, max={}", "self, but not below min and not above max, element by element.")
CRESSET_FORMS(clamp_min, Tensor, (const Tensor& self, const Tensor& min), (self, min), "self, min",
              "self, but not below min, element by element.")
CRESSET_FORMS(clamp_max, Tensor, (const Tensor& self, const Tensor& max), (self, max), "self, max",
              "self, but not above max, element by element.")

}  // namespace cresset
