#include "cresset/optim/early_stopping.h"

#include <limits>

#include "cresset/ops/all.h"

namespace cresset::optim {

EarlyStopping::EarlyStopping(EarlyStoppingOptions options) : options_(options) {
  CRESSET_CHECK_AS(ValueError, options.patience() >= 0, "EarlyStopping: patience is ", options.patience(),
                   " (expected 0 or more)");
  CRESSET_CHECK_AS(ValueError, options.min_delta() >= 0, "EarlyStopping: min_delta is ", options.min_delta(),
                   " (expected 0 or more)");
  reset();
}

void EarlyStopping::reset() {
  best_ = std::numeric_limits<double>::infinity() * (options_.mode() == EarlyStoppingOptions::min ? 1 : -1);
  best_epoch_ = -1;
  bad_epochs_ = epoch_ = 0;
  best_state_.clear();
}

// A metric that is nan is never better: training that has diverged stops.
bool EarlyStopping::step(double metric) {
  const bool better = options_.mode() == EarlyStoppingOptions::min ? metric < best_ - options_.min_delta()
                                                                   : metric > best_ + options_.min_delta();
  if (better) {
    best_ = metric;
    best_epoch_ = epoch_;
    bad_epochs_ = 0;
  } else {
    bad_epochs_++;
  }
  epoch_++;
  return should_stop();
}

bool EarlyStopping::step(double metric, const nn::Module& model) {
  const bool stop = step(metric);
  if (!improved()) return stop;
  NoGradGuard no_grad;
  best_state_.clear();
  for (const auto& item : model.state_dict()) best_state_.insert(item.key(), item.value().detach().clone());
  return stop;
}

void EarlyStopping::restore_best(nn::Module& model) const {
  CRESSET_CHECK_AS(ValueError, !best_state_.is_empty(),
                   "EarlyStopping::restore_best: no state was kept (give the model to step)");
  model.load_state_dict(best_state_);
}

IValue EarlyStopping::state_dict() const {
  IValue::Dict dict, weights;
  dict["best"] = best_;
  dict["best_epoch"] = best_epoch_;
  dict["num_bad_epochs"] = bad_epochs_;
  dict["last_epoch"] = epoch_;
  for (const auto& item : best_state_) weights[item.key()] = item.value();
  dict["best_state"] = std::move(weights);
  return dict;
}

void EarlyStopping::load_state_dict(const IValue& value) {
  const IValue::Dict& dict = value.toDict();
  nn::StateDict weights;
  for (const auto& [name, tensor] : dict.at("best_state").toDict())
    weights.insert(name.toStringRef(), tensor.toTensor().clone());
  const double best = dict.at("best").toDouble();
  const int64_t best_epoch = dict.at("best_epoch").toInt(), bad = dict.at("num_bad_epochs").toInt(),
                epoch = dict.at("last_epoch").toInt();
  best_ = best;
  best_epoch_ = best_epoch;
  bad_epochs_ = bad;
  epoch_ = epoch;
  best_state_ = std::move(weights);
}

}  // namespace cresset::optim
