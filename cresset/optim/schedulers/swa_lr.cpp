#include "cresset/optim/schedulers/swa_lr.h"

#include "cresset/optim/fields.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace cresset::optim {

SWALR::SWALR(Optimizer& optimizer, PerGroup swa_lr, int64_t anneal_epochs, Anneal strategy, int64_t last_epoch)
    : LRScheduler(optimizer), anneal_epochs_(anneal_epochs), strategy_(strategy) {
  CRESSET_CHECK_AS(ValueError, anneal_epochs >= 0, "SWALR: anneal_epochs must be equal or greater than 0, got ",
                   anneal_epochs);
  const std::vector<double> rates = swa_lr.of(optimizer, "SWALR", "swa_lr");
  for (size_t g = 0; g < rates.size(); g++) optimizer.param_groups()[g].extra()["swa_lr"] = rates[g];
  begin(last_epoch);
}

double SWALR::annealed(double part) const {
  return strategy_ == Anneal::linear ? part : (1 - std::cos(std::numbers::pi * part)) / 2;
}

std::vector<double> SWALR::get_lrs() {
  double step = static_cast<double>(step_count_);
  if (anneal_epochs_ == 0) step = std::max(1.0, step);
  const double epochs = static_cast<double>(std::max<int64_t>(1, anneal_epochs_));
  const double before = annealed(std::clamp((step - 1) / epochs, 0.0, 1.0)),
               now = annealed(std::clamp(step / epochs, 0.0, 1.0));
  std::vector<double> lrs;
  for (OptimizerParamGroup& group : optimizer_.param_groups()) {
    const double target = group.extra().at("swa_lr").toDouble();
    // The rate it came from, as far as this one shows it.
    const double from = before == 1 ? target : (group.get_lr() - before * target) / (1 - before);
    lrs.push_back(target * now + from * (1 - now));
  }
  return lrs;
}

SchedulerFields SWALR::fields() { return {{"anneal_epochs", &anneal_epochs_}}; }

}  // namespace cresset::optim
