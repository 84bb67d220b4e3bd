#include "cresset/optim/adadelta.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Adadelta)

OptionFields AdadeltaOptions::fields() {
  return {{"lr", &lr_},
          {"rho", &rho_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"maximize", &maximize_, true},
          detail::unused("foreach")};
}

void AdadeltaOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("Adadelta", lr_);
  detail::check_option(rho_ >= 0 && rho_ <= 1, "Adadelta", "rho value", rho_, "0 to 1");
  detail::check_option(eps_ >= 0, "Adadelta", "epsilon value", eps_, "0 or more");
  detail::check_option(weight_decay_ >= 0, "Adadelta", "weight_decay value", weight_decay_, "0 or more");
}

StateFields AdadeltaParamState::fields() {
  return {{.name = "step", .value = &step_},
          {.name = "square_avg", .value = &square_avg_},
          {.name = "acc_delta", .value = &acc_delta_}};
}

Tensor Adadelta::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<AdadeltaOptions, AdadeltaParamState>(
      param_groups_, state_,
      [](const AdadeltaOptions& options, const Tensor& whole, const Tensor& grad, AdadeltaParamState& state,
         bool is_new) {
        if (is_new) {
          state.square_avg(zeros_like(whole));
          state.acc_delta(zeros_like(whole));
        }
        state.step()++;
        const double rho = options.rho(), eps = options.eps();
        const Tensor param = detail::real_of(whole), square = detail::real_of(state.square_avg()),
                     moved = detail::real_of(state.acc_delta());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), options.weight_decay());
        square.mul_(rho).addcmul_(g, g, 1 - rho);
        const Tensor delta = moved.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(g);
        moved.mul_(rho).addcmul_(delta, delta, 1 - rho);
        param.add_(delta, -options.lr());
      });
  return loss;
}

}  // namespace cresset::optim
