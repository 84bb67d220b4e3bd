// Lowers the learning rate when a metric has stopped to improve.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

class CRESSET_API ReduceLROnPlateau {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  // patience: how many epochs without improvement are let pass; cooldown: how many after a reduction do not count.
  // min_lr {} is 0; verbose prints each reduction.
  explicit ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1, int64_t patience = 10,
                             double threshold = 1e-4, ThresholdMode threshold_mode = rel, int64_t cooldown = 0,
                             const PerGroup& min_lr = 0.0, double eps = 1e-8, bool verbose = false);

  void step(double metric);
  void step(const Tensor& metric) { step(metric.item<double>()); }

  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }
  double best() const { return best_; }
  Optimizer& optimizer() const { return optimizer_; }
  IValue state_dict() const;
  void load_state_dict(const IValue& dict);

 private:
  bool is_better(double metric) const;
  SchedulerFields fields();

  Optimizer& optimizer_;
  double factor_;
  std::vector<double> min_lrs_, last_lr_;
  int64_t patience_, cooldown_, cooldown_counter_ = 0;
  std::string mode_;
  double threshold_;
  std::string threshold_mode_;
  double best_;
  int64_t num_bad_epochs_ = 0;
  double mode_worse_;
  double eps_;
  bool verbose_;
  int64_t last_epoch_ = 0;
};

using ReduceLROnPlateauScheduler = ReduceLROnPlateau;

}  // namespace cresset::optim
