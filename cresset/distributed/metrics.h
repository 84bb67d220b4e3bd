// Figures of a training, kept on each rank and put together over all: sums and weights travel, so that ranks with more
// examples count for more.
//
//   distributed::Average loss;  distributed::Accuracy accuracy;
//   loss.add(batch_loss, batch_size);  accuracy.add(scores, labels);
//   if (…) std::printf("%.4f %.1f %%\n", loss.reduce(), 100 * accuracy.reduce());
#pragma once

#include <map>
#include <string>

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

class CRESSET_API Average {
 public:
  void add(double value, double weight = 1);
  void add(const Tensor& value, double weight = 1);  // of one element
  void reset() { sum_ = weight_ = 0; }
  double sum() const { return sum_; }
  double weight() const { return weight_; }
  double value() const { return sum_ / weight_; }  // this rank's; nan of nothing
  // Over all ranks of the group (null: the default one, or this process alone if there is none); every rank calls it.
  double reduce(const Group& group = nullptr) const;

 private:
  double sum_ = 0, weight_ = 0;
};

// The share of rows whose highest score is that of the label.
class CRESSET_API Accuracy {
 public:
  void add(const Tensor& scores, const Tensor& labels);
  void reset() { right_.reset(); }
  double value() const { return right_.value(); }
  double reduce(const Group& group = nullptr) const { return right_.reduce(group); }
  const Average& average() const { return right_; }

 private:
  Average right_;
};

// Several in one message. Every rank must have the same names.
CRESSET_API std::map<std::string, double> reduce_metrics(const std::map<std::string, Average>& metrics,
                                                         const Group& group = nullptr);

}  // namespace cresset::distributed
