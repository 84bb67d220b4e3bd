#include "cresset/optim/adagrad.h"

#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

AdagradOptions::AdagradOptions(double lr) : lr_(lr) {}

Adagrad::Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<AdagradOptions>(std::move(defaults))) {
  make_states();
}
Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions defaults)
    : Optimizer(std::move(params), std::make_unique<AdagradOptions>(std::move(defaults))) {
  make_states();
}
std::unique_ptr<OptimizerParamState> Adagrad::new_state() const { return std::make_unique<AdagradParamState>(); }

OptionFields AdagradOptions::fields() {
  return {{"lr", &lr_},
          {"lr_decay", &lr_decay_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"initial_accumulator_value", &initial_accumulator_value_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true}};
}

void AdagradOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("Adagrad", lr_);
  detail::check_option(lr_decay_ >= 0, "Adagrad", "lr_decay value", lr_decay_, "0 or more");
  detail::check_option(weight_decay_ >= 0, "Adagrad", "weight_decay value", weight_decay_, "0 or more");
  detail::check_option(initial_accumulator_value_ >= 0, "Adagrad", "initial_accumulator_value value",
                       initial_accumulator_value_, "0 or more");
  detail::check_option(eps_ >= 0, "Adagrad", "epsilon value", eps_, "0 or more");
}

StateFields AdagradParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor}, {.name = "sum", .value = &sum_}};
}

namespace {

Tensor first_sum(const Tensor& param, double value) {
  NoGradGuard no_grad;
  return param.is_complex() ? full_like(param, std::complex<double>(value, value)) : full_like(param, value);
}

}  // namespace

// PyTorch's has its state from the start, so that a state_dict shows it before the first step.
void Adagrad::make_states() {
  size_t position = 0;
  for (OptimizerParamGroup& group : param_groups_)
    for (const Tensor& param : group.params()) {
      auto state = std::make_unique<AdagradParamState>();
      state->sum(first_sum(param, static_cast<AdagradOptions&>(group.options()).initial_accumulator_value()));
      state_.in_order(position++, param.impl()) = std::move(state);
    }
}

Tensor Adagrad::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<AdagradOptions, AdagradParamState>(
      param_groups_, state_,
      [](const AdagradOptions& options, const Tensor& whole, const Tensor& grad, AdagradParamState& state,
         bool is_new) {
        if (is_new) state.sum(first_sum(whole, options.initial_accumulator_value()));
        state.step()++;
        const Tensor param = detail::real_of(whole), sum = detail::real_of(state.sum());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), options.weight_decay());
        const double lr = options.lr() / (1 + static_cast<double>(state.step() - 1) * options.lr_decay());
        sum.addcmul_(g, g);
        param.addcdiv_(g, sum.sqrt().add_(options.eps()), -lr);
      });
  return loss;
}

}  // namespace cresset::optim
