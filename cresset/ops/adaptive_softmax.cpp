// Composed of ops, so that gradients come from them.
#include "cresset/ops/adaptive_softmax.h"

#include "cresset/ops/all.h"

namespace cresset {
namespace {

void check(const char* op, const Tensor& input, const AdaptiveSoftmaxWeights& w) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 2, op, ": found input of shape ", text_of(input.sizes()),
                   " (expected [batch, features])");
  CRESSET_CHECK_AS(ValueError, !w.cutoffs.empty() && w.cutoffs.size() == w.tails.size() + 1, op, ": found ",
                   w.cutoffs.size(), " cutoffs and ", w.tails.size(), " tails (expected one cutoff more than tails)");
  for (size_t i = 0; i < w.cutoffs.size(); i++)
    CRESSET_CHECK_AS(ValueError, w.cutoffs[i] > (i == 0 ? 0 : w.cutoffs[i - 1]), op, ": found cutoffs ",
                     text_of(w.cutoffs),
                     " (expected a sequence of unique, positive integers sorted in increasing order)");
  const int64_t head = w.cutoffs[0] + static_cast<int64_t>(w.tails.size());
  CRESSET_CHECK_AS(ShapeError, w.head_weight.dim() == 2 && w.head_weight.size(0) == head, op,
                   ": found head_weight of shape ", text_of(w.head_weight.sizes()), " (expected ", head, " rows)");
}

Tensor head_of(const Tensor& input, const AdaptiveSoftmaxWeights& w) {
  return log_softmax(linear(input, w.head_weight, w.head_bias), 1);
}
// Given the cluster: the log-probabilities of its classes.
Tensor tail_of(const Tensor& input, const std::pair<Tensor, Tensor>& tail) {
  return log_softmax(linear(linear(input, tail.first), tail.second), 1);
}

}  // namespace

Tensor adaptive_log_softmax(const Tensor& input, const AdaptiveSoftmaxWeights& w) {
  check("adaptive_log_softmax", input, w);
  const Tensor head = head_of(input, w);
  std::vector<Tensor> parts = {slice(head, 1, 0, w.cutoffs[0])};
  for (size_t i = 0; i < w.tails.size(); i++) {
    const int64_t cluster = w.cutoffs[0] + static_cast<int64_t>(i);
    parts.push_back(add(tail_of(input, w.tails[i]), slice(head, 1, cluster, cluster + 1)));
  }
  return cat(parts, 1);
}

std::tuple<Tensor, Tensor> adaptive_log_softmax_with_loss(const Tensor& input, const Tensor& target,
                                                          const AdaptiveSoftmaxWeights& w) {
  const char* op = "adaptive_log_softmax_with_loss";
  check(op, input, w);
  CRESSET_CHECK_AS(ShapeError, target.dim() == 1 && target.size(0) == input.size(0), op, ": found input of shape ",
                   text_of(input.sizes()), " and target of shape ", text_of(target.sizes()),
                   " (expected one target for each row)");
  if (target.numel() > 0) {
    const int64_t least = min(target).item<int64_t>(), most = max(target).item<int64_t>();
    CRESSET_CHECK_AS(IndexError, least >= 0 && most < w.cutoffs.back(), op, ": found targets from ", least, " to ",
                     most, " (expected 0 to ", w.cutoffs.back() - 1, ")");
  }
  const Tensor head = head_of(input, w);
  // In the head a target of a tail stands for its cluster.
  Tensor in_head = target, within = zeros_like(target, TensorOptions(input.dtype()));
  for (size_t i = 0; i < w.tails.size(); i++) {
    const Tensor here = logical_and(ge(target, w.cutoffs[i]), lt(target, w.cutoffs[i + 1]));
    const Tensor rows = squeeze(nonzero(here), 1);
    in_head = masked_fill(in_head, here, w.cutoffs[0] + static_cast<int64_t>(i));
    if (rows.numel() == 0) continue;
    const Tensor places = unsqueeze(sub(index_select(target, 0, rows), w.cutoffs[i]), 1);
    const Tensor found = squeeze(gather(tail_of(index_select(input, 0, rows), w.tails[i]), 1, places), 1);
    within = index_add(within, 0, rows, found);
  }
  const Tensor output = add(squeeze(gather(head, 1, unsqueeze(in_head, 1)), 1), within);
  return {output, neg(mean(output))};
}

}  // namespace cresset
