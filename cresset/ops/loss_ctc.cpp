// ctc_loss. The lengths' values stay in the kernels, so that the op runs wherever they live; backward computes the
// forward variables again rather than keep [N, T, 2 S + 1] of them.
#include "cresset/ops/loss_ctc.h"

#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/loss_pointwise.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/tensor_literal.h"

namespace cresset {
namespace {

struct Ctc {
  int64_t blank, reduction;
  bool zero_infinity;
};

Tensor ctc_backward(const Tensor& g, const Tensor& x, const Tensor& targets, const Tensor& input_lengths,
                    const Tensor& target_lengths, Ctc ctc) {
  Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device());
  ctc_loss_backward_kernel(dx, g, x, targets, input_lengths, target_lengths, ctc.blank, ctc.reduction,
                           ctc.zero_infinity);
  return differentiable("CtcLossBackwardBackward0", dx, inputs(g, x), saved(), [](const Tensor&, Wants) -> Grads {
    throw AutogradError("ctc_loss: its second derivative is not implemented");
  });
}

Tensor ctc(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
           Ctc ctc) {
  const char* op = "ctc_loss";
  detail::check_reduction(op, ctc.reduction);
  CRESSET_CHECK_AS(TypeError, log_probs.is_floating_point(), op, ": not implemented for '", toString(log_probs.dtype()),
                   "' (expected floating point log_probs)");
  CRESSET_CHECK_AS(ShapeError, log_probs.dim() == 2 || log_probs.dim() == 3, op, ": found log_probs of shape ",
                   text_of(log_probs.sizes()), " (expected [T, N, C] or [T, C])");
  CRESSET_CHECK_AS(TypeError, targets.dtype() == kLong || targets.dtype() == kInt, op, ": found targets of ",
                   name_of(targets.dtype()), " (expected int64 or int32)");
  CRESSET_CHECK_AS(TypeError, is_integral(input_lengths.dtype(), false) && is_integral(target_lengths.dtype(), false),
                   op, ": input_lengths and target_lengths must be integral, found ", name_of(input_lengths.dtype()),
                   " and ", name_of(target_lengths.dtype()));
  bool batched = log_probs.dim() == 3;
  Tensor x = batched ? log_probs : unsqueeze(log_probs, 1);
  check_same_device(op, x, targets);
  check_same_device(op, x, input_lengths);
  check_same_device(op, x, target_lengths);
  int64_t n = x.size(1);
  CRESSET_CHECK_AS(ValueError, ctc.blank >= 0 && ctc.blank < x.size(2), op, ": blank must be in label range, found ",
                   ctc.blank, " for ", x.size(2), " labels");
  CRESSET_CHECK_AS(ShapeError, input_lengths.numel() == n, op, ": input_lengths must be of size batch_size, found ",
                   input_lengths.numel(), " for ", n);
  CRESSET_CHECK_AS(ShapeError, target_lengths.numel() == n, op, ": target_lengths must be of size batch_size, found ",
                   target_lengths.numel(), " for ", n);
  Tensor labels = !batched && targets.dim() == 1 ? unsqueeze(targets, 0) : targets;
  CRESSET_CHECK_AS(ShapeError, labels.dim() == 1 || (labels.dim() == 2 && labels.size(0) == n), op,
                   ": found targets of shape ", text_of(targets.sizes()), " for a batch of ", n,
                   " (expected [N, S], or all targets in one dimension)");
  Tensor times = reshape(input_lengths, {n}).to(kLong), lengths = reshape(target_lengths, {n}).to(kLong);
  Dims sizes;
  if (ctc.reduction == Reduction::None) sizes.push_back(n);
  Tensor y = empty_contiguous(sizes, x.dtype(), x.device());
  ctc_loss_kernel(y, x, labels, times, lengths, ctc.blank, ctc.reduction, ctc.zero_infinity);
  y = differentiable("CtcLossBackward0", y, inputs(x), saved(x, labels, times, lengths),
                     [ctc](const Tensor& g, Wants, const Tensor& x, const Tensor& targets, const Tensor& times,
                           const Tensor& lengths) { return grads(ctc_backward(g, x, targets, times, lengths, ctc)); });
  return batched || ctc.reduction != Reduction::None ? y : reshape(y, {});
}

}  // namespace

static const Op& ctc_lossIntList_op = define_op(
    "ctc_loss",
    static_cast<Tensor (*)(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t, int64_t, bool)>(&ctc_loss),
    "log_probs, targets, input_lengths, target_lengths, blank=0, reduction=Reduction::Mean, zero_infinity=false",
    "Minus the log probability of target sequences, over all their alignments.",
    {.overload = "IntList", .where = Where::function});
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                int64_t blank, int64_t reduction, bool zero_infinity) try {
  CRESSET_INTERCEPT(ctc_loss, IntList, Tensor, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                    zero_infinity);
  auto listed = [&](IntArrayRef list) { return tensor(list).to(log_probs.device()); };
  return ctc(log_probs, targets, listed(input_lengths), listed(target_lengths), {blank, reduction, zero_infinity});
}
CRESSET_ERRORS_OF(ctc_loss, IntList, log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)

static const Op& ctc_lossTensor_op = define_op(
    "ctc_loss",
    static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, bool)>(
        &ctc_loss),
    "log_probs, targets, input_lengths, target_lengths, blank=0, reduction=Reduction::Mean, zero_infinity=false",
    "Minus the log probability of target sequences, over all their alignments, with lengths in tensors.",
    {.overload = "Tensor", .where = Where::function});
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity) try {
  CRESSET_INTERCEPT(ctc_loss, Tensor, Tensor, log_probs, targets, input_lengths, target_lengths, blank, reduction,
                    zero_infinity);
  return ctc(log_probs, targets, input_lengths, target_lengths, {blank, reduction, zero_infinity});
}
CRESSET_ERRORS_OF(ctc_loss, Tensor, log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)

}  // namespace cresset
