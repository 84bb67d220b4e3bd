#include "cresset/optim/schedulers/reduce_on_plateau_scheduler.h"

#include "cresset/optim/fields.h"

#include <algorithm>
#include <iostream>
#include <limits>

namespace cresset::optim {

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, SchedulerMode mode, double factor, int64_t patience,
                                     double threshold, ThresholdMode threshold_mode, int64_t cooldown,
                                     const PerGroup& min_lr, double eps, bool verbose)
    : optimizer_(optimizer),
      factor_(factor),
      min_lrs_((min_lr.empty() ? PerGroup(0.0) : min_lr).of(optimizer, "ReduceLROnPlateau", "min_lr")),
      patience_(patience),
      cooldown_(cooldown),
      mode_(mode == min ? "min" : "max"),
      threshold_(threshold),
      threshold_mode_(threshold_mode == rel ? "rel" : "abs"),
      eps_(eps),
      verbose_(verbose) {
  CRESSET_CHECK_AS(ValueError, factor < 1, "ReduceLROnPlateau: Factor should be < 1.0 (found ", factor, ")");
  mode_worse_ = std::numeric_limits<double>::infinity() * (mode == min ? 1 : -1);
  best_ = mode_worse_;
  for (OptimizerParamGroup& group : optimizer_.param_groups()) last_lr_.push_back(group.get_lr());
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = threshold_mode_ == "rel";
  if (mode_ == "min") return metric < (relative ? best_ * (1. - threshold_) : best_ - threshold_);
  return metric > (relative ? best_ * (threshold_ + 1.) : best_ + threshold_);
}

void ReduceLROnPlateau::step(double metric) {
  last_epoch_++;
  if (is_better(metric)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    num_bad_epochs_++;
  }
  if (cooldown_counter_ > 0) {
    cooldown_counter_--;
    num_bad_epochs_ = 0;
  }
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  if (num_bad_epochs_ > patience_) {
    for (size_t g = 0; g < groups.size(); g++) {
      const double before = groups[g].get_lr(), now = std::max(before * factor_, min_lrs_[g]);
      if (before - now <= eps_) continue;
      groups[g].set_lr(now);
      if (verbose_)
        std::cout << "Epoch " << last_epoch_ << ": reducing learning rate of group " << g << " to " << now << ".\n";
    }
    cooldown_counter_ = cooldown_;
    num_bad_epochs_ = 0;
  }
  last_lr_.clear();
  for (OptimizerParamGroup& group : groups) last_lr_.push_back(group.get_lr());
}

SchedulerFields ReduceLROnPlateau::fields() {
  return {{"factor", &factor_},
          {"min_lrs", &min_lrs_},
          {"patience", &patience_},
          {"verbose", IValue(verbose_)},
          {"cooldown", &cooldown_},
          {"cooldown_counter", &cooldown_counter_},
          {"mode", &mode_},
          {"threshold", &threshold_},
          {"threshold_mode", &threshold_mode_},
          {"best", &best_},
          {"num_bad_epochs", &num_bad_epochs_},
          {"mode_worse", &mode_worse_},
          {"eps", &eps_},
          {"last_epoch", &last_epoch_},
          {"_last_lr", &last_lr_}};
}

IValue ReduceLROnPlateau::state_dict() const { return detail::written(const_cast<ReduceLROnPlateau*>(this)->fields()); }
void ReduceLROnPlateau::load_state_dict(const IValue& dict) { detail::read("ReduceLROnPlateau", fields(), dict); }

}  // namespace cresset::optim
