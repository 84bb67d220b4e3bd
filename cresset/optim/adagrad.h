// Adagrad: steps divided by the root of the sum of all squared gradients.
#pragma once

#include "cresset/optim/optimizer.h"

namespace cresset::optim {

struct CRESSET_API AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2);
  CRESSET_ARG(double, lr) = 1e-2;
  CRESSET_ARG(double, lr_decay) = 0;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(double, initial_accumulator_value) = 0;
  CRESSET_ARG(double, eps) = 1e-10;
  CRESSET_ARG(bool, maximize) = false;

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  CRESSET_ARG(int64_t, step) = 0;
  CRESSET_ARG(Tensor, sum);

 public:
  StateFields fields() override;
};

class CRESSET_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults = {});
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {});
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  void make_states();
};

}  // namespace cresset::optim
