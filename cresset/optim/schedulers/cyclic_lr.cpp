#include "cresset/optim/schedulers/cyclic_lr.h"

#include "cresset/optim/fields.h"

#include <cmath>

namespace cresset::optim {

CyclicLR::CyclicLR(Optimizer& optimizer, CyclicLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer),
      max_lrs_(options.max_lr().of(optimizer, "CyclicLR", "max_lr")),
      gamma_(options.gamma()),
      mode_(options.mode()),
      scale_mode_(options.scale_mode()),
      scale_fn_(options.scale_fn()),
      cycle_momentum_(options.cycle_momentum()) {
  CRESSET_CHECK_AS(ValueError, scale_fn_ || mode_ == "triangular" || mode_ == "triangular2" || mode_ == "exp_range",
                   "CyclicLR: mode is '", mode_, "' (expected triangular, triangular2, exp_range or a scale_fn)");
  if (!scale_fn_) scale_mode_ = mode_ == "exp_range" ? "iterations" : "cycle";
  CRESSET_CHECK_AS(ValueError, scale_mode_ == "cycle" || scale_mode_ == "iterations", "CyclicLR: scale_mode is '",
                   scale_mode_, "' (expected cycle or iterations)");
  const double up = static_cast<double>(options.step_size_up()),
               down = static_cast<double>(options.step_size_down().value_or(options.step_size_up()));
  CRESSET_CHECK_AS(ValueError, up > 0 && down > 0, "CyclicLR: step sizes are ", up, " up, ", down,
                   " down (expected more than 0)");
  total_size_ = up + down;
  step_ratio_ = up / total_size_;

  const std::vector<double> base_lrs = options.base_lr().of(optimizer, "CyclicLR", "base_lr");
  std::vector<OptimizerParamGroup>& groups = optimizer.param_groups();
  if (last_epoch == -1)
    for (size_t g = 0; g < groups.size(); g++) groups[g].set_lr(base_lrs[g]);
  if (cycle_momentum_) {
    base_momentums_ = options.base_momentum().of(optimizer, "CyclicLR", "base_momentum");
    max_momentums_ = options.max_momentum().of(optimizer, "CyclicLR", "max_momentum");
    for (size_t g = 0; g < groups.size(); g++) {
      const std::optional<double> held = momentum_of(groups[g]);
      CRESSET_CHECK_AS(ValueError, held,
                       "CyclicLR: optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
      if (last_epoch == -1)
        set_momentum(groups[g], base_momentums_[g]);
      else
        base_momentums_[g] = *held;
    }
  }
  begin(last_epoch);
  base_lrs_ = base_lrs;
}

double CyclicLR::scale(double cycle) const {
  const double at = scale_mode_ == "cycle" ? cycle : static_cast<double>(last_epoch_);
  if (scale_fn_) return scale_fn_(at);
  if (mode_ == "triangular2") return 1 / std::pow(2., at - 1);
  return mode_ == "exp_range" ? std::pow(gamma_, at) : 1;
}

std::vector<double> CyclicLR::get_lrs() {
  const double epoch = static_cast<double>(last_epoch_), cycle = std::floor(1 + epoch / total_size_);
  const double x = 1. + epoch / total_size_ - cycle;
  const double height = x <= step_ratio_ ? x / step_ratio_ : (x - 1) / (step_ratio_ - 1);
  const double by = scale(cycle);
  std::vector<double> lrs = base_lrs_;
  for (size_t g = 0; g < lrs.size(); g++) lrs[g] = lrs[g] + (max_lrs_[g] - lrs[g]) * height * by;
  if (cycle_momentum_)
    for (size_t g = 0; g < lrs.size(); g++)
      set_momentum(optimizer_.param_groups()[g],
                   max_momentums_[g] - (max_momentums_[g] - base_momentums_[g]) * height * by);
  return lrs;
}

SchedulerFields CyclicLR::fields() {
  SchedulerFields all = {
      {"max_lrs", &max_lrs_}, {"total_size", &total_size_}, {"step_ratio", &step_ratio_},        {"mode", &mode_},
      {"gamma", &gamma_},     {"scale_mode", &scale_mode_}, {"cycle_momentum", &cycle_momentum_}};
  if (cycle_momentum_) {
    all.push_back({"base_momentums", &base_momentums_});
    all.push_back({"max_momentums", &max_momentums_});
  }
  return all;
}

}  // namespace cresset::optim
