#include "cresset/optim/schedulers/cosine_annealing_lr.h"

#include "cresset/optim/fields.h"

#include <cmath>
#include <numbers>

namespace cresset::optim {

using std::numbers::pi;

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t T_max, double eta_min, int64_t last_epoch)
    : LRScheduler(optimizer), T_max_(T_max), eta_min_(eta_min) {
  CRESSET_CHECK_AS(ValueError, T_max > 0, "CosineAnnealingLR: T_max is ", T_max, " (expected more than 0)");
  begin(last_epoch);
}
std::vector<double> CosineAnnealingLR::get_lrs() {
  std::vector<double> lrs = get_current_lrs();
  const double epoch = static_cast<double>(last_epoch_), total = static_cast<double>(T_max_);
  if (last_epoch_ == 0) return lrs;
  for (size_t g = 0; g < lrs.size(); g++) {
    if (step_count_ == 0)  // resumed: there is no rate before this one
      lrs[g] = eta_min_ + (base_lrs_[g] - eta_min_) * (1 + std::cos(epoch * pi / total)) / 2;
    else if ((last_epoch_ - 1 - T_max_) % (2 * T_max_) == 0)  // from the lowest point the recursion cannot rise
      lrs[g] = lrs[g] + (base_lrs_[g] - eta_min_) * (1 - std::cos(pi / total)) / 2;
    else
      lrs[g] = (1 + std::cos(pi * epoch / total)) / (1 + std::cos(pi * (epoch - 1) / total)) * (lrs[g] - eta_min_) +
               eta_min_;
  }
  return lrs;
}
std::vector<double> CosineAnnealingLR::closed_form_lrs() {
  std::vector<double> lrs = base_lrs_;
  const double angle = pi * static_cast<double>(last_epoch_) / static_cast<double>(T_max_);
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * (1 + std::cos(angle)) / 2;
  return lrs;
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t T_0, int64_t T_mult,
                                                         double eta_min, int64_t last_epoch)
    : LRScheduler(optimizer),
      T_0_(T_0),
      T_i_(T_0),
      T_mult_(T_mult),
      eta_min_(eta_min),
      T_cur_(static_cast<double>(last_epoch)) {
  CRESSET_CHECK_AS(ValueError, T_0 > 0, "CosineAnnealingWarmRestarts: Expected positive integer T_0, but got ", T_0);
  CRESSET_CHECK_AS(ValueError, T_mult >= 1, "CosineAnnealingWarmRestarts: Expected integer T_mult >= 1, but got ",
                   T_mult);
  begin(last_epoch);
}

void CosineAnnealingWarmRestarts::step() {
  if (last_epoch_ < 0) return step_to(0);
  if (last_epoch_ == 0) check_order();
  last_epoch_++;
  T_cur_ += 1;
  if (T_cur_ >= static_cast<double>(T_i_)) {
    T_cur_ -= static_cast<double>(T_i_);
    T_i_ *= T_mult_;
  }
  set_optimizer_lrs(get_lrs());
}

void CosineAnnealingWarmRestarts::step_to(double epoch) {
  CRESSET_CHECK_AS(ValueError, epoch >= 0, "CosineAnnealingWarmRestarts: Expected non-negative epoch, but got ", epoch);
  const double first = static_cast<double>(T_0_), times = static_cast<double>(T_mult_);
  if (epoch < first) {
    T_i_ = T_0_;
    T_cur_ = epoch;
  } else if (T_mult_ == 1) {
    T_cur_ = std::fmod(epoch, first);
  } else {
    const double n = std::floor(std::log(epoch / first * (times - 1) + 1) / std::log(times));
    T_cur_ = epoch - first * (std::pow(times, n) - 1) / (times - 1);
    T_i_ = static_cast<int64_t>(first * std::pow(times, n));
  }
  last_epoch_ = static_cast<int64_t>(std::floor(epoch));
  set_optimizer_lrs(get_lrs());
}

std::vector<double> CosineAnnealingWarmRestarts::get_lrs() {
  std::vector<double> lrs = base_lrs_;
  const double angle = pi * T_cur_ / static_cast<double>(T_i_);
  for (double& lr : lrs) lr = eta_min_ + (lr - eta_min_) * (1 + std::cos(angle)) / 2;
  return lrs;
}

SchedulerFields CosineAnnealingLR::fields() { return {{"T_max", &T_max_}, {"eta_min", &eta_min_}}; }

SchedulerFields CosineAnnealingWarmRestarts::fields() {
  return {{"T_0", &T_0_}, {"T_i", &T_i_}, {"T_mult", &T_mult_}, {"eta_min", &eta_min_}, {"T_cur", &T_cur_}};
}

}  // namespace cresset::optim
