// AdamW: Adam whose weight decay shrinks the parameters beside the step. Fused.
#pragma once

#include "cresset/optim/adam.h"

namespace cresset::optim {

struct CRESSET_API AdamWOptions : public OptimizerCloneableOptions<AdamWOptions> {
  AdamWOptions(double lr = 1e-3);
  typedef std::tuple<double, double> betas_t;
  CRESSET_ARG(double, lr) = 1e-3;
  CRESSET_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(double, weight_decay) = 1e-2;
  CRESSET_ARG(bool, amsgrad) = false;
  CRESSET_ARG(bool, maximize) = false;
  CRESSET_ARG(bool, fused) = true;  // false: the same with one op after another

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

using AdamWParamState = AdamParamState;

class CRESSET_API AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<OptimizerParamGroup> param_groups, AdamWOptions defaults = {});
  explicit AdamW(std::vector<Tensor> params, AdamWOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  detail::FusedLists lists_;
};

}  // namespace cresset::optim
