// Learning rates along half a cosine: once, or again and again.
#pragma once

#include <concepts>

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

class CRESSET_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min = 0, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "CosineAnnealingLR"; }

 private:
  int64_t T_max_;
  double eta_min_;
};

// Starts anew after T_0 epochs, then after T_0 * T_mult, …
class CRESSET_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult = 1, double eta_min = 0,
                              int64_t last_epoch = -1);
  void step() override;
  void step(int64_t epoch) override { step_to(static_cast<double>(epoch)); }
  // Between two epochs: step(epoch + batch / batches).
  template <std::floating_point T>
  void step(T epoch) {
    step_to(epoch);
  }

 protected:
  std::vector<double> get_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "CosineAnnealingWarmRestarts"; }

 private:
  void step_to(double epoch);
  int64_t T_0_, T_i_, T_mult_;
  double eta_min_, T_cur_;
};

}  // namespace cresset::optim
