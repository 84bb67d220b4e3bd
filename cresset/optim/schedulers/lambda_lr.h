// Learning rates by a function of the epoch.
#pragma once

#include "cresset/optim/schedulers/lr_scheduler.h"

namespace cresset::optim {

using LRFunction = std::function<double(int64_t epoch)>;

// initial rate * f(epoch)
class CRESSET_API LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, LRFunction lr_lambda, int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, std::vector<LRFunction> lr_lambdas, int64_t last_epoch = -1);  // one for each group
  IValue state_dict() const override;                                                           // without the functions

 protected:
  std::vector<double> get_lrs() override;
  const char* name() const override { return "LambdaLR"; }

 private:
  std::vector<LRFunction> lr_lambdas_;
};

// rate before * f(epoch)
class CRESSET_API MultiplicativeLR : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, LRFunction lr_lambda, int64_t last_epoch = -1);
  MultiplicativeLR(Optimizer& optimizer, std::vector<LRFunction> lr_lambdas, int64_t last_epoch = -1);
  IValue state_dict() const override;

 protected:
  std::vector<double> get_lrs() override;
  const char* name() const override { return "MultiplicativeLR"; }

 private:
  std::vector<LRFunction> lr_lambdas_;
};

}  // namespace cresset::optim
