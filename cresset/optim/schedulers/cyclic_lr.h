// Learning rates that go up and down between two bounds, and momentum the other way.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

struct CRESSET_API CyclicLROptions {
  CyclicLROptions(PerGroup base_lr, PerGroup max_lr) : base_lr_(std::move(base_lr)), max_lr_(std::move(max_lr)) {}
  CRESSET_ARG(PerGroup, base_lr);
  CRESSET_ARG(PerGroup, max_lr);
  CRESSET_ARG(int64_t, step_size_up) = 2000;
  CRESSET_ARG(std::optional<int64_t>, step_size_down) = std::nullopt;  // as up
  CRESSET_ARG(std::string, mode) = "triangular";                       // or "triangular2", "exp_range"
  CRESSET_ARG(double, gamma) = 1;                                      // of exp_range
  // Own scale of the height, in place of the mode: of the cycle, or of the iteration.
  CRESSET_ARG(std::function<double(double)>, scale_fn) = nullptr;
  CRESSET_ARG(std::string, scale_mode) = "cycle";  // or "iterations"
  CRESSET_ARG(bool, cycle_momentum) = true;
  CRESSET_ARG(PerGroup, base_momentum) = 0.8;
  CRESSET_ARG(PerGroup, max_momentum) = 0.9;
};

class CRESSET_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicLROptions options, int64_t last_epoch = -1);
  CyclicLR(Optimizer& optimizer, PerGroup base_lr, PerGroup max_lr, int64_t step_size_up = 2000)
      : CyclicLR(optimizer, CyclicLROptions(std::move(base_lr), std::move(max_lr)).step_size_up(step_size_up)) {}

 protected:
  std::vector<double> get_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "CyclicLR"; }

 private:
  double scale(double cycle) const;
  std::vector<double> max_lrs_, base_momentums_, max_momentums_;
  double total_size_, step_ratio_, gamma_;
  std::string mode_, scale_mode_;
  std::function<double(double)> scale_fn_;
  bool cycle_momentum_;
};

}  // namespace cresset::optim
