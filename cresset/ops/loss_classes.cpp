// Losses of whole rows. nll_loss and its gradient are each other's transpose, so that each is the other's derivative.
#include "cresset/ops/loss_classes.h"

#include <cmath>
#include <limits>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/complex.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/loss_forms.h"
#include "cresset/ops/loss_pointwise.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

int64_t class_dim_of(const Tensor& x) { return x.dim() == 1 ? 0 : 1; }

// Class indices that are in range, with 0 for those to be ignored, and which ones count.
struct Classes {
  Tensor indices, count;
};
Classes checked_classes(const Tensor& x, const Tensor& target, int64_t class_count, int64_t ignore_index) {
  auto like = [&](DType dtype) { return empty_contiguous(target.sizes(), dtype, x.device()); };
  Classes classes{like(kLong), like(kBool)};
  Tensor weights = like(x.dtype()), shares = like(x.dtype()), empty = empty_contiguous({}, x.dtype(), x.device());
  target_classes_kernel(classes.indices, classes.count, weights, shares, empty, target, Tensor(), class_count,
                        Reduction::None, ignore_index);
  return classes;
}
Tensor pick(const Tensor& values, const Tensor& indices) {
  return reshape(gather_along(values, reshape(indices, {-1}), 0), indices.sizes());
}

void check_class_target(const char* op, const Tensor& self, const Tensor& target) {
  CRESSET_CHECK_AS(TypeError, self.is_floating_point(), op, ": not implemented for '", toString(self.dtype()),
                   "' (expected a floating point input)");
  CRESSET_CHECK_AS(TypeError, target.dtype() == kLong, op, ": expected scalar type Long but found ",
                   toString(target.dtype()), " for target");
  check_same_device(op, self, target);
}
void check_class_weight(const char* op, const Tensor& self, const Tensor& weight, int64_t classes) {
  if (!weight.defined()) return;
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 1 && weight.numel() == classes, op,
                   ": weight tensor should be defined either for all ", classes,
                   " classes or no classes but got weight tensor of shape: ", text_of(weight.sizes()));
  check_dtype(op, "weight", weight, self.dtype());
  check_same_device(op, self, weight);
}

// ---- nll
struct Nll {
  int64_t class_dim, reduction, ignore_index;
};
Tensor nll_backward(const Tensor& g, IntArrayRef sizes, const Tensor& target, const Tensor& weight, const Tensor& total,
                    Nll nll);

// With `into`, y = -w[t] x[t], or its sum or mean. total is filled.
Tensor nll_forward(const char* op, const char* node, const Into& into, const Tensor& x, const Tensor& target,
                   const Tensor& weight, Nll nll) {
  IntArrayRef sizes = nll.reduction == Reduction::None ? target.sizes() : IntArrayRef();
  Tensor y = result(op, into, sizes, x.dtype(), x.device(), {&x, &target});
  Tensor total = empty_contiguous({}, kDouble, x.device());
  nll_loss_kernel(y, total, x, target, weight, nll.class_dim, nll.reduction, nll.ignore_index);
  return differentiable(node, into, y, inputs(x), saved(target, weight, total),
                        [nll, from = KeptDims(x.sizes())](const Tensor& g, Wants, const Tensor& target,
                                                          const Tensor& weight, const Tensor& total) {
                          return grads(nll_backward(g, from, target, weight, total, nll));
                        });
}
Tensor nll_backward(const Tensor& g, IntArrayRef sizes, const Tensor& target, const Tensor& weight, const Tensor& total,
                    Nll nll) {
  Tensor dx = empty_contiguous(sizes, g.dtype(), g.device());
  nll_loss_backward_kernel(dx, g, target, weight, total, nll.class_dim, nll.reduction, nll.ignore_index);
  return differentiable("NllLossBackwardBackward0", dx, inputs(g), saved(target, weight),
                        [nll](const Tensor& gg, Wants, const Tensor& target, const Tensor& weight) {
                          return grads(nll_forward("nll_loss", "NllLossBackward0", Into{}, gg, target, weight, nll));
                        });
}

// A weight that wants a gradient: from other ops, since PyTorch has none and nobody waits for it.
Tensor nll_with_weight_gradient(const Tensor& x, const Tensor& target, const Tensor& weight, Nll nll) {
  Classes classes = checked_classes(x, target, x.size(nll.class_dim), nll.ignore_index);
  Tensor weights = mul(pick(weight, classes.indices), classes.count.to(x.dtype()));
  Tensor each = mul(weights, nll_forward("nll_loss", "NllLossBackward0", Into{}, x, target, Tensor(),
                                         {nll.class_dim, Reduction::None, nll.ignore_index}));
  if (nll.reduction == Reduction::None) return each;
  return nll.reduction == Reduction::Sum ? sum(each) : div(sum(each), sum(weights));
}

Tensor nll_into(const char* op, const char* node, const Into& into, const Tensor& self, const Tensor& target,
                const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  detail::check_reduction(op, reduction);
  if (target.dtype() == kByte && self.dim() <= 2)
    return nll_into(op, node, into, self, target.to(kLong), weight, reduction, ignore_index);
  check_class_target(op, self, target);
  int64_t class_dim = class_dim_of(self), classes = self.size(class_dim);
  check_class_weight(op, self, weight, classes);
  Dims wanted = self.sizes();
  wanted.erase(static_cast<int>(class_dim));
  CRESSET_CHECK_AS(ShapeError, target.sizes() == IntArrayRef(wanted), op,
                   ": size mismatch (got input: ", text_of(self.sizes()), ", target: ", text_of(target.sizes()),
                   "; expected target size ", text_of(wanted), ")");
  Nll nll{class_dim, reduction, ignore_index};
  if (weight.defined() && weight.requires_grad() && thread_state.grad_enabled && into.fresh())
    return nll_with_weight_gradient(self, target, weight, nll);
  return nll_forward(op, node, into, self, target, weight, nll);
}

}  // namespace

static Tensor nll_loss_into(const Into& into, const Tensor& self, const Tensor& target, const Tensor& weight,
                            int64_t reduction, int64_t ignore_index) {
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1 || self.dim() == 2,
                   "nll_loss: input tensor should be 1D or 2D, found shape ", text_of(self.sizes()));
  CRESSET_CHECK_AS(ShapeError, target.dim() <= 1,
                   "nll_loss: 0D or 1D target tensor expected, multi-target not supported, found shape ",
                   text_of(target.sizes()));
  return nll_into("nll_loss", "NllLossBackward0", into, self, target, weight, reduction, ignore_index);
}
static Tensor nll_loss2d_into(const Into& into, const Tensor& self, const Tensor& target, const Tensor& weight,
                              int64_t reduction, int64_t ignore_index) {
  CRESSET_CHECK_AS(ShapeError, target.dim() == 3,
                   "nll_loss2d: only batches of spatial targets supported (3D tensors) but got targets of dimension: ",
                   target.dim());
  CRESSET_CHECK_AS(
      ShapeError, self.dim() == 4,
      "nll_loss2d: only batches of spatial inputs supported (4D tensors), but got input of dimension: ", self.dim());
  return nll_into("nll_loss2d", "NllLoss2DBackward0", into, self, target, weight, reduction, ignore_index);
}
static Tensor nll_loss_nd_into(const Into& into, const Tensor& self, const Tensor& target, const Tensor& weight,
                               int64_t reduction, int64_t ignore_index) {
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 1, "nll_loss_nd: Expected 1 or more dimensions (got 0)");
  if (self.dim() > 1 && target.dim() > 0)
    CRESSET_CHECK_AS(ShapeError, self.size(0) == target.size(0), "nll_loss_nd: Expected input batch_size (",
                     self.size(0), ") to match target batch_size (", target.size(0), ").");
  return nll_into("nll_loss_nd", self.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0", into, self, target, weight,
                  reduction, ignore_index);
}

#define CRESSET_NLL_PARAMETERS \
  (const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index)
#define CRESSET_NLL_ARGUMENTS (self, target, weight, reduction, ignore_index)
#define CRESSET_NLL_TEXT "self, target, weight={}, reduction=Reduction::Mean, ignore_index=-100"
CRESSET_LOSS_FORM(nll_loss, CRESSET_NLL_PARAMETERS, CRESSET_NLL_ARGUMENTS, CRESSET_NLL_TEXT,
                  "Minus the log probability of each target's class.")
CRESSET_OUT_FORM(nll_loss, , CRESSET_NLL_PARAMETERS, CRESSET_NLL_ARGUMENTS, CRESSET_NLL_TEXT,
                 "Minus the log probability of each target's class.")
CRESSET_LOSS_FORM(nll_loss2d, CRESSET_NLL_PARAMETERS, CRESSET_NLL_ARGUMENTS, CRESSET_NLL_TEXT,
                  "Minus the log probability of each pixel's class.")
CRESSET_OUT_FORM(nll_loss2d, , CRESSET_NLL_PARAMETERS, CRESSET_NLL_ARGUMENTS, CRESSET_NLL_TEXT,
                 "Minus the log probability of each pixel's class.")
CRESSET_LOSS_FORM(nll_loss_nd, CRESSET_NLL_PARAMETERS, CRESSET_NLL_ARGUMENTS, CRESSET_NLL_TEXT,
                  "Minus the log probability of each target's class, for any number of dimensions.")

// ---- margins
// Every class's term counts, the target's own too, where the difference is always the margin; that is taken off again.
static Tensor multi_margin(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                           const Tensor& weight, int64_t reduction) {
  const char* op = "multi_margin_loss";
  detail::check_reduction(op, reduction);
  check_class_target(op, self, target);
  CRESSET_CHECK_AS(ValueError, p.equal(1) || p.equal(2), op, ": only p == 1 and p == 2 supported, found ", p);
  CRESSET_CHECK_AS(
      ShapeError, self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0), op,
      ": Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", text_of(self.sizes()));
  int64_t classes = self.dim() == 0 ? 1 : self.size(-1), rows = self.numel() / classes;
  CRESSET_CHECK_AS(ShapeError, target.dim() <= 1 && target.numel() == rows, op, ": inconsistent target size, expected ",
                   rows, " but got ", text_of(target.sizes()));
  check_class_weight(op, self, weight, classes);
  Tensor x = reshape(self, {rows, classes});
  Tensor at = checked_classes(x, reshape(target, {rows}), classes, std::numeric_limits<int64_t>::min()).indices;
  double a = margin.toDouble(), b = p.toDouble();
  Tensor terms =
      loss_of_terms(op, Into{}, x, gather_along(x, unsqueeze(at, 1), 1), LossTerm::margin_power, Reduction::None, a, b);
  Tensor each = sub(sum(terms, 1), std::pow(std::max(a, 0.0), b));
  if (weight.defined()) each = mul(each, pick(weight, at));
  each = mul(each, 1.0 / static_cast<double>(classes));
  if (reduction == Reduction::None) return target.dim() == 0 ? reshape(each, {}) : each;
  return detail::reduced_loss(each, reduction);
}
static Tensor multi_margin_loss_into(const Into& into, const Tensor& self, const Tensor& target, const Scalar& p,
                                     const Scalar& margin, const Tensor& weight, int64_t reduction) {
  Tensor y = multi_margin(self, target, p, margin, weight, reduction);
  return into.fresh() ? y : copied_into("multi_margin_loss", into, y, {&self, &target, &weight});
}
CRESSET_LOSS_FORM(multi_margin_loss,
                  (const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin,
                   const Tensor& weight, int64_t reduction),
                  (self, target, p, margin, weight, reduction),
                  "self, target, p=1, margin=1, weight={}, reduction=Reduction::Mean",
                  "How far other classes' scores come within margin of the target's.")
CRESSET_OUT_FORM(multi_margin_loss, ,
                 (const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const Tensor& weight,
                  int64_t reduction),
                 (self, target, p, margin, weight, reduction),
                 "self, target, p=1, margin=1, weight={}, reduction=Reduction::Mean",
                 "How far other classes' scores come within margin of the target's.")

// Piecewise linear in x.
static Tensor multilabel_margin_backward(const Tensor& g, const Tensor& x, const Tensor& target, int64_t reduction) {
  Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device());
  multilabel_margin_backward_kernel(dx, g, x, target, reduction);
  return differentiable("MultilabelMarginLossBackwardBackward0", dx, inputs(g), saved(g, x, target),
                        [reduction](const Tensor& gg, Wants, const Tensor& g, const Tensor& x, const Tensor& target) {
                          Tensor slopes = multilabel_margin_backward(new_ones(g, g.sizes()), x, target, reduction);
                          Tensor each = mul(gg, slopes);
                          return grads(reduction == Reduction::None ? sum(each, 1) : sum(each));
                        });
}
static Tensor multilabel_margin(const Tensor& self, const Tensor& target, int64_t reduction) {
  const char* op = "multilabel_margin_loss";
  detail::check_reduction(op, reduction);
  check_class_target(op, self, target);
  CRESSET_CHECK_AS(
      ShapeError, self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0), op,
      ": Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", text_of(self.sizes()));
  CRESSET_CHECK_AS(ShapeError, self.sizes() == target.sizes(), op,
                   ": inconsistent target size: ", text_of(target.sizes()),
                   " for input of size: ", text_of(self.sizes()));
  int64_t classes = self.dim() == 0 ? 1 : self.size(-1), rows = self.numel() / classes;
  Tensor x = reshape(self, {rows, classes}), list = reshape(target, {rows, classes});
  Dims sizes;
  if (reduction == Reduction::None) sizes.push_back(rows);
  Tensor y = empty_contiguous(sizes, x.dtype(), x.device());
  multilabel_margin_kernel(y, x, list, reduction);
  y = differentiable("MultilabelMarginLossBackward0", y, inputs(x), saved(x, list),
                     [reduction](const Tensor& g, Wants, const Tensor& x, const Tensor& target) {
                       return grads(multilabel_margin_backward(g, x, target, reduction));
                     });
  return reduction == Reduction::None && self.dim() < 2 ? reshape(y, {}) : y;
}
static Tensor multilabel_margin_loss_into(const Into& into, const Tensor& self, const Tensor& target,
                                          int64_t reduction) {
  Tensor y = multilabel_margin(self, target, reduction);
  return into.fresh() ? y : copied_into("multilabel_margin_loss", into, y, {&self, &target});
}
CRESSET_LOSS_FORM(multilabel_margin_loss, (const Tensor& self, const Tensor& target, int64_t reduction),
                  (self, target, reduction), "self, target, reduction=Reduction::Mean",
                  "How far scores of other classes come within 1 of those that target lists (up to its first -1).")
CRESSET_OUT_FORM(multilabel_margin_loss, , (const Tensor& self, const Tensor& target, int64_t reduction),
                 (self, target, reduction), "self, target, reduction=Reduction::Mean",
                 "How far scores of other classes come within 1 of those that target lists (up to its first -1).")

static Tensor multilabel_soft_margin_loss_into(const Into&, const Tensor& self, const Tensor& target,
                                               const Tensor& weight, int64_t reduction) {
  const char* op = "multilabel_soft_margin_loss";
  detail::check_reduction(op, reduction);
  Tensor each = loss_of_terms(op, Into{}, self, target, LossTerm::logit_entropy, Reduction::None);
  if (weight.defined()) each = mul(each, weight);
  return detail::reduced_loss(mean(each, -1), reduction);
}
CRESSET_LOSS_FORM(multilabel_soft_margin_loss,
                  (const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction),
                  (self, target, weight, reduction), "self, target, weight={}, reduction=Reduction::Mean",
                  "The binary cross entropy of logits and targets, averaged over the classes of each sample.")

// ---- triplets
static Tensor distance_between(const Tensor& a, const Tensor& b, double p, double eps) {
  const char* op = "triplet_margin_loss";
  Tensor x = a, y = b, powers;
  if (is_integral(result_type(a, b), true)) {  // their difference wraps around as integers do
    x = sub(a, b).to(default_dtype());
    y = new_zeros(x, {});
  }
  double each = std::isinf(p) ? 1 : p;
  if (x.is_complex() || y.is_complex()) {
    Tensor d = add(sub(x, y), eps);
    Tensor squares = add(mul(real(d), real(d)), mul(imag(d), imag(d)));
    powers = loss_of_terms(op, Into{}, squares, squares, LossTerm::power, Reduction::None, 0, each / 2);
  } else {
    powers = loss_of_terms(op, Into{}, x, y, LossTerm::distance_power, Reduction::None, eps, each);
  }
  if (std::isinf(p)) return amax(powers, -1);
  powers = sum(powers, -1);
  return p == 1 ? powers : loss_of_terms(op, Into{}, powers, powers, LossTerm::power, Reduction::None, 0, 1 / p);
}
static Tensor triplet_loss(const Tensor& near, const Tensor& far, double margin, int64_t reduction) {
  return loss_of_terms("triplet_margin_loss", Into{}, near, far, LossTerm::margin_power, reduction, margin, 1);
}
static Tensor smaller(const Tensor& a, const Tensor& b) { return sub(a, relu(sub(a, b))); }

static Tensor triplet_margin_loss_into(const Into&, const Tensor& anchor, const Tensor& positive,
                                       const Tensor& negative, double margin, double p, double eps, bool swap,
                                       int64_t reduction) {
  CRESSET_CHECK_AS(ShapeError, anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
                   "triplet_margin_loss: The anchor, positive, and negative tensors are expected to have the same "
                   "number of dimensions, but got: anchor ",
                   anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(), "D inputs");
  CRESSET_CHECK_AS(ValueError, p > 0, "triplet_margin_loss: found p ", p, " (expected more than 0)");
  Tensor near = distance_between(anchor, positive, p, eps), far = distance_between(anchor, negative, p, eps);
  if (swap) far = smaller(far, distance_between(positive, negative, p, eps));
  return triplet_loss(near, far, margin, reduction);
}
CRESSET_LOSS_FORM(triplet_margin_loss,
                  (const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p,
                   double eps, bool swap, int64_t reduction),
                  (anchor, positive, negative, margin, p, eps, swap, reduction),
                  "anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=false, reduction=Reduction::Mean",
                  "How far the distance to positive comes within margin of the distance to negative.")

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const std::function<Tensor(const Tensor&, const Tensor&)>& distance,
                                         double margin, bool swap, int64_t reduction) {
  auto between = [&](const Tensor& a, const Tensor& b) {
    return distance ? distance(a, b) : distance_between(a, b, 2, 1e-6);
  };
  Tensor near = between(anchor, positive), far = between(anchor, negative);
  if (swap) far = smaller(far, between(positive, negative));
  return triplet_loss(near, far, margin, reduction);
}

}  // namespace cresset
