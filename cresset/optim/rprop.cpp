#include "cresset/optim/rprop.h"

#include "cresset/optim/define_optimizer.h"
#include "cresset/optim/each_gradient.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

CRESSET_DEFINE_OPTIMIZER(Rprop)

OptionFields RpropOptions::fields() {
  return {{"lr", &lr_},
          {"etas", &etas_},
          {"step_sizes", &step_sizes_},
          detail::unused("foreach"),
          {"maximize", &maximize_, true}};
}

void RpropOptions::check(const std::vector<Tensor>&) const {
  detail::check_lr("Rprop", lr_);
  const auto [shrink, grow] = etas_;
  CRESSET_CHECK_AS(ValueError, 0 < shrink && shrink < 1 && 1 < grow, "Rprop: Invalid eta values: ", shrink, ", ", grow,
                   " (expected 0 < first < 1 < second)");
}

StateFields RpropParamState::fields() {
  return {{.name = "step", .value = &step_},
          {.name = "prev", .value = &prev_},
          {.name = "step_size", .value = &step_size_}};
}

Tensor Rprop::step(LossClosure closure) {
  Tensor loss = call(closure);
  detail::each_gradient<RpropOptions, RpropParamState>(
      param_groups_, state_,
      [](const RpropOptions& options, const Tensor& whole, const Tensor& grad, RpropParamState& state, bool is_new) {
        if (is_new) {
          state.prev(zeros_like(whole));
          state.step_size(zeros_like(whole));
          detail::real_of(state.step_size()).fill_(options.lr());
        }
        state.step()++;
        const auto [shrink, grow] = options.etas();
        const auto [least, most] = options.step_sizes();
        const Tensor param = detail::real_of(whole), prev = detail::real_of(state.prev()),
                     size = detail::real_of(state.step_size());
        const Tensor g = detail::descent(detail::real_of(grad), param, options.maximize(), 0);
        const Tensor turn = g.mul(prev), turned = turn.lt(0);
        const Tensor factor = ones_like(turn).masked_fill_(turn.gt(0), grow).masked_fill_(turned, shrink);
        size.mul_(factor).clamp_(Scalar(least), Scalar(most));
        // Where the sign has turned, this step is left out, and the next finds no sign to compare with.
        const Tensor kept = g.masked_fill(turned, 0);
        param.addcmul_(kept.sign(), size, -1);
        prev.copy_(kept);
      });
  return loss;
}

}  // namespace cresset::optim
