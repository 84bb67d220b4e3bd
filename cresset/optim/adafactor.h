// Adafactor: squares of a matrix's gradient kept as one factor per row and one per column. As PyTorch 2.5's.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API AdafactorOptions : public OptimizerCloneableOptions<AdafactorOptions> {
  AdafactorOptions(double lr = 1e-2);
  typedef std::tuple<std::optional<double>, double> eps_t;
  CRESSET_ARG(double, lr) = 1e-2;
  CRESSET_ARG(double, beta2_decay) = -0.8;
  CRESSET_ARG(eps_t, eps) = std::make_tuple(std::nullopt, 1e-3);  // the first: the epsilon of the dtype
  CRESSET_ARG(double, d) = 1;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API AdafactorParamState : public OptimizerCloneableParamState<AdafactorParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, row_var);
  CRESSET_ARG(Tensor, col_var);
  CRESSET_ARG(Tensor, variance);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(Adafactor);

}  // namespace cresset::optim
