#include "cresset/optim/muon.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Muon)

OptionFields MuonOptions::fields() {
  return {{"lr", &lr_},
          {"weight_decay", &weight_decay_},
          {"momentum", &momentum_},
          {"nesterov", &nesterov_},
          {"ns_coefficients", &ns_coefficients_},
          {"eps", &eps_},
          {"ns_steps", &ns_steps_},
          {"adjust_lr_fn", &adjust_lr_fn_}};
}

void MuonOptions::check(const std::vector<Tensor>& params) const {
  detail::check_lr("Muon", lr_);
  detail::check_option(momentum_ >= 0, "Muon", "momentum value", momentum_, "0 or more");
  detail::check_option(weight_decay_ >= 0, "Muon", "weight_decay value", weight_decay_, "0 or more");
  detail::check_option(ns_steps_ >= 0 && ns_steps_ < 100, "Muon", "ns_steps value", static_cast<double>(ns_steps_),
                       "0 to 99");
  CRESSET_CHECK_AS(ValueError, !adjust_lr_fn_ || *adjust_lr_fn_ == "original" || *adjust_lr_fn_ == "match_rms_adamw",
                   "Muon: adjust_lr_fn is '", *adjust_lr_fn_, "' (expected 'original' or 'match_rms_adamw')");
  for (size_t i = 0; i < params.size(); i++)
    CRESSET_CHECK_AS(ValueError, params[i].dim() == 2 && !params[i].is_complex(),
                     "Muon: Muon only supports 2D parameters: parameter ", i, " is of shape ",
                     text_of(params[i].sizes()), " and ", name_of(params[i].dtype()), " (expected a real matrix)");
}

StateFields MuonParamState::fields() { return {{.name = "momentum_buffer", .value = &momentum_buffer_}}; }

namespace {

// Brings the singular values near 1 by a polynomial of the matrix: x = a x + (b xx' + c (xx')²) x.
Tensor orthogonalised(const Tensor& matrix, const MuonOptions& options) {
  const auto [a, b, c] = options.ns_coefficients();
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = matrix.to(options.bfloat16() ? kBFloat16 : matrix.dtype(), false, true);
  if (tall) x = x.t();  // the smaller of the two products
  x.div_(x.norm().clamp_min(options.eps()));
  for (int64_t i = 0; i < options.ns_steps(); i++) {
    const Tensor gram = x.matmul(x.t());
    const Tensor update = gram.addmm(gram, gram, b, c);
    x = x.addmm(update, x, a, 1);
  }
  return tall ? x.t() : x;
}

double adjusted_lr(const MuonOptions& options, const Tensor& param) {
  const double rows = static_cast<double>(param.size(0)), columns = static_cast<double>(param.size(1));
  if (options.adjust_lr_fn() == "match_rms_adamw") return options.lr() * 0.2 * std::sqrt(std::max(rows, columns));
  return options.lr() * std::sqrt(std::max(1.0, rows / columns));
}

}  // namespace

Tensor Muon::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<MuonOptions, MuonParamState>(
      param_groups_, state_,
      [](const MuonOptions& options, const Tensor& param, const Tensor& grad, MuonParamState& state, bool is_new) {
        if (is_new) state.momentum_buffer(zeros_like(grad));
        if (param.numel() == 0) return;
        const Tensor& buffer = state.momentum_buffer();
        buffer.lerp_(grad, 1 - options.momentum());
        const Tensor update = options.nesterov() ? grad.lerp(buffer, options.momentum()) : buffer;
        const Tensor direction = orthogonalised(update, options);
        param.mul_(1 - options.lr() * options.weight_decay());
        param.add_(direction, -adjusted_lr(options, param));
      });
  return loss;
}

}  // namespace cresset::optim
