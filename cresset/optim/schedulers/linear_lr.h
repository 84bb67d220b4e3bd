// Learning rates that change over the first epochs: a constant factor, a line, a power.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

// factor * rate until total_iters epochs are over.
class CRESSET_API ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "ConstantLR"; }

 private:
  double factor_;
  int64_t total_iters_;
};

// The factor goes in a line from start to end in total_iters epochs.
class CRESSET_API LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0, int64_t total_iters = 5,
           int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "LinearLR"; }

 private:
  double start_factor_, end_factor_;
  int64_t total_iters_;
};

// (1 - epoch / total_iters)^power
class CRESSET_API PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1.0, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "PolynomialLR"; }

 private:
  int64_t total_iters_;
  double power_;
};

}  // namespace cresset::optim
