// What a step of Adam's relatives begins with: the weight decay, and the running averages of the gradient and of its
// square. Internal: included by their sources.
#pragma once

#include "cresset/optim/each_gradient.h"

namespace cresset::optim::detail {

struct AdamMoments {
  Tensor param, grad, avg, square;  // complex numbers as pairs
  double step, beta1, beta2;
};

template <class Options, class State>
AdamMoments next_moments(const Options& options, const Tensor& whole, const Tensor& grad, State& state, bool is_new) {
  if (is_new) {
    state.exp_avg(zeros_like(whole));
    state.exp_avg_sq(zeros_like(whole));
  }
  const auto [beta1, beta2] = options.betas();
  AdamMoments m{
      real_of(whole), {},   real_of(state.exp_avg()), real_of(state.exp_avg_sq()), static_cast<double>(++state.step()),
      beta1,          beta2};
  const bool decoupled = options.decoupled_weight_decay();
  if (decoupled) m.param.mul_(1 - options.lr() * options.weight_decay());
  m.grad = descent(real_of(grad), m.param, options.maximize(), decoupled ? 0 : options.weight_decay());
  m.avg.mul_(beta1).add_(m.grad, 1 - beta1);
  m.square.mul_(beta2).addcmul_(m.grad, m.grad, 1 - beta2);
  return m;
}

template <class Options>
void check_adam(const char* name, const Options& options) {
  check_lr(name, options.lr());
  check_option(options.eps() >= 0, name, "epsilon value", options.eps(), "0 or more");
  check_betas(name, options.betas());
  check_option(options.weight_decay() >= 0, name, "weight_decay value", options.weight_decay(), "0 or more");
}

}  // namespace cresset::optim::detail
