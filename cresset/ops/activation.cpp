// Activations of straight lines: their slopes are steps, so the gradient's gradient goes to g alone.
#include "cresset/ops/activation.h"

#include <cmath>
#include <limits>

#include "cresset/ops/comparison.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/extrema.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/random.h"
#include "cresset/ops/shape.h"

namespace cresset {

static void check_floating(const char* op, const Tensor& self) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), op, ": not implemented for '", toString(self.dtype()),
                   "' (expected a real floating-point type)");
}
static Tensor like(const char* op, const Into& into, const Tensor& self) {
  return pointwise_result(op, into, {&self}, self.dtype(), self.dtype());
}

// dx = g * slope(x), where the slope is a step function with the numbers p and q.
using Steps = const ActivationBackwardKernel&;
static Tensor stepped(const ActivationBackwardKernel* slope, const Tensor& g, const Tensor& x, double p, double q) {
  Tensor dx = pointwise_result("backward", Into{}, {&g, &x}, g.dtype(), g.dtype());
  (*slope)(dx, g, x, p, q, 0);
  return differentiable(
      "ActivationBackwardBackward0", dx, inputs(g), saved(x),
      [slope, p, q](const Tensor& gg, Wants, const Tensor& x) { return grads(stepped(slope, gg, x, p, q)); });
}
// An op whose slope is found from x.
static Tensor of_lines(const char* op, const char* node, const ActivationKernel& kernel, Steps slope, const Into& into,
                       const Tensor& self, double p = 0, double q = 0) {
  check_floating(op, self);
  Tensor y = like(op, into, self), x = preserved(into, self, self.requires_grad());
  kernel(y, self, p, q, 0);
  return differentiable(
      node, into, y, inputs(self), saved(x),
      [steps = &slope, p, q](const Tensor& g, Wants, const Tensor& x) { return grads(stepped(steps, g, x, p, q)); });
}

// ---- leaky_relu: the result y has the sign of x, unless the slope is negative. Only the in-place form keeps y, as
// PyTorch's: other programs go on to change the result in place.
static Tensor leaky_relu_in(Tensor y, const char* op, const char* node, const Into& into, const Tensor& self,
                            double slope) {
  check_floating(op, self);
  const bool keep_result = into.in_place() && slope >= 0;
  Tensor x = preserved(into, self, !keep_result && self.requires_grad());
  leaky_relu_kernel(y, self, slope, 0, 0);
  auto formula = [slope](const Tensor& g, Wants, const Tensor& x) {
    return grads(stepped(&leaky_relu_backward_kernel, g, x, slope, 0));
  };
  if (keep_result) return differentiable(node, into, y, inputs(self), saved(output(y)), formula);
  return differentiable(node, into, y, inputs(self), saved(x), formula);
}
static Tensor leaky_relu_into(const Into& into, const Tensor& self, const Scalar& negative_slope) {
  check_floating("leaky_relu", self);
  return leaky_relu_in(like("leaky_relu", into, self), "leaky_relu", "LeakyReluBackward0", into, self,
                       negative_slope.to<double>());
}
CRESSET_FORMS(leaky_relu, , (const Tensor& self, const Scalar& negative_slope), (self, negative_slope),
              "self, negative_slope=0.01", "self, and negative_slope * self below zero.", .where = Where::function)

// ---- hardtanh, relu6: the result is strictly between the bounds exactly where x is
static Tensor hardtanh_of(const char* op, const Into& into, const Tensor& self, const Scalar& min_val,
                          const Scalar& max_val) {
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool && !self.is_complex(), op, ": not implemented for '",
                   toString(self.dtype()), "' (Bool inputs not supported for hardtanh; expected real numbers)");
  CRESSET_CHECK_AS(ValueError, self.dtype() != kByte || (min_val.toLong() >= 0 && max_val.toLong() >= 0), op,
                   ": cannot do hardtanh on an unsigned type with negative limits, found ", min_val, " and ", max_val);
  Tensor y = like(op, into, self);
  if (std::isnan(min_val.to<double>()) || std::isnan(max_val.to<double>()))  // PyTorch's answer
    fill_kernel(y, std::numeric_limits<double>::quiet_NaN());
  else
    clamp_kernel(y, self, min_val, max_val, self.dtype());
  auto formula = [min_val, max_val](const Tensor& g, Wants, const Tensor& x) {
    return grads(clamp_backward(g, x, min_val, max_val, /*inner=*/true));
  };
  if (into.in_place()) return differentiable("HardtanhBackward0", into, y, inputs(self), saved(output(y)), formula);
  return differentiable("HardtanhBackward0", into, y, inputs(self), saved(self), formula);
}
static Tensor hardtanh_into(const Into& into, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  return hardtanh_of("hardtanh", into, self, min_val, max_val);
}
CRESSET_FORMS(hardtanh, , (const Tensor& self, const Scalar& min_val, const Scalar& max_val), (self, min_val, max_val),
              "self, min_val=-1, max_val=1", "self, kept between min_val and max_val.", .where = Where::function)
static Tensor relu6_into(const Into& into, const Tensor& self) { return hardtanh_of("relu6", into, self, 0, 6); }
CRESSET_FUNCTION_FORM(relu6, , (const Tensor& self), (self), "self", "self, kept between 0 and 6.",
                      .where = Where::function)
CRESSET_INPLACE_FORM(relu6, , (const Tensor& self), (self), "self", "self, kept between 0 and 6.",
                     .where = Where::function)

// ---- hardsigmoid, hardshrink, softshrink
static Tensor hardsigmoid_into(const Into& into, const Tensor& self) {
  return of_lines("hardsigmoid", "HardsigmoidBackward0", hardsigmoid_kernel, hardsigmoid_backward_kernel, into, self);
}
CRESSET_FORMS(hardsigmoid, , (const Tensor& self), (self), "self", "self / 6 + 1/2, kept between 0 and 1.",
              .where = Where::function)
static Tensor hardshrink_into(const Into& into, const Tensor& self, const Scalar& lambd) {
  return of_lines("hardshrink", "HardshrinkBackward0", hardshrink_kernel, shrink_backward_kernel, into, self,
                  lambd.to<double>());
}
CRESSET_FORMS_OUT(hardshrink, , (const Tensor& self, const Scalar& lambd), (self, lambd), "self, lambd=0.5",
                  "self, and zero from -lambd to lambd.")
static Tensor softshrink_into(const Into& into, const Tensor& self, const Scalar& lambd) {
  CRESSET_CHECK_AS(ValueError, lambd.to<double>() >= 0,
                   "softshrink: lambda must be greater or equal to 0, but found to be ", lambd);
  return of_lines("softshrink", "SoftshrinkBackward0", softshrink_kernel, shrink_backward_kernel, into, self,
                  lambd.to<double>());
}
CRESSET_FORMS_OUT(softshrink, , (const Tensor& self, const Scalar& lambd), (self, lambd), "self, lambd=0.5",
                  "self moved towards zero by lambd.", .where = Where::function)

// ---- threshold
static Tensor threshold_into(const Into& into, const Tensor& self, const Scalar& threshold, const Scalar& value) {
  CRESSET_CHECK_AS(TypeError, self.dtype() != kBool && !self.is_complex(), "threshold: not implemented for '",
                   toString(self.dtype()), "' (expected real numbers)");
  Tensor y = like("threshold", into, self), x = preserved(into, self, self.requires_grad());
  threshold_kernel(y, self, threshold, value);
  return differentiable("ThresholdBackward0", into, y, inputs(self), saved(x),
                        [p = threshold.to<double>()](const Tensor& g, Wants, const Tensor& x) {
                          return grads(stepped(&threshold_backward_kernel, g, x, p, 0));
                        });
}
CRESSET_FORMS(threshold, , (const Tensor& self, const Scalar& threshold, const Scalar& value), (self, threshold, value),
              "self, threshold, value", "self above the threshold, value elsewhere.", .where = Where::function)

// ---- hardswish: x * hardsigmoid(x), whose slope is a line between -3 and 3
static Tensor hardswish_backward(const Tensor& g, const Tensor& x) {
  Tensor dx = pointwise_result("hardswish_backward", Into{}, {&g, &x}, g.dtype(), g.dtype());
  hardswish_backward_kernel(dx, g, x, 0, 0, 0);
  return differentiable("HardswishBackwardBackward0", dx, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          return grads(wants(0) ? hardswish_backward(gg, x) : Tensor(),
                                       wants(1) ? clamp_backward(mul(mul(gg, g), 1.0 / 3), x, -3, 3, true) : Tensor());
                        });
}
static Tensor hardswish_into(const Into& into, const Tensor& self) {
  check_floating("hardswish", self);
  Tensor y = like("hardswish", into, self), x = preserved(into, self, self.requires_grad());
  hardswish_kernel(y, self, 0, 0, 0);
  return differentiable("HardswishBackward0", into, y, inputs(self), saved(x),
                        [](const Tensor& g, Wants, const Tensor& x) { return grads(hardswish_backward(g, x)); });
}
CRESSET_FORMS(hardswish, , (const Tensor& self), (self), "self", "self * hardsigmoid(self).", .where = Where::function)

// ---- rrelu
static Tensor rrelu_into(const Into& into, const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                         const std::optional<Generator>& generator) {
  check_floating("rrelu", self);
  double low = lower.to<double>(), high = upper.to<double>();
  CRESSET_CHECK_AS(ValueError, low <= high,
                   "rrelu: Lower bound should be less than or equal to the upper bound, found ", lower, " and ", upper);
  if (!training)
    return leaky_relu_in(result("rrelu", into, self.sizes(), self.dtype(), self.device()), "rrelu",
                         "RreluWithNoiseBackward0", into, self, (low + high) / 2);
  Tensor slopes = empty_strided(
      self.sizes(),
      self.is_non_overlapping_and_dense() ? self.strides() : IntArrayRef(contiguous_strides(self.sizes())),
      self.options());
  {
    NoGradGuard no_grad;
    uniform_(slopes, low, high, generator);
    slopes = where(gt(self, 0), slopes.new_ones({}), slopes);
  }
  return into.in_place() ? mul_(self, slopes) : mul(self, slopes);
}
#define CRESSET_RRELU(form)                                                                           \
  form(rrelu, ,                                                                                       \
       (const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,                  \
        std::optional<Generator> generator),                                                          \
       (self, lower, upper, training, generator),                                                     \
       "self, lower=0.125, upper=0.3333333333333333, training=false, generator=std::nullopt",         \
       "self, below zero times a slope between lower and upper, drawn for each element in training.", \
       .where = Where::function)
CRESSET_RRELU(CRESSET_FUNCTION_FORM)
CRESSET_RRELU(CRESSET_INPLACE_FORM)

// ---- prelu
static Tensor prelu_backward(const Tensor& g, const Tensor& x, const Tensor& weight);
static Tensor prelu_backward_weight(const Tensor& g, const Tensor& x);

// The weight, seen so that it broadcasts along dimension 1.
static Tensor along_channels(const Tensor& self, const Tensor& weight) {
  int64_t channels = self.dim() == 0 ? 1 : self.dim() == 1 ? 1 : self.size(1);
  CRESSET_CHECK_AS(ShapeError, weight.numel() == 1 || weight.numel() == channels,
                   "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                   weight.numel(), " and channel size = ", channels);
  const bool mixed = self.dtype() == kBFloat16 && weight.is_floating_point();  // PyTorch's one exception
  CRESSET_CHECK_AS(TypeError, mixed || weight.dtype() == self.dtype(), "prelu: Type promoting not supported. Got ",
                   name_of(self.dtype()), " and ", name_of(weight.dtype()));
  if (weight.numel() == 1) return reshape(weight, {});
  Dims sizes = Dims::filled(static_cast<int>(self.dim()), 1);
  sizes[1] = channels;
  return reshape(weight, sizes);
}
CRESSET_OP(prelu, , Tensor, (const Tensor& self, const Tensor& weight), "self, weight", Gradient::formula,
           "self, and weight * self below zero; one weight for all or one per channel.")
Tensor prelu(const Tensor& self, const Tensor& weight) try {
  CRESSET_INTERCEPT(prelu, , Tensor, self, weight);
  check_floating("prelu", self);
  Tensor w = along_channels(self, weight);
  check_same_device("prelu", self, weight);
  Tensor y = empty_contiguous(self.sizes(), self.dtype(), self.device());
  prelu_kernel(y, self, w);
  return differentiable("PreluBackward0", y, inputs(self, w), saved(self, kept_if(self.requires_grad(), w)),
                        [b = Broadcast(w, y)](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w) {
                          return grads(wants(0) ? prelu_backward(g, x, w) : Tensor(),
                                       wants(1) ? b.reduce(prelu_backward_weight(g, x)) : Tensor());
                        });
}
CRESSET_ERRORS_OF(prelu, , self, weight)

static Tensor prelu_backward(const Tensor& g, const Tensor& x, const Tensor& weight) {
  Tensor dx = pointwise_result("prelu_backward", Into{}, {&g, &x, &weight}, g.dtype(), g.dtype());
  prelu_backward_kernel(dx, g, x, weight);
  return differentiable("PreluBackwardBackward0", dx, inputs(g, weight), saved(g, x, weight),
                        [b = Broadcast(weight, dx)](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x,
                                                    const Tensor& weight) {
                          Tensor to_weight;
                          if (wants(1)) to_weight = b.reduce(where(gt(x, 0), g.new_zeros({}), mul(gg, g)));
                          return grads(wants(0) ? prelu_backward(gg, x, weight) : Tensor(), to_weight);
                        });
}
// g * x below zero, before it is summed to the weight's shape.
static Tensor prelu_backward_weight(const Tensor& g, const Tensor& x) {
  Tensor dw = pointwise_result("prelu_backward", Into{}, {&g, &x}, g.dtype(), g.dtype());
  prelu_backward_weight_kernel(dw, g, x);
  return differentiable("PreluBackwardBackward1", dw, inputs(g, x), saved(g, x),
                        [](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x) {
                          Tensor to_x;
                          if (wants(1)) to_x = where(gt(x, 0), g.new_zeros({}), mul(gg, g));
                          return grads(wants(0) ? prelu_backward_weight(gg, x) : Tensor(), to_x);
                        });
}

}  // namespace cresset
