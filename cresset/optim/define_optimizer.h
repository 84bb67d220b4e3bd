// The class of an optimizer that has NameOptions and NameParamState: CRESSET_OPTIMIZER(Name) declares it where it has
// no members of its own, CRESSET_DEFINE_OPTIMIZER(Name) in its source defines the constructors. They are out of line so
// that programs do not compile the options of optimizers they do not use.
#pragma once

#include "cresset/optim/optimizer.h"

#define CRESSET_OPTIMIZER(Name)                                                                \
  class CRESSET_API Name : public ::cresset::optim::Optimizer {                                \
   public:                                                                                     \
    explicit Name(std::vector<OptimizerParamGroup> param_groups, Name##Options defaults = {}); \
    explicit Name(std::vector<Tensor> params, Name##Options defaults = {});                    \
    Tensor step(LossClosure closure = nullptr) override;                                       \
                                                                                               \
   protected:                                                                                  \
    std::unique_ptr<OptimizerParamState> new_state() const override;                           \
  }

#define CRESSET_DEFINE_OPTIMIZER(Name)                                                              \
  Name##Options::Name##Options(double lr) : lr_(lr) {}                                              \
  Name::Name(std::vector<OptimizerParamGroup> param_groups, Name##Options defaults)                 \
      : Optimizer(std::move(param_groups), std::make_unique<Name##Options>(std::move(defaults))) {} \
  Name::Name(std::vector<Tensor> params, Name##Options defaults)                                    \
      : Optimizer(std::move(params), std::make_unique<Name##Options>(std::move(defaults))) {}       \
  std::unique_ptr<OptimizerParamState> Name::new_state() const { return std::make_unique<Name##ParamState>(); }
