#include "cresset/optim/nadam.h"

#include "cresset/optim/adam_moments.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/fields.h"

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
  detail::check_adam("NAdam", *this);
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
        const detail::AdamMoments m = detail::next_moments(options, whole, grad, state, is_new);
        const double lr = options.lr(), decay = options.momentum_decay();
        const double mu = m.beta1 * (1 - 0.5 * std::pow(0.96, m.step * decay));
        const double mu_next = m.beta1 * (1 - 0.5 * std::pow(0.96, (m.step + 1) * decay));
        // PyTorch keeps the product in a float32 tensor.
        state.mu_product(static_cast<float>(state.mu_product()) * static_cast<float>(mu));
        const double product = state.mu_product();
        const Tensor below = m.square.div(1 - std::pow(m.beta2, m.step)).sqrt_().add_(options.eps());
        m.param.addcdiv_(m.grad, below, -lr * (1 - mu) / (1 - product));
        m.param.addcdiv_(m.avg, below, -lr * mu_next / (1 - product * mu_next));
      });
  return loss;
}

}  // namespace cresset::optim
