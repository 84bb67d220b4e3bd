#include "cresset/optim/rmsprop.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(RMSprop)

OptionFields RMSpropOptions::fields() {
  return {{"lr", &lr_},
          {"momentum", &momentum_},
          {"alpha", &alpha_},
          {"eps", &eps_},
          {"centered", &centered_},
          {"weight_decay", &weight_decay_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true},
          detail::unused("differentiable", false)};
}

void RMSpropOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("RMSprop", lr_);
  detail::check_option(eps_ >= 0, "RMSprop", "epsilon value", eps_, "0 or more");
  detail::check_option(momentum_ >= 0, "RMSprop", "momentum value", momentum_, "0 or more");
  detail::check_option(weight_decay_ >= 0, "RMSprop", "weight_decay value", weight_decay_, "0 or more");
  detail::check_option(alpha_ >= 0, "RMSprop", "alpha value", alpha_, "0 or more");
}

StateFields RMSpropParamState::fields() {
  return {{.name = "step", .value = &step_},
          {.name = "square_avg", .value = &square_avg_},
          {.name = "momentum_buffer", .value = &momentum_buffer_, .may_be_missing = true},
          {.name = "grad_avg", .value = &grad_avg_, .may_be_missing = true}};
}

Tensor RMSprop::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<RMSpropOptions, RMSpropParamState>(
      param_groups_, state_,
      [](const RMSpropOptions& options, const Tensor& whole, const Tensor& grad, RMSpropParamState& state,
         bool is_new) {
        if (is_new) state.square_avg(zeros_like(whole));
        // The options may have been changed since the first step.
        if (options.momentum() > 0 && !state.momentum_buffer().defined()) state.momentum_buffer(zeros_like(whole));
        if (options.centered() && !state.grad_avg().defined()) state.grad_avg(zeros_like(whole));
        state.step()++;
        const double alpha = options.alpha();
        const Tensor param = detail::real_of(whole), square = detail::real_of(state.square_avg());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), options.weight_decay());
        square.mul_(alpha).addcmul_(g, g, 1 - alpha);
        Tensor below;
        if (options.centered()) {
          const Tensor mean = detail::real_of(state.grad_avg());
          mean.mul_(alpha).add_(g, 1 - alpha);
          below = square.addcmul(mean, mean, -1).sqrt_().add_(options.eps());
        } else {
          below = square.sqrt().add_(options.eps());
        }
        if (options.momentum() > 0) {
          const Tensor buffer = detail::real_of(state.momentum_buffer());
          buffer.mul_(options.momentum()).addcdiv_(g, below);
          param.add_(buffer, -options.lr());
        } else {
          param.addcdiv_(g, below, -options.lr());
        }
      });
  return loss;
}

}  // namespace cresset::optim
