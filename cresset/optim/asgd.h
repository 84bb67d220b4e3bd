// Averaged stochastic gradient descent; the average of the parameters is the state's ax().
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API ASGDOptions : public OptimizerCloneableOptions<ASGDOptions> {
  ASGDOptions(double lr = 1e-2);
  CRESSET_ARG(double, lr) = 1e-2;
  CRESSET_ARG(double, lambd) = 1e-4;
  CRESSET_ARG(double, alpha) = 0.75;
  CRESSET_ARG(double, t0) = 1e6;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API ASGDParamState : public OptimizerCloneableParamState<ASGDParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(double, eta) = 0;
  CRESSET_ARG(double, mu) = 1;
  CRESSET_ARG(Tensor, ax);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(ASGD);

}  // namespace cresset::optim
