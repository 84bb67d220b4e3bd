#include "cresset/nn/layers/adaptive.h"

#include <cmath>
#include <limits>
#include <ostream>

#include "cresset/nn/containers/sequential.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                                               std::vector<int64_t> cutoffs)
    : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const std::vector<int64_t>& given = options.cutoffs();
  bool rising = !given.empty() && given.front() > 0 && given.back() <= options.n_classes() - 1;
  for (size_t i = 1; i < given.size(); i++) rising = rising && given[i] > given[i - 1];
  CRESSET_CHECK_AS(ValueError, rising, "AdaptiveLogSoftmaxWithLoss: found cutoffs ", text_of(given),
                   " (cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where "
                   "each value is between 1 and n_classes-1, ",
                   options.n_classes() - 1, ")");
  cutoffs = given;
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs.front();
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;

  const int64_t features = options.in_features();
  head = register_module("head", Linear(LinearOptions(features, head_size).bias(options.head_bias())));
  ModuleList clusters;
  for (size_t i = 0; i + 1 < cutoffs.size(); i++) {
    const double factor = std::pow(options.div_value(), static_cast<double>(i + 1));
    const auto projected = static_cast<int64_t>(std::floor(static_cast<double>(features) / factor));
    const int64_t classes = cutoffs[i + 1] - cutoffs[i];
    clusters->push_back(Sequential(Linear(LinearOptions(features, projected).bias(false)),
                                   Linear(LinearOptions(projected, classes).bias(false))));
  }
  tail = register_module("tail", clusters);
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  apply([](Module& module) {
    if (auto* linear = module.as<LinearImpl>()) linear->reset_parameters();
  });
}

AdaptiveSoftmaxWeights AdaptiveLogSoftmaxWithLossImpl::weights() const {
  AdaptiveSoftmaxWeights all{cutoffs, head->weight, head->bias, {}};
  for (size_t i = 0; i < tail->size(); i++) {
    const std::vector<Tensor> pair = tail->ptr(i)->parameters();
    all.tails.emplace_back(pair.at(0), pair.at(1));
  }
  return all;
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  const bool batched = target.dim() > 0;
  auto [output, loss] = batched ? adaptive_log_softmax_with_loss(input, target, weights())
                                : adaptive_log_softmax_with_loss(unsqueeze(input, 0), unsqueeze(target, 0), weights());
  const double number = loss.is_meta() ? std::numeric_limits<double>::quiet_NaN() : loss.item<double>();
  return {batched ? output : squeeze(output, 0), number};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) { return adaptive_log_softmax(input, weights()); }

// A class of the head that beats every cluster beats every class in them: only other samples need all clusters.
Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  NoGradGuard no_grad;
  Tensor found = argmax(linear(input, head->weight, head->bias), 1);
  const Tensor rows = squeeze(nonzero(ge(found, shortlist_size)), 1);
  if (rows.numel() == 0) return found;
  return index_copy(found, 0, rows, argmax(log_prob(index_select(input, 0, rows)), 1));
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const { stream << detail::printed_name(*this); }

}  // namespace cresset::nn
