#include "cresset/nn/functional/distance.h"

#include "cresset/ops/distance.h"

namespace cresset::nn::functional {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  return cresset::cosine_similarity(x1, x2, o.dim(), o.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return cresset::pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}
Tensor pdist(const Tensor& input, double p) { return cresset::pdist(input, p); }

}  // namespace cresset::nn::functional
