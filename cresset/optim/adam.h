// Adam. Fused.
#pragma once

#include "cresset/optim/fused_lists.h"
#include "cresset/optim/optimizer.h"

namespace cresset::optim {

struct CRESSET_API AdamOptions : public OptimizerCloneableOptions<AdamOptions> {
  AdamOptions(double lr = 1e-3);
  typedef std::tuple<double, double> betas_t;
  CRESSET_ARG(double, lr) = 1e-3;
  CRESSET_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, amsgrad) = false;
  CRESSET_ARG(bool, maximize) = false;
  CRESSET_ARG(bool, fused) = true;  // false: the same with one op after another

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API AdamParamState : public OptimizerCloneableParamState<AdamParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, exp_avg);
  CRESSET_ARG(Tensor, exp_avg_sq);
  CRESSET_ARG(Tensor, max_exp_avg_sq);

 public:
  StateFields fields() override;
};

class CRESSET_API Adam : public Optimizer {
 public:
  explicit Adam(std::vector<OptimizerParamGroup> param_groups, AdamOptions defaults = {});
  explicit Adam(std::vector<Tensor> params, AdamOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  detail::FusedLists lists_;
};

}  // namespace cresset::optim
