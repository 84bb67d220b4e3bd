// Adamax: Adam with the largest of the decayed gradients in place of their squares.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
  AdamaxOptions(double lr = 2e-3);
  typedef std::tuple<double, double> betas_t;
  CRESSET_ARG(double, lr) = 2e-3;
  CRESSET_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API AdamaxParamState : public OptimizerCloneableParamState<AdamaxParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, exp_avg);
  CRESSET_ARG(Tensor, exp_inf);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(Adamax);

}  // namespace cresset::optim
