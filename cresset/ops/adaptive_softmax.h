// Softmax over many classes in clusters: frequent classes in a head, rare ones in tails that the head chooses between.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

struct AdaptiveSoftmaxWeights {
  std::vector<int64_t> cutoffs;                  // where each cluster ends; the last is the number of classes
  Tensor head_weight;                            // [cutoffs[0] + tails, features]
  Tensor head_bias;                              // may be undefined
  std::vector<std::pair<Tensor, Tensor>> tails;  // [projected, features] and [classes of the cluster, projected]
};

// The log-probability of each class: [batch, classes].
CRESSET_API Tensor adaptive_log_softmax(const Tensor& input, const AdaptiveSoftmaxWeights& weights);
// The log-probability of each sample's target, and its negative mean. Tails run on the samples that need them alone.
CRESSET_API std::tuple<Tensor, Tensor> adaptive_log_softmax_with_loss(const Tensor& input, const Tensor& target,
                                                                      const AdaptiveSoftmaxWeights& weights);

}  // namespace cresset
