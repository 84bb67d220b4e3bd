// AdaptiveLogSoftmaxWithLoss: softmax over many classes of uneven frequency, in clusters.
#pragma once

#include "cresset/nn/containers/module_list.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/nn/options/loss.h"

namespace cresset {
struct AdaptiveSoftmaxWeights;
}

namespace cresset::nn {

struct ASMoutput {
  Tensor output;  // the log-probability of each sample's target
  double loss;    // its negative mean, as libtorch has it: a number. Train on -output.mean().
};

// Classes are numbered from the most to the least frequent; those up to cutoffs[0] are in the head, and each cluster
// behind projects the features to fewer, by div_value more each time.
class CRESSET_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs);
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);
  void reset() override;
  void reset_parameters();
  ASMoutput forward(const Tensor& input, const Tensor& target);
  // Of every class: [batch, n_classes].
  Tensor log_prob(const Tensor& input);
  // The likeliest class of each sample.
  Tensor predict(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;  // with the number of classes as the last
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head{nullptr};
  ModuleList tail{nullptr};

 private:
  AdaptiveSoftmaxWeights weights() const;
};
CRESSET_LAYER(AdaptiveLogSoftmaxWithLoss);

}  // namespace cresset::nn
