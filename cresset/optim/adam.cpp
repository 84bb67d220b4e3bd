// Adam and AdamW, which differ in where the weight decay goes.
#include "cresset/optim/adam.h"

#include "cresset/core/kernel.h"
#include "cresset/ops/optim_step.h"
#include "cresset/optim/adam_moments.h"
#include "cresset/optim/adamw.h"
#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Adam)

OptionFields AdamOptions::fields() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"amsgrad", &amsgrad_, true},
          {"maximize", &maximize_, true},
          detail::unused("foreach"),
          detail::unused("capturable", false),
          detail::unused("differentiable", false),
          detail::unused("fused", false)};
}
CRESSET_DEFINE_OPTIMIZER(AdamW)

OptionFields AdamWOptions::fields() {
  return {{"lr", &lr_},
          {"betas", &betas_},
          {"eps", &eps_},
          {"weight_decay", &weight_decay_},
          {"amsgrad", &amsgrad_, true},
          detail::unused("foreach"),
          {"maximize", &maximize_, true},
          detail::unused("capturable", false)};
}

namespace {

// What a step needs of the options and the count of steps. Powers in double, as Python's.
struct Numbers {
  double step_size, root_correction, beta1, beta2, eps, weight_decay, keep;
  bool maximize, amsgrad;

  Numbers() = default;
  template <class Options>
  Numbers(const Options& options, int64_t step) {
    constexpr bool decoupled = std::is_same_v<Options, AdamWOptions>;
    std::tie(beta1, beta2) = options.betas();
    step_size = options.lr() / (1 - std::pow(beta1, static_cast<double>(step)));
    root_correction = std::sqrt(1 - std::pow(beta2, static_cast<double>(step)));
    eps = options.eps();
    weight_decay = decoupled ? 0 : options.weight_decay();
    keep = decoupled ? 1 - options.lr() * options.weight_decay() : 1;
    maximize = options.maximize();
    amsgrad = options.amsgrad();
  }
};

void run(detail::FusedLists& lists, const Numbers& n) {
  adam_step_kernel(lists.first(), lists.params(), lists.state(0), lists.state(1), lists.state(2), lists.grads(),
                   n.step_size, n.root_correction, n.beta1, n.beta2, n.eps, n.weight_decay, n.keep, n.maximize);
  lists.finish();
}

void step_by_ops(const Numbers& n, const Tensor& whole, const Tensor& whole_grad, AdamParamState& state) {
  const Tensor param = detail::real_of(whole), avg = detail::real_of(state.exp_avg()),
               square = detail::real_of(state.exp_avg_sq());
  if (n.keep != 1) param.mul_(n.keep);
  const Tensor grad = detail::descent(detail::real_of(whole_grad), param, n.maximize, n.weight_decay);
  avg.mul_(n.beta1).add_(grad, 1 - n.beta1);
  square.mul_(n.beta2).addcmul_(grad, grad, 1 - n.beta2);
  Tensor top = square;
  if (n.amsgrad) {
    top = detail::real_of(state.max_exp_avg_sq());
    top.copy_(maximum(top, square));
  }
  param.addcdiv_(avg, (top.sqrt() / n.root_correction).add_(n.eps), -n.step_size);
}

void make_state(AdamParamState& state, const Tensor& param, bool amsgrad) {
  if (!state.exp_avg().defined()) {
    state.exp_avg(zeros_like(param));
    state.exp_avg_sq(zeros_like(param));
  }
  if (amsgrad && !state.max_exp_avg_sq().defined()) state.max_exp_avg_sq(zeros_like(param));
}

bool can_fuse(const Tensor& param, const Tensor& grad, AdamParamState& state, bool amsgrad) {
  return adam_step_kernel.get(param.device().type()) && detail::FusedLists::fits(param, grad) &&
         detail::FusedLists::fits(param, state.exp_avg()) && detail::FusedLists::fits(param, state.exp_avg_sq()) &&
         (!amsgrad || detail::FusedLists::fits(param, state.max_exp_avg_sq()));
}

template <class Options>
void step_group(OptimizerParamGroup& group, ParamStates& states, size_t& position, detail::FusedLists& lists) {
  const auto& options = static_cast<const Options&>(group.options());
  const bool amsgrad = options.amsgrad();
  Numbers numbers;
  int64_t step = 0;  // that the numbers are for
  for (const Tensor& param : group.params()) {
    std::unique_ptr<OptimizerParamState>& slot = states.in_order(position++, param.impl());
    const Tensor& grad = param.grad();
    if (!grad.defined()) continue;
    if (!slot) slot = std::make_unique<AdamParamState>();
    auto& state = static_cast<AdamParamState&>(*slot);
    make_state(state, param, amsgrad);
    // A parameter that was left out of earlier steps is behind: it goes into a call of its own.
    if (++state.step() != step || !lists.goes_with(param)) {
      if (!lists.empty()) run(lists, numbers);
      step = state.step();
      numbers = Numbers(options, step);
    }
    if (!options.fused() || !can_fuse(param, grad, state, amsgrad))
      step_by_ops(numbers, param, grad, state);
    else if (amsgrad)
      lists.add(param, grad, {&state.exp_avg(), &state.exp_avg_sq(), &state.max_exp_avg_sq()});
    else
      lists.add(param, grad, {&state.exp_avg(), &state.exp_avg_sq()});
  }
  if (!lists.empty()) run(lists, numbers);
}

template <class Options>
void step_all(std::vector<OptimizerParamGroup>& groups, ParamStates& states, detail::FusedLists& lists) {
  NoGradGuard no_grad;
  size_t position = 0;
  for (OptimizerParamGroup& group : groups) step_group<Options>(group, states, position, lists);
}

}  // namespace

void AdamOptions::check(const std::vector<Tensor>&) const { detail::check_adam("Adam", *this); }
void AdamWOptions::check(const std::vector<Tensor>&) const { detail::check_adam("AdamW", *this); }

StateFields AdamParamState::fields() {
  return {{.name = "step", .value = &step_, .form = StateField::Form::scalar_tensor},
          {.name = "exp_avg", .value = &exp_avg_},
          {.name = "exp_avg_sq", .value = &exp_avg_sq_},
          {.name = "max_exp_avg_sq", .value = &max_exp_avg_sq_, .may_be_missing = true}};
}

Tensor Adam::step(LossClosure closure) {
  Tensor loss = call(closure);
  step_all<AdamOptions>(param_groups_, state_, lists_);
  return loss;
}
Tensor AdamW::step(LossClosure closure) {
  Tensor loss = call(closure);
  step_all<AdamWOptions>(param_groups_, state_, lists_);
  return loss;
}

}  // namespace cresset::optim
