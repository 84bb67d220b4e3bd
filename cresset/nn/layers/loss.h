// Losses as layers: forward(input, target) gives a number, or with kNone one for each sample.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/loss.h"

namespace cresset::nn {

#define CRESSET_LOSS_LAYER(Name)                                         \
  struct CRESSET_API Name##Impl : Stateless<Name##Impl, Name##Options> { \
    explicit Name##Impl(const Name##Options& options = {});              \
    Tensor forward(const Tensor& input, const Tensor& target);           \
    void pretty_print(std::ostream& stream) const override;              \
  };                                                                     \
  CRESSET_LAYER(Name)
CRESSET_LOSS_LAYER(L1Loss);
CRESSET_LOSS_LAYER(MSELoss);
CRESSET_LOSS_LAYER(SmoothL1Loss);
CRESSET_LOSS_LAYER(HuberLoss);
CRESSET_LOSS_LAYER(KLDivLoss);
CRESSET_LOSS_LAYER(PoissonNLLLoss);
CRESSET_LOSS_LAYER(HingeEmbeddingLoss);
CRESSET_LOSS_LAYER(MultiLabelMarginLoss);
CRESSET_LOSS_LAYER(SoftMarginLoss);
#undef CRESSET_LOSS_LAYER

// Class weights are buffers: they move with the module and are saved, as in PyTorch.
#define CRESSET_WEIGHTED_LOSS_LAYER(Name)                      \
  struct CRESSET_API Name##Impl : Cloneable<Name##Impl> {      \
    explicit Name##Impl(Name##Options options_ = {});          \
    void reset() override;                                     \
    Tensor forward(const Tensor& input, const Tensor& target); \
    void pretty_print(std::ostream& stream) const override;    \
    Name##Options options;                                     \
    Tensor weight;                                             \
  };                                                           \
  CRESSET_LAYER(Name)
CRESSET_WEIGHTED_LOSS_LAYER(BCELoss);
CRESSET_WEIGHTED_LOSS_LAYER(MultiMarginLoss);
CRESSET_WEIGHTED_LOSS_LAYER(MultiLabelSoftMarginLoss);
CRESSET_WEIGHTED_LOSS_LAYER(NLLLoss);
CRESSET_WEIGHTED_LOSS_LAYER(CrossEntropyLoss);
#undef CRESSET_WEIGHTED_LOSS_LAYER

struct CRESSET_API BCEWithLogitsLossImpl : Cloneable<BCEWithLogitsLossImpl> {
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;
  BCEWithLogitsLossOptions options;
  Tensor weight, pos_weight;
};
CRESSET_LAYER(BCEWithLogitsLoss);

struct CRESSET_API GaussianNLLLossImpl : Stateless<GaussianNLLLossImpl, GaussianNLLLossOptions> {
  explicit GaussianNLLLossImpl(const GaussianNLLLossOptions& options = {});
  Tensor forward(const Tensor& input, const Tensor& target, const Tensor& var);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(GaussianNLLLoss);

struct CRESSET_API CosineEmbeddingLossImpl : Stateless<CosineEmbeddingLossImpl, CosineEmbeddingLossOptions> {
  explicit CosineEmbeddingLossImpl(const CosineEmbeddingLossOptions& options = {});
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(CosineEmbeddingLoss);

struct CRESSET_API MarginRankingLossImpl : Stateless<MarginRankingLossImpl, MarginRankingLossOptions> {
  explicit MarginRankingLossImpl(const MarginRankingLossOptions& options = {});
  Tensor forward(const Tensor& input1, const Tensor& input2, const Tensor& target);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(MarginRankingLoss);

struct CRESSET_API TripletMarginLossImpl : Stateless<TripletMarginLossImpl, TripletMarginLossOptions> {
  explicit TripletMarginLossImpl(const TripletMarginLossOptions& options = {});
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(TripletMarginLoss);

struct CRESSET_API TripletMarginWithDistanceLossImpl
    : Stateless<TripletMarginWithDistanceLossImpl, TripletMarginWithDistanceLossOptions> {
  explicit TripletMarginWithDistanceLossImpl(TripletMarginWithDistanceLossOptions options = {});
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(TripletMarginWithDistanceLoss);

struct CRESSET_API CTCLossImpl : Stateless<CTCLossImpl, CTCLossOptions> {
  explicit CTCLossImpl(const CTCLossOptions& options = {});
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(CTCLoss);

}  // namespace cresset::nn
