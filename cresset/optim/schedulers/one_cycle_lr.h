// One cycle: the learning rate rises to its maximum and falls to almost nothing, momentum the other way. A step a
// batch.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

struct CRESSET_API OneCycleLROptions {
  OneCycleLROptions(PerGroup max_lr) : max_lr_(std::move(max_lr)) {}
  CRESSET_ARG(PerGroup, max_lr);
  // The number of steps, or epochs and steps_per_epoch.
  CRESSET_ARG(std::optional<int64_t>, total_steps) = std::nullopt;
  CRESSET_ARG(std::optional<int64_t>, epochs) = std::nullopt;
  CRESSET_ARG(std::optional<int64_t>, steps_per_epoch) = std::nullopt;
  CRESSET_ARG(double, pct_start) = 0.3;               // the share of the steps in which it rises
  CRESSET_ARG(std::string, anneal_strategy) = "cos";  // or "linear"
  CRESSET_ARG(bool, cycle_momentum) = true;
  CRESSET_ARG(PerGroup, base_momentum) = 0.85;
  CRESSET_ARG(PerGroup, max_momentum) = 0.95;
  CRESSET_ARG(double, div_factor) = 25;         // maximum / first
  CRESSET_ARG(double, final_div_factor) = 1e4;  // first / last
  CRESSET_ARG(bool, three_phase) = false;       // back to the first, then to the last
};

class CRESSET_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options, int64_t last_epoch = -1);
  OneCycleLR(Optimizer& optimizer, PerGroup max_lr, int64_t total_steps)
      : OneCycleLR(optimizer, OneCycleLROptions(std::move(max_lr)).total_steps(total_steps)) {}

 protected:
  std::vector<double> get_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "OneCycleLR"; }

 private:
  struct Phase {
    double end_step;
    const char *start_lr, *end_lr, *start_momentum, *end_momentum;  // names in the group
  };
  double annealed(double start, double end, double part) const;
  int64_t total_steps_;
  std::vector<Phase> phases_;
  std::string anneal_strategy_;
  bool cycle_momentum_;
};

}  // namespace cresset::optim
