#include "cresset/optim/nadam.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(NAdam)

OptionFields NAdamOptions::fields() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"momentum_decay", &momentum_decay_},
          detail::unused("foreach"),
          {"decoupled_weight_decay", &decoupled_weight_decay_, true},
          {"maximize", &maximize_, true}};
}

void NAdamOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("NAdam", lr_);
  detail::check_option(eps_ >= 0, "NAdam", "epsilon value", eps_, "0 or more");
  detail::check_betas("NAdam", betas_);
  detail::check_option(weight_decay_ >= 0, "NAdam", "weight_decay value", weight_decay_, "0 or more");
  detail::check_option(momentum_decay_ >= 0, "NAdam", "momentum_decay value", momentum_decay_, "0 or more");
}

StateFields NAdamParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor},
          {.name = "mu_product", .value = &mu_product_, .form = StateField::Form::scalar_tensor},
          {.name = "exp_avg", .value = &exp_avg_},
          {.name = "exp_avg_sq", .value = &exp_avg_sq_}};
}

Tensor NAdam::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<NAdamOptions, NAdamParamState>(
      param_groups_, state_,
      [](const NAdamOptions& options, const Tensor& whole, const Tensor& grad, NAdamParamState& state, bool is_new) {
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
        const double decay = options.momentum_decay();
        const double mu = beta1 * (1 - 0.5 * std::pow(0.96, step * decay));
        const double mu_next = beta1 * (1 - 0.5 * std::pow(0.96, (step + 1) * decay));
        // PyTorch keeps the product in a float32 tensor.
        state.mu_product(static_cast<float>(state.mu_product()) * static_cast<float>(mu));
        const double product = state.mu_product();
        avg.mul_(beta1).add_(g, 1 - beta1);
        square.mul_(beta2).addcmul_(g, g, 1 - beta2);
        const Tensor below = square.div(1 - std::pow(beta2, step)).sqrt_().add_(options.eps());
        param.addcdiv_(g, below, -lr * (1 - mu) / (1 - product));
        param.addcdiv_(avg, below, -lr * mu_next / (1 - product * mu_next));
      });
  return loss;
}

}  // namespace cresset::optim
