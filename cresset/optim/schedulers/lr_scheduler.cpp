#include "cresset/optim/schedulers/lr_scheduler.h"

#include "cresset/core/warning.h"
#include "cresset/optim/fields.h"

namespace cresset::optim {

std::vector<double> PerGroup::of(const Optimizer& optimizer, const char* scheduler, const char* name) const {
  const size_t groups = optimizer.param_groups().size();
  if (same_) return std::vector<double>(groups, values_[0]);
  CRESSET_CHECK_AS(ValueError, values_.size() == groups, scheduler, ": found ", values_.size(), " values for ", name,
                   " (expected ", groups, ", one for each parameter group)");
  return values_;
}

namespace {
// Grows with every step of an optimizer, whoever wrote it.
uint64_t versions_of(const Optimizer& optimizer) {
  uint64_t sum = 0;
  for (const OptimizerParamGroup& group : optimizer.param_groups())
    for (const Tensor& param : group.params()) sum += param._version();
  return sum;
}
}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer), first_versions_(versions_of(optimizer)) {
  base_lrs_ = get_current_lrs();
  last_lr_ = base_lrs_;
}

SchedulerFields LRScheduler::fields() { return {}; }

void LRScheduler::begin(int64_t last_epoch) {
  base_lrs_.clear();
  for (size_t g = 0; g < optimizer_.param_groups().size(); g++) {
    OptimizerParamGroup& group = optimizer_.param_groups()[g];
    const IValue* first = group.extra().find("initial_lr");
    CRESSET_CHECK_AS(ValueError, first || last_epoch == -1, name(),
                     ": param 'initial_lr' is not specified in param_groups[", g,
                     "] when resuming an optimizer (last_epoch is ", last_epoch, ")");
    if (!first) group.extra()["initial_lr"] = group.get_lr();
    base_lrs_.push_back(group.extra().at("initial_lr").toDouble());
  }
  last_epoch_ = last_epoch;
  first_step();
}

void LRScheduler::first_step() {
  step_count_ = 0;
  step();
}

void LRScheduler::check_order() const {
  if (optimizer_.has_stepped() || versions_of(optimizer_) != first_versions_) return;
  CRESSET_WARN_ONCE(name(),
                    ": Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the "
                    "opposite order: `optimizer.step()` before `lr_scheduler.step()`. Failure to do this will result "
                    "in skipping the first value of the learning rate schedule.");
}

void LRScheduler::step() {
  if (step_count_ == 1) check_order();
  last_epoch_++;
  // libtorch's own classes count from 0 inside get_lrs, PyTorch's from 1: those here look at last_epoch_.
  std::vector<double> lrs = get_lrs();
  step_count_++;
  set_optimizer_lrs(lrs);
}

void LRScheduler::step(int64_t epoch) {
  if (step_count_ == 1) check_order();
  last_epoch_ = epoch;
  std::vector<double> lrs = closed_form_lrs();
  if (lrs.empty()) lrs = get_lrs();
  step_count_++;
  set_optimizer_lrs(lrs);
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> lrs;
  for (const OptimizerParamGroup& group : optimizer_.param_groups()) lrs.push_back(group.get_lr());
  return lrs;
}

void LRScheduler::set_optimizer_lrs(const std::vector<double>& learning_rates) {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  CRESSET_CHECK_AS(ValueError, learning_rates.size() == groups.size(), name(), ": found ", learning_rates.size(),
                   " learning rates (expected ", groups.size(), ", one for each parameter group)");
  for (size_t g = 0; g < groups.size(); g++) groups[g].set_lr(learning_rates[g]);
  last_lr_ = learning_rates;
}

std::vector<double> LRScheduler::scaled(double factor) const {
  std::vector<double> lrs = get_current_lrs();
  for (double& lr : lrs) lr *= factor;
  return lrs;
}
std::vector<double> LRScheduler::scaled_base(double factor) const {
  std::vector<double> lrs = base_lrs_;
  for (double& lr : lrs) lr *= factor;
  return lrs;
}

SchedulerFields LRScheduler::all_fields() {
  SchedulerFields all = fields();
  for (SchedulerField field : SchedulerFields{{"base_lrs", &base_lrs_},
                                              {"last_epoch", &last_epoch_},
                                              {"verbose", IValue(false)},
                                              {"_step_count", &step_count_},
                                              {"_get_lr_called_within_step", IValue(false)},
                                              {"_last_lr", &last_lr_}})
    all.push_back(std::move(field));
  return all;
}
// The fields are pointers to members, for reading and for writing.
IValue LRScheduler::state_dict() const { return detail::written(const_cast<LRScheduler*>(this)->all_fields()); }
void LRScheduler::load_state_dict(const IValue& dict) { detail::read(name(), all_fields(), dict); }

namespace {

template <class F>
bool with_momentum(OptimizerParamGroup& group, const F& f) {
  for (OptionField& field : group.options().fields()) {
    const std::string_view name = field.name;
    if (name == "momentum")
      f(*std::get<double*>(field.value));
    else if (name == "betas")
      f(std::get<0>(*std::get<Pair*>(field.value)));
    else
      continue;
    return true;
  }
  return false;
}

}  // namespace

std::optional<double> momentum_of(OptimizerParamGroup& group) {
  std::optional<double> found;
  with_momentum(group, [&](double& held) { found = held; });
  return found;
}
void set_momentum(OptimizerParamGroup& group, double momentum) {
  const bool has = with_momentum(group, [&](double& held) { held = momentum; });
  CRESSET_CHECK_AS(ValueError, has, "set_momentum: the optimizer's options have neither momentum nor betas");
}

namespace detail {
namespace {

template <class T>
std::vector<T> numbers_in(const IValue& value) {
  std::vector<T> numbers;
  for (const IValue& item : value.elements()) {
    if constexpr (std::is_same_v<T, double>)
      numbers.push_back(item.isTensor() ? item.toTensor().item<double>() : item.toDouble());
    else
      numbers.push_back(item.toInt());
  }
  return numbers;
}

void read(const SchedulerField& field, const IValue& value) {
  if (auto* p = std::get_if<double*>(&field.value)) **p = value.toDouble();
  if (auto* p = std::get_if<int64_t*>(&field.value)) **p = value.toInt();
  if (auto* p = std::get_if<unsigned*>(&field.value)) **p = static_cast<unsigned>(value.toInt());
  if (auto* p = std::get_if<bool*>(&field.value)) **p = value.toBool();
  if (auto* p = std::get_if<std::string*>(&field.value)) **p = value.toStringRef();
  if (auto* p = std::get_if<std::vector<double>*>(&field.value)) **p = numbers_in<double>(value);
  if (auto* p = std::get_if<std::vector<int64_t>*>(&field.value)) **p = numbers_in<int64_t>(value);
}

}  // namespace

IValue written(const SchedulerFields& fields) {
  IValue::Dict dict;
  for (const SchedulerField& field : fields)
    dict[field.name] = std::visit(
        []<class T>(const T& held) {
          if constexpr (std::is_same_v<T, IValue>)
            return held;
          else if constexpr (std::is_same_v<T, unsigned*>)
            return IValue(static_cast<int64_t>(*held));
          else
            return IValue(*held);
        },
        field.value);
  return dict;
}

void read(const char* scheduler, const SchedulerFields& fields, const IValue& value) {
  const IValue::Dict& dict = value.toDict();
  std::string missing;
  for (const SchedulerField& field : fields)
    if (!std::holds_alternative<IValue>(field.value) && !dict.contains(field.name))
      missing += (missing.empty() ? "'" : ", '") + std::string(field.name) + "'";
  CRESSET_CHECK_AS(ValueError, missing.empty(), scheduler, ": load_state_dict: the dict has no ", missing);
  for (const SchedulerField& field : fields)
    if (!std::holds_alternative<IValue>(field.value)) try {
        read(field, dict.at(field.name));
      } catch (const TypeError& error) {
        throw TypeError(message_of(scheduler, ": load_state_dict: '", field.name, "': ", error.what()));
      }
}

}  // namespace detail
}  // namespace cresset::optim
