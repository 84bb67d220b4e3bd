// Stochastic gradient descent, with momentum, dampening, Nesterov's form and weight decay. Fused.
#pragma once

#include "cresset/optim/fused_lists.h"
#include "cresset/optim/optimizer.h"

namespace cresset::optim {

struct CRESSET_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr);
  CRESSET_ARG(double, lr);
  CRESSET_ARG(double, momentum) = 0;
  CRESSET_ARG(double, dampening) = 0;
  CRESSET_ARG(double, weight_decay) = 0;
  CRESSET_ARG(bool, nesterov) = false;
  CRESSET_ARG(bool, maximize) = false;
  CRESSET_ARG(bool, fused) = true;  // false: the same with one op after another

 public:
  OptionFields fields() override;
  void check(const std::vector<Tensor>& params) const override;
};

struct CRESSET_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  CRESSET_ARG(Tensor, momentum_buffer);

 public:
  StateFields fields() override;
};

class CRESSET_API SGD : public Optimizer {
 public:
  explicit SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults);
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  detail::FusedLists lists_;
};

}  // namespace cresset::optim
