// Losses made of terms of single elements. loss_of_terms is one pass over memory, and so is each gradient; losses of
// more than two tensors put them together from terms.
#include "cresset/ops/loss_pointwise.h"

#include "cresset/core/kernel.h"
#include "cresset/ops/complex.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/loss_forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

struct Term {
  LossTerm kind;
  double a, b;
};

// Derivatives that are zero everywhere, for which there is nothing to run.
bool vanishes(LossTerm kind, int i, int j) {
  switch (kind) {
    case LossTerm::squared:
      return i + j > 2;
    case LossTerm::absolute:
      return i + j > 1;
    case LossTerm::smooth_absolute:
    case LossTerm::huber:
      return i + j > 2;
    case LossTerm::entropy:
    case LossTerm::logit_entropy:
    case LossTerm::logit_positive:
    case LossTerm::poisson:
      return j > 1;
    case LossTerm::kl:
    case LossTerm::kl_log:
    case LossTerm::over_root:
      return i > 1;
    case LossTerm::poisson_log:
      return j > 1 || (j == 1 && i > 1);
    case LossTerm::stirling:
      return i > 0;
    case LossTerm::power:
      return j > 0;
    case LossTerm::hinge:  // what t is chooses a branch
    case LossTerm::cosine_hinge:
      return j > 0 || i > 1;
    case LossTerm::ranking:
      return i > 1 || j > 1;
    case LossTerm::margin_power:
      return i + j > 2;
    default:
      return false;
  }
}

// scale * g * a derivative of the term.
Tensor derivative(const Tensor& g, const Tensor& x, const Tensor& t, Term term, int i, int j, double scale);

Tensor for_input(const Tensor& d, const Tensor& input) { return summed_to(d, input.sizes()).to(input.dtype()); }
Tensor derivative_for(const Tensor& input, const Tensor& g, const Tensor& x, const Tensor& t, Term term, int i, int j,
                      double scale) {
  if (vanishes(term.kind, i, j)) return Tensor();
  return for_input(derivative(g, x, t, term, i, j, scale), input);
}

Tensor derivative(const Tensor& g, const Tensor& x, const Tensor& t, Term term, int i, int j, double scale) {
  CRESSET_CHECK_AS(AutogradError, i + j <= 2, "loss: the derivative of order ", i + j,
                   " of this loss is not implemented (expected at most 2)");
  DType compute = result_type(x, t);
  Tensor y = pointwise_result("loss", Into{}, {&x, &t, &g}, compute, compute);
  loss_terms_kernel(y, g, x, t, static_cast<int64_t>(term.kind), i, j, term.a, term.b, scale, compute);
  return differentiable(
      "LossTermsBackward0", y, inputs(g, x, t), saved(g, x, t),
      [term, i, j, scale](const Tensor& gg, Wants wants, const Tensor& g, const Tensor& x, const Tensor& t) {
        Tensor to_g, to_x, to_t, both = wants(1) || wants(2) ? mul(gg, g) : Tensor();
        if (wants(0)) to_g = for_input(derivative(gg, x, t, term, i, j, scale), g);
        if (wants(1)) to_x = derivative_for(x, both, x, t, term, i + 1, j, scale);
        if (wants(2)) to_t = derivative_for(t, both, x, t, term, i, j + 1, scale);
        return grads(to_g, to_x, to_t);
      });
}

// The loss has the dtype of `whose`, if it is given and real; otherwise the common one.
Tensor terms_into(const char* op, const char* node, const Into& into, const Tensor& x, const Tensor& t, Term term,
                  int64_t reduction, const Tensor& whose = {}) {
  detail::check_reduction(op, reduction);
  DType compute = result_type(x, t);
  CRESSET_CHECK_AS(TypeError, is_floating_point(compute), op, ": not implemented for '", toString(compute),
                   "' (expected a floating point type)");
  DType dtype = whose.defined() && whose.is_floating_point() ? whose.dtype() : compute;
  auto kind = static_cast<int64_t>(term.kind);
  Tensor y;
  double divisor = 1;
  if (reduction == Reduction::None) {
    y = pointwise_result(op, into, {&x, &t}, compute, dtype);
    loss_terms_kernel(y, Tensor(), x, t, kind, 0, 0, term.a, term.b, 1, compute);
  } else {
    check_same_device(op, x, t);
    Dims sizes = broadcast_shapes(op, x.sizes(), t.sizes());
    if (reduction == Reduction::Mean) divisor = static_cast<double>(sizes.product());
    if (into.out() && into.tensor->defined() && can_cast(compute, into.tensor->dtype())) dtype = into.tensor->dtype();
    y = result(op, into, {}, dtype, x.device(), {&x, &t});
    loss_sum_kernel(y, x, t, sizes, kind, term.a, term.b, divisor, compute);
  }
  return differentiable(node, into, y, inputs(x, t), saved(x, t),
                        [term, scale = 1 / divisor](const Tensor& g, Wants wants, const Tensor& x, const Tensor& t) {
                          return grads(wants(0) ? derivative_for(x, g, x, t, term, 1, 0, scale) : Tensor(),
                                       wants(1) ? derivative_for(t, g, x, t, term, 0, 1, scale) : Tensor());
                        });
}

Tensor each_term(const char* op, const Tensor& x, const Tensor& t, LossTerm kind, double a = 0, double b = 0) {
  return terms_into(op, "LossTermsBackward0", Into{}, x, t, {kind, a, b}, Reduction::None);
}

// A result that was composed, put where the caller wants it.
Tensor delivered(const char* op, const Into& into, const Tensor& y, std::initializer_list<const Tensor*> reads) {
  if (into.fresh()) return y;
  Tensor out = result(op, into, y.sizes(), y.dtype(), y.device(), reads);
  copy_kernel(out, y);
  return not_differentiable(into, out);
}

void check_same_sizes(const char* op, const Tensor& self, const Tensor& target) {
  CRESSET_CHECK_AS(ShapeError, self.sizes() == target.sizes(), op, ": Using a target size (", text_of(target.sizes()),
                   ") that is different to the input size (", text_of(self.sizes()),
                   ") is not supported. Please ensure they have the same size.");
}

}  // namespace

void detail::check_reduction(const char* op, int64_t reduction) {
  CRESSET_CHECK_AS(ValueError, reduction >= Reduction::None && reduction <= Reduction::Sum, op, ": reduction ",
                   reduction, " is not a valid value (expected Reduction::None, Mean or Sum)");
}
Tensor detail::reduced_loss(const Tensor& each, int64_t reduction) {
  if (reduction == Reduction::None) return each;
  return reduction == Reduction::Mean ? mean(each) : sum(each);
}
Tensor loss_of_terms(const char* op, const Into& into, const Tensor& x, const Tensor& t, LossTerm term,
                     int64_t reduction, double a, double b) {
  return terms_into(op, "LossTermsBackward0", into, x, t, {term, a, b}, reduction);
}

// ---- of differences
static Tensor mse_loss_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction) {
  return terms_into("mse_loss", "MseLossBackward0", into, self, target, {LossTerm::squared, 0, 0}, reduction);
}
CRESSET_LOSS_FORM(mse_loss, (const Tensor& self, const Tensor& target, int64_t reduction), (self, target, reduction),
                  "self, target, reduction=Reduction::Mean", "The squared differences, or their mean or sum.")
CRESSET_OUT_FORM(mse_loss, , (const Tensor& self, const Tensor& target, int64_t reduction), (self, target, reduction),
                 "self, target, reduction=Reduction::Mean", "The squared differences, or their mean or sum.")

// |d| of integers, and of complex numbers from their two parts.
static Tensor size_of(const Tensor& d) {
  if (d.is_complex()) {
    Tensor squares = add(mul(real(d), real(d)), mul(imag(d), imag(d)));
    return each_term("l1_loss", squares, squares, LossTerm::power, 0, 0.5);
  }
  return d.dtype() == kByte ? d : add(relu(d), relu(neg(d)));
}
static Tensor l1_loss_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction) {
  if (!is_floating_point(result_type(self, target))) {
    detail::check_reduction("l1_loss", reduction);
    return detail::reduced_loss(size_of(sub(self, target)), reduction);
  }
  return terms_into("l1_loss", "L1LossBackward0", into, self, target, {LossTerm::absolute, 0, 0}, reduction);
}
CRESSET_LOSS_FORM(l1_loss, (const Tensor& self, const Tensor& target, int64_t reduction), (self, target, reduction),
                  "self, target, reduction=Reduction::Mean", "The absolute differences, or their mean or sum.")

static Tensor smooth_l1_loss_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction,
                                  double beta) {
  CRESSET_CHECK_AS(ValueError, beta >= 0, "smooth_l1_loss: does not support negative values for beta, found ", beta);
  Term term = beta == 0 ? Term{LossTerm::absolute, 0, 0} : Term{LossTerm::smooth_absolute, beta, 0};
  return terms_into("smooth_l1_loss", "SmoothL1LossBackward0", into, self, target, term, reduction);
}
CRESSET_LOSS_FORM(smooth_l1_loss, (const Tensor& self, const Tensor& target, int64_t reduction, double beta),
                  (self, target, reduction, beta), "self, target, reduction=Reduction::Mean, beta=1.0",
                  "Squares of differences below beta, divided by 2 beta, and absolute values above.")
CRESSET_OUT_FORM(smooth_l1_loss, , (const Tensor& self, const Tensor& target, int64_t reduction, double beta),
                 (self, target, reduction, beta), "self, target, reduction=Reduction::Mean, beta=1.0",
                 "Squares of differences below beta, divided by 2 beta, and absolute values above.")

static Tensor huber_loss_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction,
                              double delta) {
  CRESSET_CHECK_AS(ValueError, delta > 0, "huber_loss: does not support non-positive values for delta, found ", delta);
  return terms_into("huber_loss", "HuberLossBackward0", into, self, target, {LossTerm::huber, delta, 0}, reduction,
                    self);
}
CRESSET_LOSS_FORM(huber_loss, (const Tensor& self, const Tensor& target, int64_t reduction, double delta),
                  (self, target, reduction, delta), "self, target, reduction=Reduction::Mean, delta=1.0",
                  "Half the squares of differences up to delta, and a line of slope delta above.")
CRESSET_OUT_FORM(huber_loss, , (const Tensor& self, const Tensor& target, int64_t reduction, double delta),
                 (self, target, reduction, delta), "self, target, reduction=Reduction::Mean, delta=1.0",
                 "Half the squares of differences up to delta, and a line of slope delta above.")

// ---- entropies
static Tensor binary_cross_entropy_into(const Into& into, const Tensor& self, const Tensor& target,
                                        const Tensor& weight, int64_t reduction) {
  const char* op = "binary_cross_entropy";
  // PyTorch's op does not mind dimensions of size 1: [N, 1] goes with [N]. Its functional form does.
  if (self.sizes() != target.sizes() && self.squeeze().sizes() == target.squeeze().sizes())
    return binary_cross_entropy_into(into, self, target.reshape(self.sizes()), weight, reduction);
  check_same_sizes(op, self, target);
  if (!weight.defined())
    return terms_into(op, "BinaryCrossEntropyBackward0", into, self, target, {LossTerm::entropy, 0, 0}, reduction);
  detail::check_reduction(op, reduction);
  Tensor each = mul(each_term(op, self, target, LossTerm::entropy), weight);
  CRESSET_CHECK_AS(ShapeError, each.sizes() == self.sizes(), op, ": weight of shape ", text_of(weight.sizes()),
                   " does not broadcast to the input's shape ", text_of(self.sizes()));
  return delivered(op, into, detail::reduced_loss(each, reduction), {&self, &target, &weight});
}
CRESSET_LOSS_FORM(binary_cross_entropy,
                  (const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction),
                  (self, target, weight, reduction), "self, target, weight={}, reduction=Reduction::Mean",
                  "The cross entropy between probabilities and targets from 0 to 1.")
CRESSET_OUT_FORM(binary_cross_entropy, ,
                 (const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction),
                 (self, target, weight, reduction), "self, target, weight={}, reduction=Reduction::Mean",
                 "The cross entropy between probabilities and targets from 0 to 1.")

static Tensor binary_cross_entropy_with_logits_into(const Into& into, const Tensor& self, const Tensor& target,
                                                    const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  const char* op = "binary_cross_entropy_with_logits";
  if (!weight.defined() && !pos_weight.defined())
    return terms_into(op, "BinaryCrossEntropyWithLogitsBackward0", into, self, target, {LossTerm::logit_entropy, 0, 0},
                      reduction, target);
  detail::check_reduction(op, reduction);
  Tensor each = each_term(op, self, target, LossTerm::logit_entropy);
  if (pos_weight.defined())
    each = add(each, mul(sub(pos_weight, 1), each_term(op, self, target, LossTerm::logit_positive)));
  if (weight.defined()) each = mul(each, weight);
  each = detail::reduced_loss(each, reduction);
  return target.is_floating_point() ? each.to(target.dtype()) : each;
}
CRESSET_LOSS_FORM(binary_cross_entropy_with_logits,
                  (const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
                   int64_t reduction),
                  (self, target, weight, pos_weight, reduction),
                  "self, target, weight={}, pos_weight={}, reduction=Reduction::Mean",
                  "The cross entropy between sigmoid(self) and targets from 0 to 1, exact for large logits.")

static Tensor kl_div_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction,
                          bool log_target) {
  return terms_into("kl_div", "KlDivBackward0", into, self, target,
                    {log_target ? LossTerm::kl_log : LossTerm::kl, 0, 0}, reduction);
}
CRESSET_LOSS_FORM(kl_div, (const Tensor& self, const Tensor& target, int64_t reduction, bool log_target),
                  (self, target, reduction, log_target), "self, target, reduction=Reduction::Mean, log_target=false",
                  "The Kullback-Leibler divergence of log probabilities self from target.")

// ---- likelihoods
static Tensor poisson_nll_loss_into(const Into& into, const Tensor& input, const Tensor& target, bool log_input,
                                    bool full, double eps, int64_t reduction) {
  const char* op = "poisson_nll_loss";
  if (is_integral(result_type(input, target), false))
    return poisson_nll_loss_into(into, input.to(default_dtype()), target, log_input, full, eps, reduction);
  LossTerm kind = log_input ? LossTerm::poisson_log : LossTerm::poisson;
  if (!full) return terms_into(op, "PoissonNllLossBackward0", into, input, target, {kind, eps, 0}, reduction);
  detail::check_reduction(op, reduction);
  Tensor each = each_term(op, input, target, kind, eps);
  return detail::reduced_loss(add(each, each_term(op, input, target, LossTerm::stirling)), reduction);
}
CRESSET_LOSS_FORM(poisson_nll_loss,
                  (const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction),
                  (input, target, log_input, full, eps, reduction),
                  "input, target, log_input=true, full=false, eps=1e-8, reduction=Reduction::Mean",
                  "The negative log likelihood of counts under Poisson distributions of mean exp(input), or input.")

static Tensor gaussian_nll_loss_into(const Into&, const Tensor& input, const Tensor& target, const Tensor& var,
                                     bool full, double eps, int64_t reduction) {
  const char* op = "gaussian_nll_loss";
  detail::check_reduction(op, reduction);
  Tensor spread = var;  // one variance for all, or one for all of the last dimension
  if (!(var.sizes() == input.sizes()) && input.dim() > 0) {
    if (input.sizes().slice(0, input.sizes().size() - 1) == var.sizes())
      spread = unsqueeze(var, -1);
    else
      CRESSET_CHECK_AS(
          ShapeError,
          input.dim() == var.dim() && var.size(-1) == 1 &&
              input.sizes().slice(0, input.sizes().size() - 1) == var.sizes().slice(0, var.sizes().size() - 1),
          op, ": var is of incorrect size: found ", text_of(var.sizes()), " for input ", text_of(input.sizes()));
  }
  Tensor each = each_term(op, sub(input, target), spread, LossTerm::gaussian, eps);
  if (full) each = add(each, 0.91893853320467274178);  // log(2 pi) / 2
  return detail::reduced_loss(each, reduction);
}
CRESSET_LOSS_FORM(gaussian_nll_loss,
                  (const Tensor& input, const Tensor& target, const Tensor& var, bool full, double eps,
                   int64_t reduction),
                  (input, target, var, full, eps, reduction),
                  "input, target, var, full=false, eps=1e-6, reduction=Reduction::Mean",
                  "The negative log likelihood of target under normal distributions of mean input and variance var.")

// ---- margins
static Tensor soft_margin_loss_into(const Into& into, const Tensor& self, const Tensor& target, int64_t reduction) {
  return terms_into("soft_margin_loss", "SoftMarginLossBackward0", into, self, target, {LossTerm::soft_margin, 0, 0},
                    reduction, self);
}
CRESSET_LOSS_FORM(soft_margin_loss, (const Tensor& self, const Tensor& target, int64_t reduction),
                  (self, target, reduction), "self, target, reduction=Reduction::Mean",
                  "log(1 + exp(-target * self)) for targets 1 and -1.")
CRESSET_OUT_FORM(soft_margin_loss, , (const Tensor& self, const Tensor& target, int64_t reduction),
                 (self, target, reduction), "self, target, reduction=Reduction::Mean",
                 "log(1 + exp(-target * self)) for targets 1 and -1.")

static Tensor hinge_embedding_loss_into(const Into& into, const Tensor& self, const Tensor& target, double margin,
                                        int64_t reduction) {
  return terms_into("hinge_embedding_loss", "HingeEmbeddingLossBackward0", into, self, target,
                    {LossTerm::hinge, margin, 0}, reduction, self);
}
CRESSET_LOSS_FORM(hinge_embedding_loss, (const Tensor& self, const Tensor& target, double margin, int64_t reduction),
                  (self, target, margin, reduction), "self, target, margin=1.0, reduction=Reduction::Mean",
                  "self where target is 1, and max(0, margin - self) where it is -1.")

static Tensor margin_ranking_loss_into(const Into& into, const Tensor& input1, const Tensor& input2,
                                       const Tensor& target, double margin, int64_t reduction) {
  CRESSET_CHECK_AS(ShapeError, input1.dim() == input2.dim() && input1.dim() == target.dim(),
                   "margin_ranking_loss: All input tensors should have same dimension but got sizes: input1: ",
                   text_of(input1.sizes()), ", input2: ", text_of(input2.sizes()),
                   ", target: ", text_of(target.sizes()));
  if (is_integral(result_type({&input1, &input2, &target}), true)) {  // products wrap around as integers do
    detail::check_reduction("margin_ranking_loss", reduction);
    Tensor z = add(mul(neg(target), sub(input1, input2)), margin);
    return detail::reduced_loss(relu(z), reduction);
  }
  return terms_into("margin_ranking_loss", "MarginRankingLossBackward0", into, sub(input1, input2), target,
                    {LossTerm::ranking, margin, 0}, reduction);
}
CRESSET_LOSS_FORM(margin_ranking_loss,
                  (const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction),
                  (input1, input2, target, margin, reduction),
                  "input1, input2, target, margin=0.0, reduction=Reduction::Mean",
                  "max(0, margin - target * (input1 - input2)) for targets 1 and -1.")

static Tensor cosine_embedding_loss_into(const Into& into, const Tensor& input1, const Tensor& input2,
                                         const Tensor& target, double margin, int64_t reduction) {
  const char* op = "cosine_embedding_loss";
  int64_t rank = target.dim();
  CRESSET_CHECK_AS(ShapeError, rank <= 1, op, ": 0D or 1D target tensor expected, multi-target not supported, found ",
                   text_of(target.sizes()));
  CRESSET_CHECK_AS(ShapeError, input1.dim() == rank + 1 && input2.dim() == rank + 1, op, ": ", rank,
                   "D target tensor expects ", rank + 1, "D input tensors, but found inputs with sizes ",
                   text_of(input1.sizes()), " and ", text_of(input2.sizes()));
  constexpr double tiny = 1e-12;  // keeps the root away from 0
  Tensor norm1 = add(sum(mul(input1, input1), -1), tiny), norm2 = add(sum(mul(input2, input2), -1), tiny);
  Tensor cosine = each_term(op, sum(mul(input1, input2), -1), mul(norm1, norm2), LossTerm::over_root);
  return terms_into(op, "CosineEmbeddingLossBackward0", into, cosine, target, {LossTerm::cosine_hinge, margin, 0},
                    reduction, cosine);
}
CRESSET_LOSS_FORM(cosine_embedding_loss,
                  (const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction),
                  (input1, input2, target, margin, reduction),
                  "input1, input2, target, margin=0.0, reduction=Reduction::Mean",
                  "1 minus the cosine between the inputs where target is 1, its excess over margin where it is -1.")

}  // namespace cresset
