// Cross entropy. Class indices for [N, C] without weights or smoothing, the case of most trainings, have a fused
// kernel; everything else is composed of other ops.
#include "cresset/ops/loss.h"

#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/softmax.h"

namespace cresset {
namespace {

struct TargetClasses {
  Tensor classes, counts, weights, shares, empty;
};
TargetClasses target_classes(const Tensor& x, const Tensor& target, const Tensor& class_weights, int64_t class_count,
                             int64_t reduction, int64_t ignore_index) {
  auto like = [&](IntArrayRef sizes, DType dtype) { return empty_contiguous(sizes, dtype, x.device()); };
  IntArrayRef sizes = target.sizes();
  TargetClasses t{like(sizes, kLong), like(sizes, kBool), like(sizes, x.dtype()), like(sizes, x.dtype()),
                  like({}, x.dtype())};
  target_classes_kernel(t.classes, t.counts, t.weights, t.shares, t.empty, target, class_weights, class_count,
                        reduction, ignore_index);
  return t;
}

// The same with weights that have a gradient.
TargetClasses differentiable_classes(const Tensor& x, const Tensor& target, const Tensor& class_weights,
                                     int64_t class_count, int64_t reduction, int64_t ignore_index) {
  TargetClasses t = target_classes(x, target, Tensor(), class_count, Reduction::None, ignore_index);
  Tensor picked = gather_along(class_weights, reshape(t.classes, {-1}), 0);
  t.shares = t.counts.to(x.dtype());
  t.weights = mul(reshape(picked, t.classes.sizes()), t.shares);
  if (reduction != Reduction::Mean) return t;
  Tensor total = sum(t.weights);
  t.weights = div(t.weights, total);
  t.shares = div(t.shares, total);
  return t;
}

void check_reduction(int64_t reduction) {
  CRESSET_CHECK_AS(ValueError, reduction >= Reduction::None && reduction <= Reduction::Sum, "cross_entropy: reduction ",
                   reduction, " is not a valid value (expected Reduction::None, Mean or Sum)");
}
void check_smoothing(double smoothing) {
  CRESSET_CHECK_AS(ValueError, smoothing >= 0 && smoothing <= 1,
                   "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: ", smoothing);
}
void check_weight(const Tensor& self, const Tensor& weight, int64_t class_count) {
  if (!weight.defined()) return;
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 1 && weight.numel() == class_count,
                   "cross_entropy: weight tensor should be defined either for all ", class_count,
                   " classes or no classes but got weight tensor of shape: ", text_of(weight.sizes()));
  check_dtype("cross_entropy", "weight", weight, self.dtype());
  check_same_device("cross_entropy", self, weight);
}
void check_class_indices(const Tensor& self, const Tensor& target) {
  CRESSET_CHECK_AS(TypeError, target.dtype() == kLong,
                   "cross_entropy: target of class indices: expected scalar type Long but found ",
                   toString(target.dtype()));
  Dims wanted = self.sizes();
  wanted.erase(self.dim() == 1 ? 0 : 1);
  if (self.dim() > 1 && target.dim() > 0)
    CRESSET_CHECK_AS(ShapeError, self.size(0) == target.size(0), "cross_entropy: Expected input batch_size (",
                     self.size(0), ") to match target batch_size (", target.size(0), "), found shapes ",
                     text_of(self.sizes()), " and ", text_of(target.sizes()));
  CRESSET_CHECK_AS(ShapeError, target.sizes() == IntArrayRef(wanted), "cross_entropy: Expected target size ",
                   text_of(wanted), ", got ", text_of(target.sizes()), " for input ", text_of(self.sizes()),
                   " (class indices, or probabilities of the input's shape)");
}

// dx = (softmax(x) - onehot(target)) times what each row's loss counts. Differentiable in g and x.
Tensor cross_entropy_backward(const Tensor& g, const Tensor& x, const Tensor& target, const Tensor& normalizers,
                              const Tensor& total, int64_t reduction, int64_t ignore_index) {
  Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device());
  cross_entropy_backward_kernel(dx, g, x, target, normalizers, total, reduction, ignore_index);
  return differentiable(
      "CrossEntropyLossBackwardBackward0", dx, inputs(g, x), saved(g, x, target),
      [reduction, ignore_index](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x, const Tensor& target) {
        TargetClasses t = target_classes(x, target, Tensor(), x.size(1), reduction, ignore_index);
        Tensor p = softmax(x, 1), to_g, to_x;
        if (wants(0)) {
          Tensor rows = sub(sum(mul(gg, p), 1), squeeze(gather_along(gg, unsqueeze(t.classes, 1), 1), 1));
          to_g = mul(rows, t.weights);
          if (reduction != Reduction::None) to_g = sum(to_g);
        }
        if (wants(1)) to_x = softmax_backward(mul(gg, unsqueeze(mul(g, t.weights), 1)), p, 1);
        return grads(to_g, to_x);
      });
}

Tensor cross_entropy_fused(const Tensor& self, const Tensor& target, int64_t reduction, int64_t ignore_index) {
  Dims loss_sizes;
  if (reduction == Reduction::None) loss_sizes.push_back(self.size(0));
  DType compute = compute_dtype(self.dtype());
  Tensor y = empty_contiguous(loss_sizes, self.dtype(), self.device());
  Tensor normalizers = empty_contiguous({target.size(0), 2}, compute, self.device());
  Tensor total = empty_contiguous({}, compute, self.device());
  cross_entropy_kernel(y, normalizers, total, self, target, reduction, ignore_index);
  return differentiable(
      "CrossEntropyLossBackward0", y, inputs(self), saved(self, target, normalizers, total),
      [reduction, ignore_index](const Tensor& g, Wants, const Tensor& x, const Tensor& target,
                                const Tensor& normalizers, const Tensor& total) {
        return grads(cross_entropy_backward(g, x, target, normalizers, total, reduction, ignore_index));
      });
}

// A weight per class, in the shape that broadcasts over x.
Tensor along_classes(const Tensor& weight, const Tensor& x, int64_t class_dim) {
  Dims sizes = Dims::filled(static_cast<int>(x.dim()), 1);
  sizes[static_cast<int>(class_dim)] = weight.numel();
  return reshape(weight, sizes);
}

Tensor with_probabilities(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                          double smoothing) {
  int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.size(class_dim);
  Tensor wanted = target;
  if (smoothing > 0) wanted = add(mul(target, 1 - smoothing), smoothing / static_cast<double>(classes));
  Tensor terms = mul(log_softmax(self, class_dim), wanted);
  if (weight.defined()) terms = mul(terms, along_classes(weight, self, class_dim));
  if (reduction == Reduction::None) return neg(sum(terms, class_dim));
  if (reduction == Reduction::Sum) return neg(sum(terms));
  int64_t samples = classes ? self.numel() / classes : 0;
  return mul(sum(terms), -1.0 / static_cast<double>(samples));
}

}  // namespace

// ignored samples go through where(), not only a weight of 0: their logarithms may be infinite.
Tensor detail::cross_entropy_composed(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                                      int64_t ignore_index, double smoothing) {
  int64_t class_dim = self.dim() == 1 ? 0 : 1, class_count = self.size(class_dim);
  bool weight_gradient = weight.defined() && weight.requires_grad() && thread_state.grad_enabled;
  TargetClasses t = (weight_gradient ? differentiable_classes : target_classes)(self, target, weight, class_count,
                                                                                reduction, ignore_index);
  Tensor logs = log_softmax(self, class_dim), zero = new_zeros(self, {});
  Tensor picked = squeeze(gather_along(logs, unsqueeze(t.classes, class_dim), class_dim), class_dim);
  Tensor loss = mul(where(t.counts, picked, zero), mul(t.weights, smoothing - 1));
  if (smoothing > 0) {
    Tensor all = sum(weight.defined() ? mul(logs, along_classes(weight, self, class_dim)) : logs, class_dim);
    Tensor share = mul(t.shares, -smoothing / static_cast<double>(class_count));
    loss = add(loss, mul(where(t.counts, all, zero), share));
  }
  return reduction == Reduction::None ? loss : add(sum(loss), t.empty);
}

static const Op& cross_entropy_op =
    define_op("cross_entropy", &cross_entropy,
              "self, target, weight={}, reduction=Reduction::Mean, ignore_index=-100, label_smoothing=0.0",
              "The cross entropy between logits and class indices or class probabilities.", {.where = Where::function});
Tensor cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                     int64_t ignore_index, double label_smoothing) try {
  CRESSET_INTERCEPT(cross_entropy, , Tensor, self, target, weight, reduction, ignore_index, label_smoothing);
  check_reduction(reduction);
  check_smoothing(label_smoothing);
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 1, "cross_entropy: Expected 1 or more dimensions (got ", self.dim(), ")");
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), "cross_entropy: not implemented for '", toString(self.dtype()),
                   "' (expected floating point logits)");
  check_same_device("cross_entropy", self, target);
  check_weight(self, weight, self.size(self.dim() == 1 ? 0 : 1));
  bool narrow = compute_dtype(self.dtype()) != self.dtype();  // composed ops would round at every step
  Tensor wide = narrow && weight.defined() ? weight.to(kFloat) : weight;
  if (self.sizes() == target.sizes()) {
    CRESSET_CHECK_AS(TypeError, target.is_floating_point(),
                     "cross_entropy: Expected floating point type for target with class probabilities, got ",
                     toString(target.dtype()));
    CRESSET_CHECK_AS(ValueError, ignore_index < 0,
                     "cross_entropy: ignore_index is not supported for floating point target, found ", ignore_index);
    if (narrow) {
      const DType dtype = result_type(self, target), compute = compute_dtype(dtype);
      return with_probabilities(self.to(compute), target.to(compute), wide, reduction, label_smoothing).to(dtype);
    }
    return with_probabilities(self, target, weight, reduction, label_smoothing);
  }
  const Tensor classes = target.dtype() == kByte && self.dim() <= 2 ? target.to(kLong) : target;
  check_class_indices(self, classes);
  if (self.dim() == 2 && !weight.defined() && label_smoothing == 0)
    return cross_entropy_fused(self, classes, reduction, ignore_index);
  if (narrow)
    return detail::cross_entropy_composed(self.to(kFloat), classes, wide, reduction, ignore_index, label_smoothing)
        .to(self.dtype());
  return detail::cross_entropy_composed(self, classes, weight, reduction, ignore_index, label_smoothing);
}
CRESSET_ERRORS_OF(cross_entropy, , self, target, weight, reduction, ignore_index, label_smoothing)

}  // namespace cresset
