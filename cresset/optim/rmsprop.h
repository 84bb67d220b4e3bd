// RMSprop: steps divided by a running root-mean-square of the gradient, centred or not, with momentum or not.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2);
  CRESSET_ARG(double, lr) = 1e-2;
  CRESSET_ARG(double, alpha) = 0.99;
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(double, momentum) = 0;
  CRESSET_ARG(bool, centered) = false;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, square_avg);
  CRESSET_ARG(Tensor, momentum_buffer);
  CRESSET_ARG(Tensor, grad_avg);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(RMSprop);

}  // namespace cresset::optim
