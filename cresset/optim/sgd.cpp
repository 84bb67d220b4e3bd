#include "cresset/optim/sgd.h"

#include "cresset/core/kernel.h"
#include "cresset/ops/optim_step.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(SGD)

OptionFields SGDOptions::fields() {
  return {{"lr", &lr_},
          {"momentum", &momentum_},
          {"dampening", &dampening_},
          {"weight_decay", &weight_decay_},
          {"nesterov", &nesterov_, true},
          {"maximize", &maximize_, true},
          detail::unused("foreach"),
          detail::unused("differentiable", false)};
}

void SGDOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("SGD", lr_);
  detail::check_option(momentum_ >= 0, "SGD", "momentum value", momentum_, "0 or more");
  detail::check_option(weight_decay_ >= 0, "SGD", "weight_decay value", weight_decay_, "0 or more");
  CRESSET_CHECK_AS(ValueError, !nesterov_ || (momentum_ > 0 && dampening_ == 0),
                   "SGD: Nesterov momentum requires a momentum and zero dampening (found momentum ", momentum_,
                   ", dampening ", dampening_, ")");
}

StateFields SGDParamState::fields() {
  return {{.name = "momentum_buffer", .value = &momentum_buffer_, .may_be_missing = true}};
}

namespace {

void run(detail::FusedLists& lists, const SGDOptions& options, bool first_step) {
  if (lists.empty()) return;
  // The first time the buffer is the gradient itself: it holds zeros, and nothing is dampened.
  sgd_step_kernel(lists.first(), lists.params(), lists.state(0), lists.grads(), options.lr(), options.momentum(),
                  first_step ? 0.0 : options.dampening(), options.weight_decay(), options.nesterov(),
                  options.maximize());
  lists.finish();
}

void step_by_ops(const SGDOptions& options, const Tensor& param, const Tensor& grad, const Tensor& buffer,
                 bool first_step) {
  Tensor g = detail::descent(grad, param, options.maximize(), options.weight_decay());
  if (buffer.defined()) {
    buffer.mul_(options.momentum()).add_(g, first_step ? 1.0 : 1 - options.dampening());
    g = options.nesterov() ? g.add(buffer, options.momentum()) : buffer;
  }
  param.add_(g, -options.lr());
}

}  // namespace

Tensor SGD::step(LossClosure closure) {
  Tensor loss = call(closure);
  NoGradGuard no_grad;
  size_t position = 0;
  for (OptimizerParamGroup& group : param_groups_) {
    const auto& options = static_cast<const SGDOptions&>(group.options());
    bool first_step = false;  // of the tensors in the lists
    for (const Tensor& param : group.params()) {
      std::unique_ptr<OptimizerParamState>& slot = state_.in_order(position++, param.impl());
      const Tensor& grad = param.grad();
      if (!grad.defined()) continue;
      bool is_first = false;
      Tensor* buffer = nullptr;
      if (options.momentum() != 0) {
        if (!slot) slot = std::make_unique<SGDParamState>();
        buffer = &static_cast<SGDParamState&>(*slot).momentum_buffer();
        is_first = !buffer->defined();
        if (is_first) *buffer = zeros_like(param);
      }
      const bool fused = options.fused() && sgd_step_kernel.get(param.device().type()) &&
                         detail::FusedLists::fits(param, grad) && (!buffer || detail::FusedLists::fits(param, *buffer));
      if (!fused) {
        step_by_ops(options, param, grad, buffer ? *buffer : Tensor(), is_first);
        continue;
      }
      if (is_first != first_step || !lists_.goes_with(param)) run(lists_, options, first_step);
      first_step = is_first;
      if (buffer)
        lists_.add(param, grad, {buffer});
      else
        lists_.add(param, grad, {});
    }
    run(lists_, options, first_step);
  }
  return loss;
}

}  // namespace cresset::optim
