#include "cresset/optim/schedulers/step_lr.h"

#include "cresset/optim/fields.h"

#include <algorithm>
#include <cmath>

namespace cresset::optim {

StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  CRESSET_CHECK_AS(ValueError, step_size > 0, "StepLR: step_size is ", step_size, " (expected more than 0)");
  begin(last_epoch);
}
std::vector<double> StepLR::get_lrs() {
  return last_epoch_ == 0 || last_epoch_ % step_size_ != 0 ? get_current_lrs() : scaled(gamma_);
}
std::vector<double> StepLR::closed_form_lrs() {
  return scaled_base(std::pow(gamma_, static_cast<double>(last_epoch_ / step_size_)));
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  begin(last_epoch);
}
std::vector<double> MultiStepLR::get_lrs() {
  const auto times = std::count(milestones_.begin(), milestones_.end(), last_epoch_);
  return times == 0 ? get_current_lrs() : scaled(std::pow(gamma_, static_cast<double>(times)));
}
std::vector<double> MultiStepLR::closed_form_lrs() {
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) - milestones_.begin();
  return scaled_base(std::pow(gamma_, static_cast<double>(passed)));
}
// PyTorch keeps how often each epoch is there.
IValue MultiStepLR::state_dict() const {
  IValue dict = LRScheduler::state_dict();
  IValue::Dict counts;
  for (int64_t milestone : milestones_) {
    if (!counts.items.empty() && counts.items.back().first.toInt() == milestone)
      counts.items.back().second = counts.items.back().second.toInt() + 1;
    else
      counts.items.emplace_back(milestone, int64_t{1});
  }
  dict.toDict()["milestones"] = std::move(counts);
  return dict;
}
void MultiStepLR::load_state_dict(const IValue& dict) {
  const IValue& saved = dict.toDict().at("milestones");
  std::vector<int64_t> milestones;
  if (saved.isDict()) {
    for (const auto& [epoch, count] : saved.toDict()) milestones.insert(milestones.end(), count.toInt(), epoch.toInt());
  } else {
    for (const IValue& epoch : saved.elements()) milestones.push_back(epoch.toInt());
  }
  LRScheduler::load_state_dict(dict);
  milestones_ = std::move(milestones);
  std::sort(milestones_.begin(), milestones_.end());
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, int64_t last_epoch)
    : LRScheduler(optimizer), gamma_(gamma) {
  begin(last_epoch);
}
std::vector<double> ExponentialLR::get_lrs() { return last_epoch_ == 0 ? get_current_lrs() : scaled(gamma_); }
std::vector<double> ExponentialLR::closed_form_lrs() {
  return scaled_base(std::pow(gamma_, static_cast<double>(last_epoch_)));
}

SchedulerFields StepLR::fields() { return {{"step_size", &step_size_}, {"gamma", &gamma_}}; }

SchedulerFields MultiStepLR::fields() { return {{"milestones", IValue()}, {"gamma", &gamma_}}; }

SchedulerFields ExponentialLR::fields() { return {{"gamma", &gamma_}}; }

}  // namespace cresset::optim
