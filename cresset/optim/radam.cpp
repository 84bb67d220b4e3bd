#include "cresset/optim/radam.h"

#include "cresset/optim/adam_moments.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/fields.h"

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

void RAdamOptions::check(const std::vector<Tensor>&) const { detail::check_adam("RAdam", *this); }

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
        const detail::AdamMoments m = detail::next_moments(options, whole, grad, state, is_new);
        const double correction1 = 1 - std::pow(m.beta1, m.step), correction2 = 1 - std::pow(m.beta2, m.step);
        // How many squares the running average stands for: few at first, and their variance is not to be trusted.
        const double longest = 2 / (1 - m.beta2) - 1, lr = options.lr();
        const double length = longest - 2 * m.step * std::pow(m.beta2, m.step) / correction2;
        if (length <= 5) {
          m.param.add_(m.avg, -lr / correction1);
          return;
        }
        const double rectified =
            std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
        m.param.addcdiv_(m.avg, m.square.sqrt().add_(options.eps()),
                         -lr * rectified * std::sqrt(correction2) / correction1);
      });
  return loss;
}

}  // namespace cresset::optim
