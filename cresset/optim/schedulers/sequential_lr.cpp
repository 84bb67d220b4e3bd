#include "cresset/optim/schedulers/sequential_lr.h"

#include <algorithm>

#include "cresset/optim/fields.h"

namespace cresset::optim {
namespace {

void check_same_optimizer(const char* name, const Optimizer& optimizer, const LRSchedulers& schedulers) {
  for (size_t i = 0; i < schedulers.size(); i++) {
    CRESSET_CHECK_AS(ValueError, schedulers[i], name, ": scheduler ", i, " is null");
    CRESSET_CHECK_AS(ValueError, &schedulers[i]->optimizer() == &optimizer, name,
                     " expects all schedulers to belong to the same optimizer, but scheduler ", i,
                     " belongs to another");
  }
}

Optimizer& first_optimizer(const LRSchedulers& schedulers) {
  CRESSET_CHECK_AS(ValueError, !schedulers.empty() && schedulers[0], "ChainedScheduler: found no scheduler");
  return schedulers[0]->optimizer();
}

IValue states_of(const LRSchedulers& schedulers) {
  IValue::List states;
  for (const auto& scheduler : schedulers) states.items.push_back(scheduler->state_dict());
  return states;
}
void load_states(const char* name, const LRSchedulers& schedulers, const IValue& states) {
  const std::vector<IValue> items = states.elements();
  CRESSET_CHECK_AS(ValueError, items.size() == schedulers.size(), name, ": load_state_dict: found ", items.size(),
                   " schedulers (expected ", schedulers.size(), ")");
  for (size_t i = 0; i < items.size(); i++) schedulers[i]->load_state_dict(items[i]);
}

}  // namespace

SequentialLR::SequentialLR(Optimizer& optimizer, LRSchedulers schedulers, std::vector<int64_t> milestones,
                           int64_t last_epoch)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  check_same_optimizer("SequentialLR", optimizer, schedulers_);
  CRESSET_CHECK_AS(ValueError, !schedulers_.empty() && milestones_.size() + 1 == schedulers_.size(),
                   "SequentialLR: found ", schedulers_.size(), " schedulers and ", milestones_.size(),
                   " milestones (expected one scheduler more than milestones)");
  CRESSET_CHECK_AS(ValueError, std::is_sorted(milestones_.begin(), milestones_.end()),
                   "SequentialLR: the milestones are not in order");
  last_epoch_ = last_epoch + 1;
  // All of them made their first step when they were constructed: it is taken back, and only the first makes it again.
  for (OptimizerParamGroup& group : optimizer.param_groups()) group.set_lr(group.extra().at("initial_lr").toDouble());
  for (const auto& scheduler : schedulers_) scheduler->last_epoch_--;
  schedulers_[0]->first_step();
  last_lr_ = schedulers_[0]->get_last_lr();
}

void SequentialLR::step() {
  last_epoch_++;
  const size_t at =
      static_cast<size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_) - milestones_.begin());
  LRScheduler& scheduler = *schedulers_[at];
  if (at > 0 && milestones_[at - 1] == last_epoch_)
    scheduler.step(0);
  else
    scheduler.step();
  last_lr_ = scheduler.get_last_lr();
}
void SequentialLR::step(int64_t epoch) {
  throw NotImplementedError(message_of("SequentialLR::step: cannot go to epoch ", epoch, " (call step() without it)"));
}

IValue SequentialLR::state_dict() const {
  IValue::Dict dict;
  dict["_milestones"] = milestones_;
  dict["last_epoch"] = last_epoch_;
  dict["_last_lr"] = last_lr_;
  dict["_schedulers"] = states_of(schedulers_);
  return dict;
}
void SequentialLR::load_state_dict(const IValue& value) {
  const IValue::Dict& dict = value.toDict();
  detail::read(name(), {{"_milestones", &milestones_}, {"last_epoch", &last_epoch_}, {"_last_lr", &last_lr_}}, value);
  load_states(name(), schedulers_, dict.at("_schedulers"));
}

ChainedScheduler::ChainedScheduler(LRSchedulers schedulers)
    : LRScheduler(first_optimizer(schedulers)), schedulers_(std::move(schedulers)) {
  check_same_optimizer("ChainedScheduler", optimizer_, schedulers_);
  last_lr_ = get_current_lrs();
}

void ChainedScheduler::step() {
  for (const auto& scheduler : schedulers_) scheduler->step();
  last_epoch_ = schedulers_.back()->last_epoch();
  last_lr_ = get_current_lrs();
}
void ChainedScheduler::step(int64_t epoch) {
  throw NotImplementedError(
      message_of("ChainedScheduler::step: cannot go to epoch ", epoch, " (call step() without it)"));
}

IValue ChainedScheduler::state_dict() const {
  IValue::Dict dict;
  dict["_last_lr"] = last_lr_;
  dict["_schedulers"] = states_of(schedulers_);
  return dict;
}
void ChainedScheduler::load_state_dict(const IValue& value) {
  detail::read(name(), {{"_last_lr", &last_lr_}}, value);
  load_states(name(), schedulers_, value.toDict().at("_schedulers"));
}

}  // namespace cresset::optim
