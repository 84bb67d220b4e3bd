// The learning rate of stochastic weight averaging: goes to a constant one within a few epochs.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

class CRESSET_API SWALR : public LRScheduler {
 public:
  enum class Anneal { cos, linear };
  SWALR(Optimizer& optimizer, PerGroup swa_lr, int64_t anneal_epochs = 10, Anneal strategy = Anneal::cos,
        int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lrs() override;
  SchedulerFields fields() override;
  const char* name() const override { return "SWALR"; }

 private:
  double annealed(double part) const;
  int64_t anneal_epochs_;
  Anneal strategy_;
};

}  // namespace cresset::optim
