// Adadelta: steps in the ratio of two running root-mean-squares.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
  AdadeltaOptions(double lr = 1.0);
  CRESSET_ARG(double, lr) = 1.0;
  CRESSET_ARG(double, rho) = 0.9;
  CRESSET_ARG(double, eps) = 1e-6;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API AdadeltaParamState : public OptimizerCloneableParamState<AdadeltaParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, square_avg);
  CRESSET_ARG(Tensor, acc_delta);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(Adadelta);

}  // namespace cresset::optim
