// Muon: momentum whose matrix is made orthogonal by Newton-Schulz iterations before each step. For matrices only: other
// parameters go to another optimizer. As PyTorch 2.9's; `bfloat16` off iterates in the parameter's own dtype.
#pragma once

#include "cresset/optim/define_optimizer.h"

namespace cresset::optim {

struct CRESSET_API MuonOptions : public OptimizerCloneableOptions<MuonOptions> {
  MuonOptions(double lr = 1e-3);
  typedef std::tuple<double, double, double> coefficients_t;
  CRESSET_ARG(double, lr) = 1e-3;
  CRESSET_ARG(double, weight_decay) = 0.1;
  CRESSET_ARG(double, momentum) = 0.95;
  CRESSET_ARG(bool, nesterov) = true;
  CRESSET_ARG(coefficients_t, ns_coefficients) = std::make_tuple(3.4445, -4.7750, 2.0315);
  CRESSET_ARG(double, eps) = 1e-7;
  CRESSET_ARG(int64_t, ns_steps) = 5;
  CRESSET_ARG(std::optional<std::string>, adjust_lr_fn) = std::nullopt;  // "original" or "match_rms_adamw"
  CRESSET_ARG(bool, bfloat16) = true;                                    // the type of the iterations

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API MuonParamState : public OptimizerCloneableParamState<MuonParamState> {
  CRESSET_ARG(Tensor, momentum_buffer);

 public:
  StateFields fields() override;
};

CRESSET_OPTIMIZER(Muon);

}  // namespace cresset::optim
