#include "cresset/optim/schedulers/one_cycle_lr.h"

#include "cresset/optim/fields.h"

#include <cmath>
#include <numbers>

namespace cresset::optim {
namespace {

int64_t steps_of(const OneCycleLROptions& options) {
  auto positive = [](const char* what, int64_t value) {
    CRESSET_CHECK_AS(ValueError, value > 0, "OneCycleLR: Expected positive integer ", what, ", but got ", value);
    return value;
  };
  if (options.total_steps()) return positive("total_steps", *options.total_steps());
  CRESSET_CHECK_AS(ValueError, options.epochs() && options.steps_per_epoch(),
                   "OneCycleLR: You must define either total_steps OR (epochs AND steps_per_epoch)");
  return positive("epochs", *options.epochs()) * positive("steps_per_epoch", *options.steps_per_epoch());
}

bool has_betas(Optimizer& optimizer) {
  for (const OptionField& field : optimizer.defaults().fields())
    if (std::string_view(field.name) == "betas") return true;
  return false;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer),
      total_steps_(steps_of(options)),
      anneal_strategy_(options.anneal_strategy()),
      cycle_momentum_(options.cycle_momentum()) {
  const double total = static_cast<double>(total_steps_), rising = options.pct_start();
  CRESSET_CHECK_AS(ValueError, rising >= 0 && rising <= 1,
                   "OneCycleLR: Expected float between 0 and 1 pct_start, but got ", rising);
  CRESSET_CHECK_AS(ValueError, anneal_strategy_ == "cos" || anneal_strategy_ == "linear",
                   "OneCycleLR: anneal_strategy is '", anneal_strategy_, "' (expected cos or linear)");
  phases_.push_back({rising * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"});
  if (options.three_phase()) {
    phases_.push_back({2 * rising * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"});
    phases_.push_back({total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"});
  } else {
    phases_.push_back({total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"});
  }

  // The bounds stay with the groups, as PyTorch's: they are in the optimizer's state_dict.
  const std::vector<double> max_lrs = options.max_lr().of(optimizer, "OneCycleLR", "max_lr"),
                            most = options.max_momentum().of(optimizer, "OneCycleLR", "max_momentum"),
                            least = options.base_momentum().of(optimizer, "OneCycleLR", "base_momentum");
  for (size_t g = 0; g < optimizer.param_groups().size(); g++) {
    OptimizerParamGroup& group = optimizer.param_groups()[g];
    CRESSET_CHECK_AS(ValueError, !cycle_momentum_ || momentum_of(group),
                     "OneCycleLR: optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
    if (last_epoch != -1) continue;
    const double first = max_lrs[g] / options.div_factor();
    group.extra()["initial_lr"] = first;
    group.extra()["max_lr"] = max_lrs[g];
    group.extra()["min_lr"] = first / options.final_div_factor();
    if (!cycle_momentum_) continue;
    set_momentum(group, most[g]);
    group.extra()["max_momentum"] = most[g];
    group.extra()["base_momentum"] = least[g];
  }
  begin(last_epoch);
}

double OneCycleLR::annealed(double start, double end, double part) const {
  if (anneal_strategy_ == "linear") return (end - start) * part + start;
  const double cosine = std::cos(std::numbers::pi * part) + 1;
  return end + (start - end) / 2.0 * cosine;
}

std::vector<double> OneCycleLR::get_lrs() {
  const double step = static_cast<double>(last_epoch_);
  CRESSET_CHECK_AS(ValueError, last_epoch_ <= total_steps_, "OneCycleLR: Tried to step ", last_epoch_ + 1,
                   " times. The specified number of total steps is ", total_steps_);
  size_t at = 0;
  while (at + 1 < phases_.size() && step > phases_[at].end_step) at++;
  const Phase& phase = phases_[at];
  const double start = at == 0 ? 0 : phases_[at - 1].end_step;
  CRESSET_CHECK_AS(ValueError, phase.end_step != start, "OneCycleLR: the phase of step ", last_epoch_,
                   " begins and ends at step ", start, " (expected another pct_start for ", total_steps_, " steps)");
  const double part = (step - start) / (phase.end_step - start);
  std::vector<double> lrs;
  for (OptimizerParamGroup& group : optimizer_.param_groups()) {
    auto held = [&](const char* name) { return group.extra().at(name).toDouble(); };
    lrs.push_back(annealed(held(phase.start_lr), held(phase.end_lr), part));
    if (cycle_momentum_) set_momentum(group, annealed(held(phase.start_momentum), held(phase.end_momentum), part));
  }
  return lrs;
}

SchedulerFields OneCycleLR::fields() {
  IValue::List phases;
  for (const Phase& phase : phases_) {
    IValue::Dict dict;
    dict["end_step"] = phase.end_step;
    dict["start_lr"] = phase.start_lr;
    dict["end_lr"] = phase.end_lr;
    dict["start_momentum"] = phase.start_momentum;
    dict["end_momentum"] = phase.end_momentum;
    phases.items.emplace_back(std::move(dict));
  }
  SchedulerFields all = {{"total_steps", &total_steps_},
                         {"_schedule_phases", std::move(phases)},
                         {"_anneal_func_type", IValue(anneal_strategy_)},
                         {"cycle_momentum", &cycle_momentum_}};
  if (cycle_momentum_) all.push_back({"use_beta1", IValue(has_betas(optimizer_))});
  return all;
}

}  // namespace cresset::optim
