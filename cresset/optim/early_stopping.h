// EarlyStopping: says when a metric has stopped to improve, and keeps the best weights if it is shown the model.
#pragma once

#include "cresset/core/arg.h"
#include "cresset/nn/module.h"

namespace cresset::optim {

struct CRESSET_API EarlyStoppingOptions {
  EarlyStoppingOptions(int64_t patience = 10) : patience_(patience) {}
  enum Mode { min, max };
  CRESSET_ARG(int64_t, patience) = 10;  // how many epochs without improvement are let pass
  CRESSET_ARG(double, min_delta) = 0;   // less than this is no improvement
  CRESSET_ARG(Mode, mode) = min;
};

class CRESSET_API EarlyStopping {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  // True when it is time to stop: while (!stopping.step(validation_loss)) …
  bool step(double metric);
  // Also keeps a copy of the model's state whenever the metric improved.
  bool step(double metric, const nn::Module& model);
  template <class M>
  bool step(double metric, const nn::ModuleHolder<M>& model) {
    return step(metric, static_cast<const nn::Module&>(*model));
  }
  // Gives the model the best state that was seen.
  void restore_best(nn::Module& model) const;
  template <class M>
  void restore_best(nn::ModuleHolder<M>& model) const {
    restore_best(static_cast<nn::Module&>(*model));
  }

  bool should_stop() const { return bad_epochs_ > options_.patience(); }
  bool improved() const { return epoch_ > 0 && bad_epochs_ == 0; }  // at the last step
  double best() const { return best_; }
  int64_t best_epoch() const { return best_epoch_; }  // from 0; -1 before the first step
  int64_t epochs_without_improvement() const { return bad_epochs_; }
  void reset();

  IValue state_dict() const;
  void load_state_dict(const IValue& dict);

 private:
  EarlyStoppingOptions options_;
  double best_;
  int64_t best_epoch_ = -1, bad_epochs_ = 0, epoch_ = 0;
  nn::StateDict best_state_;
};

}  // namespace cresset::optim
