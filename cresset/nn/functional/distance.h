// Distances as functions.
#pragma once

#include "cresset/core/tensor.h"
#include "cresset/nn/options/distance.h"

namespace cresset::nn::functional {

CRESSET_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                     const CosineSimilarityFuncOptions& options = {});
CRESSET_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                     const PairwiseDistanceFuncOptions& options = {});
CRESSET_API Tensor pdist(const Tensor& input, double p = 2.0);

}  // namespace cresset::nn::functional
