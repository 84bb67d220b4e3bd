#include "cresset/nn/layers/loss.h"

#include "cresset/nn/functional/loss.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::print_line;
using detail::written;
namespace F = functional;

namespace {

// Some of libtorch's losses name options, Python's none. Two of them have no parentheses.
std::string margin_text(double margin) { return detail::either("", "margin=" + written(margin)); }
template <class Options>
std::string libtorch_text(const Options&) {
  return "";
}
std::string libtorch_text(const HingeEmbeddingLossOptions& o) { return margin_text(o.margin()); }
std::string libtorch_text(const CosineEmbeddingLossOptions& o) { return margin_text(o.margin()); }
std::string libtorch_text(const TripletMarginLossOptions& o) {
  return detail::either("", "margin=" + written(o.margin()) + ", p=" + written(o.p()) + ", eps=" + written(o.eps()) +
                                ", swap=" + written(o.swap()));
}
std::string libtorch_text(const TripletMarginWithDistanceLossOptions& o) {
  return detail::either("", "margin=" + written(o.margin()) + ", swap=" + written(o.swap()));
}
std::string libtorch_text(const MultiMarginLossOptions& o) {
  return detail::either("", message_of("p=", o.p(), ", margin=", o.margin(), ", weight=", o.weight(),
                                       ", reduction=", enumtype::get_enum_name(o.reduction())));
}

template <class Layer>
void print_loss(std::ostream& stream, const Layer& layer) {
  constexpr bool bare = std::is_same_v<Layer, SmoothL1LossImpl> || std::is_same_v<Layer, HuberLossImpl>;
  if (bare && detail::as_libtorch())
    stream << detail::printed_name(layer);
  else
    print_line(stream, layer, libtorch_text(layer.options));
}

}  // namespace

#define CRESSET_LOSS_LAYER(Name, function)                                     \
  Name##Impl::Name##Impl(const Name##Options& options) : Stateless(options) {} \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {      \
    return F::function(input, target, options);                                \
  }                                                                            \
  void Name##Impl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }
CRESSET_LOSS_LAYER(L1Loss, l1_loss)
CRESSET_LOSS_LAYER(MSELoss, mse_loss)
CRESSET_LOSS_LAYER(SmoothL1Loss, smooth_l1_loss)
CRESSET_LOSS_LAYER(HuberLoss, huber_loss)
CRESSET_LOSS_LAYER(KLDivLoss, kl_div)
CRESSET_LOSS_LAYER(PoissonNLLLoss, poisson_nll_loss)
CRESSET_LOSS_LAYER(HingeEmbeddingLoss, hinge_embedding_loss)
CRESSET_LOSS_LAYER(MultiLabelMarginLoss, multilabel_margin_loss)
CRESSET_LOSS_LAYER(SoftMarginLoss, soft_margin_loss)

namespace {
// What reset() registers: the user's own tensor at first, and in a copy of the layer a copy.
Tensor own(const Tensor& held, const Tensor& given) { return held.defined() ? held.detach().clone() : given; }
}  // namespace

// The buffer, not what the options held, is what forward uses: it may have been moved or loaded.
#define CRESSET_WEIGHTED_LOSS_LAYER(Name, call)                                                          \
  Name##Impl::Name##Impl(Name##Options options_) : options(std::move(options_)) { Name##Impl::reset(); } \
  void Name##Impl::reset() { weight = register_buffer("weight", own(weight, options.weight())); }        \
  Tensor Name##Impl::forward(const Tensor& input, const Tensor& target) {                                \
    const int64_t reduction = static_cast<int64_t>(options.reduction().index());                         \
    return call;                                                                                         \
  }                                                                                                      \
  void Name##Impl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }
CRESSET_WEIGHTED_LOSS_LAYER(BCELoss, binary_cross_entropy(input, target, weight, reduction))
CRESSET_WEIGHTED_LOSS_LAYER(MultiMarginLoss,
                            multi_margin_loss(input, target, options.p(), options.margin(), weight, reduction))
CRESSET_WEIGHTED_LOSS_LAYER(MultiLabelSoftMarginLoss, multilabel_soft_margin_loss(input, target, weight, reduction))
CRESSET_WEIGHTED_LOSS_LAYER(NLLLoss, nll_loss_nd(input, target, weight, reduction, options.ignore_index()))
CRESSET_WEIGHTED_LOSS_LAYER(CrossEntropyLoss, cross_entropy(input, target, weight, reduction, options.ignore_index(),
                                                            options.label_smoothing()))

BCEWithLogitsLossImpl::BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_) : options(std::move(options_)) {
  BCEWithLogitsLossImpl::reset();
}
void BCEWithLogitsLossImpl::reset() {
  weight = register_buffer("weight", own(weight, options.weight()));
  pos_weight = register_buffer("pos_weight", own(pos_weight, options.pos_weight()));
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& input, const Tensor& target) {
  return F::binary_cross_entropy_with_logits(
      input, target, BCEWithLogitsLossOptions().weight(weight).pos_weight(pos_weight).reduction(options.reduction()));
}
void BCEWithLogitsLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

GaussianNLLLossImpl::GaussianNLLLossImpl(const GaussianNLLLossOptions& options) : Stateless(options) {}
Tensor GaussianNLLLossImpl::forward(const Tensor& input, const Tensor& target, const Tensor& var) {
  return F::gaussian_nll_loss(input, target, var, options);
}
void GaussianNLLLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

CosineEmbeddingLossImpl::CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& options) : Stateless(options) {}
Tensor CosineEmbeddingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return F::cosine_embedding_loss(input1, input2, target, options);
}
void CosineEmbeddingLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

MarginRankingLossImpl::MarginRankingLossImpl(const MarginRankingLossOptions& options) : Stateless(options) {}
Tensor MarginRankingLossImpl::forward(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  return F::margin_ranking_loss(input1, input2, target, options);
}
void MarginRankingLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

TripletMarginLossImpl::TripletMarginLossImpl(const TripletMarginLossOptions& options) : Stateless(options) {}
Tensor TripletMarginLossImpl::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  return F::triplet_margin_loss(anchor, positive, negative, options);
}
void TripletMarginLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

TripletMarginWithDistanceLossImpl::TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options)
    : Stateless(options) {}
Tensor TripletMarginWithDistanceLossImpl::forward(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) {
  return F::triplet_margin_with_distance_loss(anchor, positive, negative, options);
}
void TripletMarginWithDistanceLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

CTCLossImpl::CTCLossImpl(const CTCLossOptions& options) : Stateless(options) {}
Tensor CTCLossImpl::forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths) {
  return F::ctc_loss(log_probs, targets, input_lengths, target_lengths, options);
}
void CTCLossImpl::pretty_print(std::ostream& stream) const { print_loss(stream, *this); }

}  // namespace cresset::nn
