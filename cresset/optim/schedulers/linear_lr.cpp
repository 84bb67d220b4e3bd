#include "cresset/optim/schedulers/linear_lr.h"

#include "cresset/optim/fields.h"

#include <algorithm>
#include <cmath>

namespace cresset::optim {

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters, int64_t last_epoch)
    : LRScheduler(optimizer), factor_(factor), total_iters_(total_iters) {
  CRESSET_CHECK_AS(ValueError, factor >= 0 && factor <= 1,
                   "ConstantLR: Constant multiplicative factor expected to be between 0 and 1 (found ", factor, ")");
  begin(last_epoch);
}
std::vector<double> ConstantLR::get_lrs() {
  if (last_epoch_ == 0) return scaled(factor_);
  if (last_epoch_ != total_iters_) return get_current_lrs();
  CRESSET_CHECK_AS(ValueError, factor_ != 0, "ConstantLR: factor is 0, which cannot be taken off again after ",
                   total_iters_, " steps (expected another)");
  return scaled(1 / factor_);
}
std::vector<double> ConstantLR::closed_form_lrs() {
  return scaled_base(factor_ + (last_epoch_ >= total_iters_ ? 1 : 0) * (1 - factor_));
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, int64_t total_iters,
                   int64_t last_epoch)
    : LRScheduler(optimizer), start_factor_(start_factor), end_factor_(end_factor), total_iters_(total_iters) {
  CRESSET_CHECK_AS(ValueError, start_factor > 0 && start_factor <= 1,
                   "LinearLR: Starting multiplicative factor expected to be greater than 0 and at most 1 (found ",
                   start_factor, ")");
  CRESSET_CHECK_AS(ValueError, end_factor >= 0 && end_factor <= 1,
                   "LinearLR: Ending multiplicative factor expected to be between 0 and 1 (found ", end_factor, ")");
  begin(last_epoch);
}
std::vector<double> LinearLR::get_lrs() {
  if (last_epoch_ == 0) return scaled(start_factor_);
  if (last_epoch_ > total_iters_) return get_current_lrs();
  const double rise = end_factor_ - start_factor_;
  return scaled(
      1. + rise / (static_cast<double>(total_iters_) * start_factor_ + static_cast<double>(last_epoch_ - 1) * rise));
}
std::vector<double> LinearLR::closed_form_lrs() {
  return scaled_base(start_factor_ + (end_factor_ - start_factor_) *
                                         static_cast<double>(std::min(total_iters_, last_epoch_)) /
                                         static_cast<double>(total_iters_));
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power, int64_t last_epoch)
    : LRScheduler(optimizer), total_iters_(total_iters), power_(power) {
  CRESSET_CHECK_AS(ValueError, total_iters >= 0, "PolynomialLR: total_iters is ", total_iters, " (expected 0 or more)");
  begin(last_epoch);
}
std::vector<double> PolynomialLR::get_lrs() {
  if (last_epoch_ == 0 || last_epoch_ > total_iters_) return get_current_lrs();
  CRESSET_CHECK_AS(ValueError, power_ >= 0 || last_epoch_ < total_iters_, "PolynomialLR: power is ", power_,
                   ", with which the rate has no bound after ", total_iters_, " steps (expected 0 or more)");
  const double epoch = static_cast<double>(last_epoch_), total = static_cast<double>(total_iters_);
  return scaled(std::pow((1.0 - epoch / total) / (1.0 - (epoch - 1) / total), power_));
}
std::vector<double> PolynomialLR::closed_form_lrs() {
  const double epoch = static_cast<double>(std::min(total_iters_, last_epoch_));
  const double total = static_cast<double>(std::max<int64_t>(total_iters_, 1));
  return scaled_base(std::pow(1.0 - epoch / total, power_));
}

SchedulerFields ConstantLR::fields() { return {{"factor", &factor_}, {"total_iters", &total_iters_}}; }

SchedulerFields LinearLR::fields() {
  return {{"start_factor", &start_factor_}, {"end_factor", &end_factor_}, {"total_iters", &total_iters_}};
}

SchedulerFields PolynomialLR::fields() { return {{"total_iters", &total_iters_}, {"power", &power_}}; }

}  // namespace cresset::optim
