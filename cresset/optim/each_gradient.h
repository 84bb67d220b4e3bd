// The loop that most optimizers share: every parameter that has a gradient, with its group's options and its state.
// Internal: included by the optimizers' sources.
#pragma once

#include "cresset/ops/all.h"
#include "cresset/optim/fields.h"
#include "cresset/optim/optimizer.h"

namespace cresset::optim::detail {

// f(const Options&, const Tensor& param, Tensor grad, State&, bool is_new) for each parameter with a gradient;
// gradients are off inside. A new state was made by State's constructor alone.
template <class Options, class State, class F>
void each_gradient(std::vector<OptimizerParamGroup>& groups, ParamStates& states, const F& f) {
  NoGradGuard no_grad;
  size_t position = 0;
  for (OptimizerParamGroup& group : groups) {
    const auto& options = static_cast<const Options&>(group.options());
    for (const Tensor& param : group.params()) {
      std::unique_ptr<OptimizerParamState>& slot = states.in_order(position++, param.impl());
      const Tensor& grad = param.grad();
      if (!grad.defined()) continue;
      const bool is_new = slot == nullptr;
      if (is_new) slot = std::make_unique<State>();
      f(options, param, grad, static_cast<State&>(*slot), is_new);
    }
  }
}

// Complex numbers are updated as pairs of real ones.
inline Tensor real_of(const Tensor& x) { return x.defined() && x.is_complex() ? view_as_real(x) : x; }

// The gradient as an optimizer wants it: its sign turned if the objective is to grow, weight decay added.
inline Tensor descent(const Tensor& grad, const Tensor& param, bool maximize, double weight_decay) {
  Tensor g = maximize ? -grad : grad;
  return weight_decay != 0 ? g.add(param, weight_decay) : g;
}

inline OptionField unused(const char* name, IValue value = {}) { return {name, std::move(value), true}; }

}  // namespace cresset::optim::detail
