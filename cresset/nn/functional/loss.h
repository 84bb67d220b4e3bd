// Losses as functions.
#pragma once

#include "cresset/nn/options/loss.h"

namespace cresset::nn::functional {

CRESSET_API Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {});
CRESSET_API Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
CRESSET_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                  const SmoothL1LossFuncOptions& options = {});
// libtorch's form: its beta, not that of the options.
CRESSET_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options,
                                  double beta);
CRESSET_API Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {});
CRESSET_API Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {});
CRESSET_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyFuncOptions& options = {});
CRESSET_API Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                                    const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
CRESSET_API Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {});
CRESSET_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                                 const CrossEntropyFuncOptions& options = {});
CRESSET_API Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                                    const PoissonNLLLossFuncOptions& options = {});
CRESSET_API Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var,
                                     const GaussianNLLLossFuncOptions& options = {});
CRESSET_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                        const HingeEmbeddingLossFuncOptions& options = {});
CRESSET_API Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                         const CosineEmbeddingLossFuncOptions& options = {});
CRESSET_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                                       const MarginRankingLossFuncOptions& options = {});
CRESSET_API Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                                     const MultiMarginLossFuncOptions& options = {});
CRESSET_API Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                          const MultilabelMarginLossFuncOptions& options = {});
CRESSET_API Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                               const MultilabelSoftMarginLossFuncOptions& options = {});
CRESSET_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                                    const SoftMarginLossFuncOptions& options = {});
CRESSET_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                       const TripletMarginLossFuncOptions& options = {});
CRESSET_API Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                                     const Tensor& negative,
                                                     const TripletMarginWithDistanceLossFuncOptions& options = {});
CRESSET_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths, const CTCLossFuncOptions& options = {});

}  // namespace cresset::nn::functional
