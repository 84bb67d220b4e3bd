#include "cresset/optim/lbfgs.h"

#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"
#include "cresset/optim/strong_wolfe.h"

namespace cresset::optim {

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}
std::unique_ptr<OptimizerParamState> LBFGS::new_state() const { return std::make_unique<LBFGSParamState>(); }

OptionFields LBFGSOptions::fields() {
  return {{"lr", &lr_},
          {"max_iter", &max_iter_},
          {"max_eval", &max_eval_},
          {"tolerance_grad", &tolerance_grad_},
          {"tolerance_change", &tolerance_change_},
          {"history_size", &history_size_},
          {"line_search_fn", &line_search_fn_}};
}

void LBFGSOptions::check(const std::vector<Tensor>& params) const {
  detail::check_lr("LBFGS", lr_);
  CRESSET_CHECK_AS(ValueError, !line_search_fn_ || *line_search_fn_ == "strong_wolfe", "LBFGS: line_search_fn is '",
                   *line_search_fn_, "' (only 'strong_wolfe' is supported)");
  for (size_t i = 0; i < params.size(); i++)
    CRESSET_CHECK_AS(TypeError, !params[i].is_complex(), "LBFGS: parameter ", i, " is complex (expected a real dtype)");
}

StateFields LBFGSParamState::fields() {
  return {{.name = "func_evals", .value = &func_evals_},
          {.name = "n_iter", .value = &n_iter_},
          {.name = "al", .value = nullptr, .may_be_missing = true},
          {.name = "d", .value = &d_, .may_be_missing = true, .own_shape = true},
          {.name = "t", .value = &t_, .may_be_missing = true},
          {.name = "old_dirs", .value = &old_dirs_, .may_be_missing = true},
          {.name = "old_stps", .value = &old_stps_, .may_be_missing = true},
          {.name = "ro", .value = &ro_, .may_be_missing = true},
          {.name = "H_diag", .value = &H_diag_, .may_be_missing = true, .own_shape = true},
          {.name = "prev_flat_grad", .value = &prev_flat_grad_, .may_be_missing = true, .own_shape = true},
          {.name = "prev_loss", .value = &prev_loss_, .may_be_missing = true}};
}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<LBFGSOptions>(std::move(defaults))) {
  finish_options();
}
LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : Optimizer(std::move(params), std::make_unique<LBFGSOptions>(std::move(defaults))) {
  finish_options();
}

void LBFGS::finish_options() {
  CRESSET_CHECK_AS(ValueError, param_groups_.size() == 1,
                   "LBFGS: LBFGS doesn't support per-parameter options (parameter groups): found ",
                   param_groups_.size(), " groups (expected 1)");
  for (OptimizerOptions* options : {defaults_.get(), &param_groups_[0].options()}) {
    auto& own = static_cast<LBFGSOptions&>(*options);
    if (!own.max_eval()) own.max_eval(own.max_iter() * 5 / 4);
  }
}

Tensor LBFGS::flat_grad() const {
  std::vector<Tensor> flat;
  for (const Tensor& param : param_groups_[0].params())
    flat.push_back(param.grad().defined() ? param.grad().reshape({-1}) : zeros({param.numel()}, param.options()));
  return cat(flat, 0);
}

void LBFGS::move(double by, const Tensor& direction) {
  int64_t offset = 0;
  for (const Tensor& param : param_groups_[0].params()) {
    param.add_(direction.narrow(0, offset, param.numel()).view(param.sizes()), by);
    offset += param.numel();
  }
}

std::pair<double, Tensor> LBFGS::look_ahead(const LossClosure& closure, const std::vector<Tensor>& start, double by,
                                            const Tensor& direction) {
  move(by, direction);
  const double loss = call(closure).item<double>();
  Tensor gradient = flat_grad();
  for (size_t i = 0; i < start.size(); i++) param_groups_[0].params()[i].copy_(start[i]);
  return {loss, gradient};
}

// The two loops over the history: the inverse of the estimated Hessian times minus the gradient.
Tensor LBFGS::direction(LBFGSParamState& state, const Tensor& gradient, int64_t history_size) {
  if (state.n_iter() == 1) {
    state.old_dirs().clear();
    state.old_stps().clear();
    state.ro().clear();
    state.H_diag(ones({}, gradient.options()));
    return gradient.neg();
  }
  const Tensor y = gradient.sub(state.prev_flat_grad()), s = state.d().mul(state.t()), ys = y.dot(s);
  if (ys.item<double>() > 1e-10) {
    if (static_cast<int64_t>(state.old_dirs().size()) == history_size) {
      state.old_dirs().pop_front();
      state.old_stps().pop_front();
      state.ro().pop_front();
    }
    state.old_dirs().push_back(y);
    state.old_stps().push_back(s);
    state.ro().push_back(ys.reciprocal());
    state.H_diag(ys / y.dot(y));
  }
  const size_t count = state.old_dirs().size();
  std::vector<double> along(count);
  Tensor r = gradient.neg();
  for (size_t i = count; i-- > 0;) {
    along[i] = (state.old_stps()[i].dot(r) * state.ro()[i]).item<double>();
    r.add_(state.old_dirs()[i], -along[i]);
  }
  r = r.mul(state.H_diag());
  for (size_t i = 0; i < count; i++) {
    const double back = (state.old_dirs()[i].dot(r) * state.ro()[i]).item<double>();
    r.add_(state.old_stps()[i], along[i] - back);
  }
  return r;
}

Tensor LBFGS::step(LossClosure closure) {
  CRESSET_CHECK_AS(ValueError, closure, "LBFGS::step: found no closure (expected one that computes the loss anew)");
  NoGradGuard no_grad;
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  const std::vector<Tensor>& params = param_groups_[0].params();
  const Tensor first_loss = call(closure);
  if (params.empty()) return first_loss;
  std::unique_ptr<OptimizerParamState>& slot = state_.in_order(0, params[0].impl());
  if (!slot) slot = std::make_unique<LBFGSParamState>();
  auto& state = static_cast<LBFGSParamState&>(*slot);
  state.func_evals()++;

  double loss = first_loss.item<double>();
  Tensor gradient = flat_grad();
  auto is_flat = [&] { return gradient.abs().max().item<double>() <= options.tolerance_grad(); };
  if (gradient.numel() == 0 || is_flat()) return first_loss;

  int64_t evaluations = 1;
  for (int64_t iteration = 1; iteration <= options.max_iter(); iteration++) {
    state.n_iter()++;
    state.d(direction(state, gradient, options.history_size()));
    state.prev_flat_grad(gradient.clone());
    state.prev_loss(loss);
    // The first step is not longer than the gradient is small.
    state.t(state.n_iter() == 1 ? std::min(1.0, 1 / gradient.abs().sum().item<double>()) * options.lr() : options.lr());
    const double slope = gradient.dot(state.d()).item<double>();
    if (slope > -options.tolerance_change()) break;

    bool flat = false;
    int64_t evaluated = 0;
    if (options.line_search_fn()) {
      std::vector<Tensor> start;
      for (const Tensor& param : params) start.push_back(param.clone());
      auto at = [&](double t) {
        auto [there, slopes] = look_ahead(closure, start, t, state.d());
        return detail::LinePoint{t, there, slopes, slopes.dot(state.d()).item<double>()};
      };
      auto [found, count] =
          detail::strong_wolfe(at, {0, loss, gradient, slope}, state.t(), state.d().abs().max().item<double>());
      loss = found.loss;
      gradient = found.gradient;
      state.t(found.t);
      evaluated = count;
      move(state.t(), state.d());
      flat = is_flat();
    } else {
      move(state.t(), state.d());
      if (iteration != options.max_iter()) {
        loss = call(closure).item<double>();
        gradient = flat_grad();
        flat = is_flat();
        evaluated = 1;
      }
    }
    evaluations += evaluated;
    state.func_evals(state.func_evals() + evaluated);
    if (evaluations >= options.max_eval().value_or(options.max_iter() * 5 / 4) || flat) break;
    if (state.d().abs().max().item<double>() * std::abs(state.t()) <= options.tolerance_change()) break;
    if (std::abs(loss - state.prev_loss()) < options.tolerance_change()) break;
  }
  return first_loss;
}

}  // namespace cresset::optim
