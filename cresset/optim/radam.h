// RAdam: Adam that trusts its squares only once enough of them were seen.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API RAdamOptions : public OptimizerCloneableOptions<RAdamOptions> {
  RAdamOptions(double lr = 1e-3);
  typedef std::tuple<double, double> betas_t;
  CRESSET_ARG(double, lr) = 1e-3;
  CRESSET_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, decoupled_weight_decay) = false;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API RAdamParamState : public OptimizerCloneableParamState<RAdamParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, exp_avg);
  CRESSET_ARG(Tensor, exp_avg_sq);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(RAdam);

}  // namespace cresset::optim
