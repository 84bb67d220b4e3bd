// CRESSET_OPTIMIZER(Name): the class of an optimizer that has NameOptions with defaults and NameParamState, and no
// members of its own. What is left to write is Name::step and the two lists of fields.
#pragma once

#include "cresset/optim/optimizer.h"

#define CRESSET_OPTIMIZER(Name)                                                                                      \
  class CRESSET_API Name : public ::cresset::optim::Optimizer {                                                      \
   public:                                                                                                           \
    explicit Name(std::vector<OptimizerParamGroup> param_groups, Name##Options defaults = {})                        \
        : Optimizer(std::move(param_groups), std::make_unique<Name##Options>(defaults)) {}                           \
    explicit Name(std::vector<Tensor> params, Name##Options defaults = {})                                           \
        : Optimizer(std::move(params), std::make_unique<Name##Options>(defaults)) {}                                 \
    Tensor step(LossClosure closure = nullptr) override;                                                             \
                                                                                                                     \
   protected:                                                                                                        \
    std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<Name##ParamState>(); } \
  }
