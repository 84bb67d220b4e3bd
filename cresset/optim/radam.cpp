#include "cresset/optim/radam.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(RAdam)

OptionFields RAdamOptions::fields() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          detail::unused("foreach"),
          {"decoupled_weight_decay", &decoupled_weight_decay_, true},
          {"maximize", &maximize_, true}};
}

void RAdamOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("RAdam", lr_);
  detail::check_option(eps_ >= 0, "RAdam", "epsilon value", eps_, "0 or more");
  detail::check_betas("RAdam", betas_);
  detail::check_option(weight_decay_ >= 0, "RAdam", "weight_decay value", weight_decay_, "0 or more");
}

StateFields RAdamParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor},
          {.name = "exp_avg", .value = &exp_avg_},
          {.name = "exp_avg_sq", .value = &exp_avg_sq_}};
}

Tensor RAdam::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<RAdamOptions, RAdamParamState>(
      param_groups_, state_,
      [](const RAdamOptions& options, const Tensor& whole, const Tensor& grad, RAdamParamState& state, bool is_new) {
        if (is_new) {
          state.exp_avg(zeros_like(whole));
          state.exp_avg_sq(zeros_like(whole));
        }
        const double step = static_cast<double>(++state.step()), lr = options.lr();
        const auto [beta1, beta2] = options.betas();
        const Tensor param = detail::real_of(whole), avg = detail::real_of(state.exp_avg()),
                     square = detail::real_of(state.exp_avg_sq());
        const bool decoupled = options.decoupled_weight_decay();
        if (decoupled) param.mul_(1 - lr * options.weight_decay());
        const Tensor g =
            detail::descent(detail::real_of(grad), param, options.maximize(), decoupled ? 0 : options.weight_decay());
        avg.mul_(beta1).add_(g, 1 - beta1);
        square.mul_(beta2).addcmul_(g, g, 1 - beta2);
        const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
        // How many squares the running average stands for: few at first, and their variance is not to be trusted.
        const double longest = 2 / (1 - beta2) - 1;
        const double length = longest - 2 * step * std::pow(beta2, step) / correction2;
        if (length <= 5) {
          param.add_(avg, -lr / correction1);
          return;
        }
        const double rectified =
            std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
        param.addcdiv_(avg, square.sqrt().add_(options.eps()), -lr * rectified * std::sqrt(correction2) / correction1);
      });
  return loss;
}

}  // namespace cresset::optim
