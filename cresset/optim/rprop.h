// Rprop: a step size per element that grows while the gradient's sign stays and shrinks when it turns.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API RpropOptions : public OptimizerCloneableOptions<RpropOptions> {
  RpropOptions(double lr = 1e-2);
  typedef std::tuple<double, double> pair_t;
  CRESSET_ARG(double, lr) = 1e-2;
  CRESSET_ARG(pair_t, etas) = std::make_tuple(0.5, 1.2);
  CRESSET_ARG(pair_t, step_sizes) = std::make_tuple(1e-6, 50.0);
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API RpropParamState : public OptimizerCloneableParamState<RpropParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, prev);
  CRESSET_ARG(Tensor, step_size);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(Rprop);

}  // namespace cresset::optim
