#include "cresset/optim/asgd.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(ASGD)

OptionFields ASGDOptions::fields() {
  return {{"lr", &lr_},
          {"lambd", &lambd_},
          {"alpha", &alpha_},
          {"t0", &t0_},
          {"weight_decay", &weight_decay_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true}};
}

void ASGDOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("ASGD", lr_);
  detail::check_option(weight_decay_ >= 0, "ASGD", "weight_decay value", weight_decay_, "0 or more");
}

StateFields ASGDParamState::fields() {
  constexpr auto as_tensor = StateField::Form::scalar_tensor;
  return {{.name = "step", .value = &step_, .form = as_tensor},
          {.name = "eta", .value = &eta_, .form = as_tensor},
          {.name = "mu", .value = &mu_, .form = as_tensor},
          {.name = "ax", .value = &ax_}};
}

Tensor ASGD::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<ASGDOptions, ASGDParamState>(
      param_groups_, state_,
      [](const ASGDOptions& options, const Tensor& whole, const Tensor& grad, ASGDParamState& state, bool is_new) {
        // PyTorch keeps eta and mu in float32 tensors.
        if (is_new) {
          state.ax(zeros_like(whole));
          state.eta(static_cast<float>(options.lr()));
        }
        const double step = static_cast<double>(++state.step()), eta = state.eta();
        const Tensor param = detail::real_of(whole), average = detail::real_of(state.ax());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), options.weight_decay());
        param.mul_(1 - options.lambd() * eta);
        param.add_(g, -eta);
        if (state.mu() != 1)
          average.add_(param.sub(average).mul_(state.mu()));
        else
          average.copy_(param);
        state.eta(
            static_cast<float>(options.lr() / std::pow(1 + options.lambd() * options.lr() * step, options.alpha())));
        state.mu(static_cast<float>(1 / std::max(1.0, step - options.t0())));
      });
  return loss;
}

}  // namespace cresset::optim
