#include "cresset/optim/adafactor.h"

#include "cresset/core/epsilon.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Adafactor)

OptionFields AdafactorOptions::fields() {
  return {{"lr", &lr_},
          {"beta2_decay", &beta2_decay_},
          {"eps", &eps_},
          {"d", &d_},
          {"weight_decay", &weight_decay_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true}};
}

void AdafactorOptions::check(const std::vector<Tensor>& params) const {
  detail::check_lr("Adafactor", lr_);
  detail::check_option(beta2_decay_ <= 0, "Adafactor", "beta2_decay value", beta2_decay_, "0 or less");
  const auto [first, second] = eps_;
  detail::check_option(!first || *first >= 0, "Adafactor", "first epsilon value", first.value_or(0), "0 or more");
  detail::check_option(second >= 0, "Adafactor", "second epsilon value", second, "0 or more");
  detail::check_option(d_ >= 1, "Adafactor", "clipping threshold d", d_, "1 or more");
  detail::check_option(weight_decay_ >= 0, "Adafactor", "weight_decay value", weight_decay_, "0 or more");
  for (size_t i = 0; i < params.size(); i++)
    CRESSET_CHECK_AS(TypeError, !params[i].is_complex(), "Adafactor: parameter ", i,
                     " is complex (expected a real dtype)");
}

StateFields AdafactorParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor},
          {.name = "row_var", .value = &row_var_, .may_be_missing = true, .own_shape = true},
          {.name = "col_var", .value = &col_var_, .may_be_missing = true, .own_shape = true},
          {.name = "variance", .value = &variance_, .may_be_missing = true}};
}

namespace {

// Root of the mean square.
double rms(const Tensor& x) { return x.norm().item<double>() / std::sqrt(static_cast<double>(x.numel())); }

// The estimate of the squared gradient, updated with this one.
Tensor updated_variance(AdafactorParamState& state, const Tensor& g, double take, double eps) {
  if (g.dim() < 2) {
    state.variance().lerp_(g * g, take);
    return state.variance().clone();
  }
  auto mean_square = [&](int64_t dim) {
    return linalg_vector_norm(g, 2, IntArrayRef{dim}, true).square_().div_(g.size(dim));
  };
  state.row_var().lerp_(mean_square(-1), take);
  state.col_var().lerp_(mean_square(-2), take);
  return state.row_var().matmul(state.col_var()).div_(state.row_var().mean({-2}, true).clamp_min_(eps));
}

}  // namespace

Tensor Adafactor::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<AdafactorOptions, AdafactorParamState>(
      param_groups_, state_,
      [](const AdafactorOptions& options, const Tensor& param, const Tensor& grad, AdafactorParamState& state,
         bool is_new) {
        if (is_new && grad.dim() > 1) {
          std::vector<int64_t> sizes = grad.sizes().vec();
          const int64_t columns = std::exchange(sizes.back(), 1);
          state.row_var(zeros(sizes, grad.options()));
          sizes.back() = columns;
          sizes[sizes.size() - 2] = 1;
          state.col_var(zeros(sizes, grad.options()));
        } else if (is_new) {
          state.variance(zeros_like(grad));
        }
        const double step = static_cast<double>(++state.step());
        if (param.numel() == 0) return;
        const Tensor g = detail::descent(grad, param, options.maximize(), 0);
        const double eps1 = std::get<0>(options.eps()).value_or(epsilon_of(param.dtype()));
        const double size =
            std::max(std::get<1>(options.eps()), rms(param)) * std::min(options.lr(), 1 / std::sqrt(step));
        if (options.weight_decay() != 0) param.mul_(1 - options.lr() * options.weight_decay());
        const Tensor variance = updated_variance(state, g, std::pow(step, options.beta2_decay()), eps1);
        const Tensor update = variance.clamp_min_(eps1 * eps1).rsqrt_().mul_(g);
        param.add_(update, -size / std::max(1.0, rms(update) / options.d()));
      });
  return loss;
}

}  // namespace cresset::optim
