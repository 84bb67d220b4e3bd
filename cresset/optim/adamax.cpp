#include "cresset/optim/adamax.h"

#include "cresset/optim/adam_moments.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Adamax)

OptionFields AdamaxOptions::fields() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true}};
}

void AdamaxOptions::check(const std::vector<Tensor>&) const { detail::check_adam("Adamax", *this); }

StateFields AdamaxParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor},
          {.name = "exp_avg", .value = &exp_avg_},
          {.name = "exp_inf", .value = &exp_inf_}};
}

Tensor Adamax::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<AdamaxOptions, AdamaxParamState>(
      param_groups_, state_,
      [](const AdamaxOptions& options, const Tensor& whole, const Tensor& grad, AdamaxParamState& state, bool is_new) {
        if (is_new) {
          state.exp_avg(zeros_like(whole));
          state.exp_inf(zeros_like(whole));
        }
        state.step()++;
        const auto [beta1, beta2] = options.betas();
        const Tensor param = detail::real_of(whole), avg = detail::real_of(state.exp_avg()),
                     top = detail::real_of(state.exp_inf());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), options.weight_decay());
        avg.mul_(beta1).add_(g, 1 - beta1);
        top.mul_(beta2);
        top.copy_(maximum(top, g.abs().add_(options.eps())));
        const double correction = 1 - std::pow(beta1, static_cast<double>(state.step()));
        param.addcdiv_(avg, top, -options.lr() / correction);
      });
  return loss;
}

}  // namespace cresset::optim
