// Learning rates that fall by a factor: every few epochs, at given epochs, or every epoch.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

class CRESSET_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "StepLR"; }

 private:
  int64_t step_size_;
  double gamma_;
};

class CRESSET_API MultiStepLR : public LRScheduler {
 public:
  // An epoch that is there twice counts twice.
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1, int64_t last_epoch = -1);
  IValue state_dict() const override;
  void load_state_dict(const IValue& dict) override;

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "MultiStepLR"; }

 private:
  std::vector<int64_t> milestones_;  // sorted
  double gamma_;
};

class CRESSET_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  std::vector<double> closed_form_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "ExponentialLR"; }

 private:
  double gamma_;
};

}  // namespace cresset::optim
