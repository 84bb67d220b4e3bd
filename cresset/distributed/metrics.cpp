#include "cresset/distributed/metrics.h"

#include "cresset/distributed/called_as.h"
#include "cresset/distributed/collectives.h"
#include "cresset/distributed/throw_together.h"
#include "cresset/io/checksum.h"
#include "cresset/ops/all.h"

namespace cresset::distributed {

void Average::add(double value, double weight) {
  CRESSET_CHECK_AS(ValueError, weight >= 0, "Average::add: found weight ", weight, " (expected 0 or more)");
  sum_ += value * weight;
  weight_ += weight;
}
void Average::add(const Tensor& value, double weight) {
  CRESSET_CHECK_AS(ShapeError, value.defined() && value.numel() == 1, "Average::add: found shape ",
                   value.defined() ? text_of(value.sizes()) : "(undefined)", " (expected one element)");
  add(value.detach().item<double>(), weight);
}
double Average::reduce(const Group& group) const { return reduce_metrics({{"", *this}}, group).at(""); }

void Accuracy::add(const Tensor& scores, const Tensor& labels) {
  CRESSET_CHECK_AS(ShapeError, scores.dim() == 2 && labels.dim() == 1 && scores.size(0) == labels.size(0),
                   "Accuracy::add: found scores of shape ", text_of(scores.sizes()), " and labels of shape ",
                   text_of(labels.sizes()), " (expected [N, classes] and [N])");
  if (labels.numel() == 0) return;
  NoGradGuard no_grad;
  right_.add(scores.argmax(1).eq(labels).to(kDouble).mean(), static_cast<double>(labels.numel()));
}

std::map<std::string, double> reduce_metrics(const std::map<std::string, Average>& metrics, const Group& group) {
  std::vector<double> values;
  io::Digest names;
  for (const auto& [name, metric] : metrics) {
    values.push_back(metric.sum());
    values.push_back(metric.weight());
    names.add(name.c_str(), name.size() + 1);
  }
  if (group || is_initialized()) {
    // Equal numbers are those whose squares add up to the square of the sum, divided by how many there are.
    const auto mark = static_cast<double>(names.value() & 0xfffff);
    const Group among = group ? group : default_group();
    values.push_back(mark);
    values.push_back(mark * mark);
    Tensor sums = empty({static_cast<int64_t>(values.size())}, TensorOptions(kDouble));
    std::copy(values.begin(), values.end(), sums.data_ptr<double>());
    const CalledAs called("reduce_metrics");
    all_reduce(sums, among);
    const double* first = sums.data_ptr<double>();
    values.assign(first, first + sums.numel());
    const double total = values[values.size() - 2];
    if (total * total != values.back() * among->size())
      throw_together(*among, "reduce_metrics: the names of the metrics are not the same on all ranks");
  }
  std::map<std::string, double> result;
  size_t at = 0;
  for (const auto& [name, metric] : metrics) {
    result[name] = values[at] / values[at + 1];
    at += 2;
  }
  return result;
}

}  // namespace cresset::distributed
