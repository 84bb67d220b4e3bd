// Thin: the work is in the ops of the same names.
#include "cresset/nn/functional/loss.h"

#include "cresset/core/warning.h"
#include "cresset/ops/all.h"

namespace cresset::nn::functional {
namespace {

int64_t number(const nn::detail::loss_reduction_t& reduction) { return static_cast<int64_t>(reduction.index()); }

// [n, 1] against [n] gives all n * n differences, and a net that learns nothing. PyTorch's words, once in a program.
void warn_of_broadcast(const char* loss, const Tensor& input, const Tensor& target) {
  if (!input.defined() || !target.defined() || input.sizes() == target.sizes()) return;
  CRESSET_WARN_ONCE(loss, ": Using a target size (", target.sizes(), ") that is different to the input size (",
                    input.sizes(),
                    "). This will likely lead to incorrect results due to broadcasting. Please ensure they have the "
                    "same size.");
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& o) {
  warn_of_broadcast("l1_loss", input, target);
  return cresset::l1_loss(input, target, number(o.reduction()));
}
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& o) {
  warn_of_broadcast("mse_loss", input, target);
  return cresset::mse_loss(input, target, number(o.reduction()));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  warn_of_broadcast("smooth_l1_loss", input, target);
  return cresset::smooth_l1_loss(input, target, number(o.reduction()), o.beta());
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& o, double beta) {
  warn_of_broadcast("smooth_l1_loss", input, target);
  return cresset::smooth_l1_loss(input, target, number(o.reduction()), beta);
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& o) {
  warn_of_broadcast("huber_loss", input, target);
  return cresset::huber_loss(input, target, number(o.reduction()), o.delta());
}
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& o) {
  constexpr int64_t reductions[] = {Reduction::None, Reduction::Sum, Reduction::Sum, Reduction::Mean};
  Tensor loss = cresset::kl_div(input, target, reductions[o.reduction().index()], o.log_target());
  const bool by_batch = o.reduction().is<enumtype::kBatchMean>() && input.dim() != 0;
  return by_batch ? cresset::div(loss, input.size(0)) : loss;
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& o) {
  CRESSET_CHECK_AS(ShapeError, input.sizes() == target.sizes(), "binary_cross_entropy: Using a target size (",
                   text_of(target.sizes()), ") that is different to the input size (", text_of(input.sizes()),
                   ") is deprecated. Please ensure they have the same size.");
  return cresset::binary_cross_entropy(input, target, o.weight(), number(o.reduction()));
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  CRESSET_CHECK_AS(ShapeError, input.sizes() == target.sizes(), "binary_cross_entropy_with_logits: Target size ",
                   text_of(target.sizes()), " must be the same as input size ", text_of(input.sizes()));
  return cresset::binary_cross_entropy_with_logits(input, target, o.weight(), o.pos_weight(), number(o.reduction()));
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& o) {
  try {
    return cresset::nll_loss_nd(input, target, o.weight(), number(o.reduction()), o.ignore_index());
  } catch (Error& error) {  // by the name that was called
    constexpr std::string_view op = "nll_loss_nd";
    if (error.msg().starts_with(op)) error.set_message("nll_loss" + error.msg().substr(op.size()));
    throw;
  }
}
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& o) {
  return cresset::cross_entropy(input, target, o.weight(), number(o.reduction()), o.ignore_index(),
                                o.label_smoothing());
}
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, const PoissonNLLLossFuncOptions& o) {
  return cresset::poisson_nll_loss(input, target, o.log_input(), o.full(), o.eps(), number(o.reduction()));
}
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                         const GaussianNLLLossFuncOptions& o) {
  return cresset::gaussian_nll_loss(input, target, var, o.full(), o.eps(), number(o.reduction()));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, const HingeEmbeddingLossFuncOptions& o) {
  return cresset::hinge_embedding_loss(input, target, o.margin(), number(o.reduction()));
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o) {
  return cresset::cosine_embedding_loss(input1, input2, target, o.margin(), number(o.reduction()));
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o) {
  CRESSET_CHECK_AS(ShapeError, input1.dim() == input2.dim() && input1.dim() == target.dim(),
                   "margin_ranking_loss: found shapes ", text_of(input1.sizes()), ", ", text_of(input2.sizes()),
                   " and target ", text_of(target.sizes()), " (expected the same number of dimensions)");
  return cresset::margin_ranking_loss(input1, input2, target, o.margin(), number(o.reduction()));
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const MultiMarginLossFuncOptions& o) {
  CRESSET_CHECK_AS(ValueError, o.p() == 1 || o.p() == 2, "multi_margin_loss: found p ", o.p(), " (expected 1 or 2)");
  return cresset::multi_margin_loss(input, target, o.p(), o.margin(), o.weight(), number(o.reduction()));
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, const MultilabelMarginLossFuncOptions& o) {
  return cresset::multilabel_margin_loss(input, target, number(o.reduction()));
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& o) {
  return cresset::multilabel_soft_margin_loss(input, target, o.weight(), number(o.reduction()));
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return cresset::soft_margin_loss(input, target, number(o.reduction()));
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o) {
  return cresset::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(),
                                      number(o.reduction()));
}
Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& o) {
  return cresset::triplet_margin_with_distance_loss(anchor, positive, negative,
                                                    o.distance_function() ? *o.distance_function() : nullptr,
                                                    o.margin(), o.swap(), number(o.reduction()));
}
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossFuncOptions& o) {
  return cresset::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), number(o.reduction()),
                           o.zero_infinity());
}

}  // namespace cresset::nn::functional
