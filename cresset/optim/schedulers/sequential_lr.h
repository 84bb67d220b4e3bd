// Schedulers of schedulers: one after another, or all at once.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

using LRSchedulers = std::vector<std::shared_ptr<LRScheduler>>;

// The first until milestones[0], the next until milestones[1], …
class CRESSET_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, LRSchedulers schedulers, std::vector<int64_t> milestones, int64_t last_epoch = -1);
  void step() override;
  void step(int64_t epoch) override;  // refused: there is no closed form
  IValue state_dict() const override;
  void load_state_dict(const IValue& dict) override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  const char* name() const override { return "SequentialLR"; }

 private:
  LRSchedulers schedulers_;
  std::vector<int64_t> milestones_;
};

// Every step is a step of each, in order.
class CRESSET_API ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(LRSchedulers schedulers);
  void step() override;
  void step(int64_t epoch) override;  // refused
  IValue state_dict() const override;
  void load_state_dict(const IValue& dict) override;

 protected:
  std::vector<double> get_lrs() override { return get_current_lrs(); }
  const char* name() const override { return "ChainedScheduler"; }

 private:
  LRSchedulers schedulers_;
};

}  // namespace cresset::optim
