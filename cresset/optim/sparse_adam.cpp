#include "cresset/optim/sparse_adam.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(SparseAdam)

OptionFields SparseAdamOptions::fields() {
  return {{"lr", &lr_}, {"betas", &betas_}, {"eps", &eps_}, {"maximize", &maximize_, true}};
}

void SparseAdamOptions::check(const std::vector<Tensor>&) const {
  detail::check_option(lr_ > 0, "SparseAdam", "learning rate", lr_, "more than 0");
  detail::check_option(eps_ > 0, "SparseAdam", "epsilon value", eps_, "more than 0");
  detail::check_betas("SparseAdam", betas_);
}

StateFields SparseAdamParamState::fields() {
  return {{.name = "step", .value = &step_},
          {.name = "exp_avg", .value = &exp_avg_},
          {.name = "exp_avg_sq", .value = &exp_avg_sq_}};
}

Tensor SparseAdam::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<SparseAdamOptions, SparseAdamParamState>(
      param_groups_, state_,
      [](const SparseAdamOptions& options, const Tensor& whole, const Tensor& grad, SparseAdamParamState& state,
         bool is_new) {
        if (is_new) {
          state.exp_avg(zeros_like(whole));
          state.exp_avg_sq(zeros_like(whole));
        }
        const double step = static_cast<double>(++state.step());
        const auto [beta1, beta2] = options.betas();
        if (grad.numel() == 0) return;
        const bool is_number = grad.dim() == 0;
        const Tensor param = is_number ? whole.unsqueeze(0) : whole, g = is_number ? grad.unsqueeze(0) : grad,
                     avg = is_number ? state.exp_avg().unsqueeze(0) : state.exp_avg(),
                     square = is_number ? state.exp_avg_sq().unsqueeze(0) : state.exp_avg_sq();
        const Tensor rows = nonzero(g.ne(0).reshape({g.size(0), -1}).any(1)).squeeze(1);
        if (rows.numel() == 0) return;
        Tensor values = g.index_select(0, rows);
        if (options.maximize()) values = values.neg();
        Tensor m = avg.index_select(0, rows), v = square.index_select(0, rows);
        m.add_(values.sub(m), 1 - beta1);
        v.add_(values.square().sub_(v), 1 - beta2);
        avg.index_copy_(0, rows, m);
        square.index_copy_(0, rows, v);
        const double step_size = options.lr() * std::sqrt(1 - std::pow(beta2, step)) / (1 - std::pow(beta1, step));
        param.index_add_(0, rows, m.div(v.sqrt_().add_(options.eps())), -step_size);
      });
  return loss;
}

}  // namespace cresset::optim
