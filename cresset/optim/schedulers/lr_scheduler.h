// LRScheduler: sets the learning rates of an optimizer's groups, one step an epoch or batch. The schedulers here count
// as PyTorch's do: construction makes the first of the rates, and step() is called after each epoch. Most compute a
// rate from the one before it, so that several may act on one optimizer.
#pragma once

#include <optional>

#include "cresset/optim/optimizer.h"

namespace cresset::optim {

struct SchedulerFields;

// A number for each group, or one for all.
class CRESSET_API PerGroup {
 public:
  PerGroup(double value) : values_{value}, same_(true) {}
  PerGroup(std::vector<double> values) : values_(std::move(values)) {}
  PerGroup(const std::vector<float>& values) : values_(values.begin(), values.end()) {}
  PerGroup(std::initializer_list<double> values) : values_(values) {}
  bool empty() const { return values_.empty(); }
  std::vector<double> of(const Optimizer& optimizer, const char* scheduler, const char* name) const;

 private:
  std::vector<double> values_;
  bool same_ = false;
};

class CRESSET_API LRScheduler {
 public:
  // The optimizer must outlive the scheduler.
  explicit LRScheduler(Optimizer& optimizer);
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  virtual void step();
  // Goes to an epoch, by the closed form where there is one.
  virtual void step(int64_t epoch);

  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }
  const std::vector<double>& base_lrs() const { return base_lrs_; }
  Optimizer& optimizer() const { return optimizer_; }

  virtual IValue state_dict() const;
  virtual void load_state_dict(const IValue& dict);

 protected:
  virtual std::vector<double> get_lrs() = 0;
  // Empty where there is none.
  virtual std::vector<double> closed_form_lrs() { return {}; }
  virtual SchedulerFields fields();  // of the class itself
  virtual const char* name() const { return "LRScheduler"; }

  // The end of each constructor here: remembers the first rates in the groups (initial_lr) and makes the first step.
  void begin(int64_t last_epoch);
  void first_step();
  // Warns when the optimizer has made no step yet: for the first step() that a caller asks for.
  void check_order() const;
  std::vector<double> get_current_lrs() const;
  void set_optimizer_lrs(const std::vector<double>& learning_rates);
  // factor * rate, for all groups
  std::vector<double> scaled(double factor) const;
  std::vector<double> scaled_base(double factor) const;

  unsigned step_count_ = 0;
  int64_t last_epoch_ = -1;
  std::vector<double> base_lrs_, last_lr_;
  Optimizer& optimizer_;

 private:
  friend class SequentialLR;
  SchedulerFields all_fields();
  uint64_t first_versions_ = 0;  // of the parameters, when the scheduler was made
};

// A group's momentum, or its first beta. Empty where its options have neither.
CRESSET_API std::optional<double> momentum_of(OptimizerParamGroup& group);
CRESSET_API void set_momentum(OptimizerParamGroup& group, double momentum);

namespace detail {
IValue written(const SchedulerFields& fields);
// Its error lists what is missing.
void read(const char* scheduler, const SchedulerFields& fields, const IValue& dict);
}  // namespace detail

}  // namespace cresset::optim
