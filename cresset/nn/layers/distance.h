// Distances as layers.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/distance.h"

namespace cresset::nn {

struct CRESSET_API CosineSimilarityImpl : Stateless<CosineSimilarityImpl, CosineSimilarityOptions> {
  explicit CosineSimilarityImpl(const CosineSimilarityOptions& options = {});
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(CosineSimilarity);

struct CRESSET_API PairwiseDistanceImpl : Stateless<PairwiseDistanceImpl, PairwiseDistanceOptions> {
  explicit PairwiseDistanceImpl(const PairwiseDistanceOptions& options = {});
  Tensor forward(const Tensor& x1, const Tensor& x2);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(PairwiseDistance);

}  // namespace cresset::nn
