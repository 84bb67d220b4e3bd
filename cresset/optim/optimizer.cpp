#include "cresset/optim/optimizer.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <typeinfo>
#include <unordered_map>

#include "cresset/autograd/variable.h"
#include "cresset/core/warning.h"
#include "cresset/ops/all.h"
#include "cresset/optim/fields.h"
#include "cresset/optim/step_observer.h"

namespace cresset::optim {

static std::atomic<StepObserver> step_observer{nullptr};
StepObserver set_step_observer(StepObserver observer) { return step_observer.exchange(observer); }

std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  throw NotImplementedError(
      "OptimizerOptions::clone: this class does not override it (derive from OptimizerCloneableOptions)");
}
OptionFields OptimizerOptions::fields() {
  OptionFields none;
  none.listed = false;
  return none;
}
double OptimizerOptions::get_lr() const {
  throw NotImplementedError("OptimizerOptions::get_lr: this class of options has no learning rate");
}
void OptimizerOptions::set_lr(const double) {
  throw NotImplementedError("OptimizerOptions::set_lr: this class of options has no learning rate");
}

namespace detail {

void check_option(bool holds, const char* optimizer, const char* what, double found, const char* expected) {
  CRESSET_CHECK_AS(ValueError, holds, optimizer, ": Invalid ", what, ": ", found, " (expected ", expected, ")");
}
void check_lr(const char* optimizer, double lr) { check_option(lr >= 0, optimizer, "learning rate", lr, "0 or more"); }
void check_betas(const char* optimizer, const Pair& betas) {
  const auto [first, second] = betas;
  check_option(first >= 0 && first < 1, optimizer, "beta parameter at index 0", first, "0 or more, below 1");
  check_option(second >= 0 && second < 1, optimizer, "beta parameter at index 1", second, "0 or more, below 1");
}
std::string class_name(const std::type_info& type) {
  int status = 0;
  char* whole = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? whole : type.name();
  std::free(whole);
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

}  // namespace detail

static void refuse_to_serialize(const std::type_info& type) {
  throw NotImplementedError(message_of(detail::class_name(type),
                                       ": can be neither saved nor loaded, because the class does not say what is in "
                                       "it: override fields() (cresset/optim/fields.h), or both "
                                       "serialize(OutputArchive&) const and serialize(InputArchive&)"));
}
void Serialized::serialize(cresset::serialize::OutputArchive&) const { refuse_to_serialize(typeid(*this)); }
void Serialized::serialize(cresset::serialize::InputArchive&) { refuse_to_serialize(typeid(*this)); }

OptimizerOptions& OptimizerParamGroup::options() {
  return const_cast<OptimizerOptions&>(std::as_const(*this).options());
}
const OptimizerOptions& OptimizerParamGroup::options() const {
  CRESSET_CHECK_AS(ValueError, options_, "OptimizerParamGroup::options: this group has none yet");
  return *options_;
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> param_groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  CRESSET_CHECK_AS(ValueError, defaults_, "Optimizer: found no default options");
  defaults_->check({});
  const bool any = std::any_of(param_groups.begin(), param_groups.end(),
                               [](const OptimizerParamGroup& group) { return !group.params().empty(); });
  CRESSET_CHECK_AS(ValueError, any, detail::class_name(typeid(*defaults_)),
                   ": optimizer got an empty parameter list: found ", param_groups.size(),
                   " groups without a parameter (expected at least one; layers that were not given to register_module "
                   "are not among a module's parameters())");
  for (OptimizerParamGroup& group : param_groups) append_group(std::move(group));
}
Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}

void Optimizer::add_param_group(OptimizerParamGroup group) {
  if (group.params().empty())
    CRESSET_WARN("add_param_group: group ", param_groups_.size(),
                 " has no parameters, so that nothing of it is trained (layers that were not given to register_module "
                 "are not among a module's parameters())");
  append_group(std::move(group));
}

void Optimizer::append_group(OptimizerParamGroup group) {
  const size_t number = param_groups_.size();
  if (!group.has_options()) group.set_options(defaults_->clone());
  const OptimizerOptions &options = group.options(), &defaults = *defaults_;
  CRESSET_CHECK_AS(TypeError, typeid(options) == typeid(defaults), "add_param_group: group ", number, " has ",
                   detail::class_name(typeid(options)), " (expected ", detail::class_name(typeid(defaults)), ")");

  std::unordered_map<const TensorImpl*, std::pair<size_t, size_t>> known;
  for (size_t g = 0; g < number; g++)
    for (size_t i = 0; i < param_groups_[g].params().size(); i++) known[param_groups_[g].params()[i].impl()] = {g, i};
  for (size_t i = 0; i < group.params().size(); i++) {
    const Tensor& param = group.params()[i];
    CRESSET_CHECK_AS(ValueError, param.defined(), "add_param_group: parameter ", i, " of group ", number,
                     " is undefined (expected a tensor)");
    CRESSET_CHECK_AS(ValueError, param.is_leaf(), "add_param_group: can't optimize a non-leaf Tensor: parameter ", i,
                     " of group ", number, " is the result of an op");
    const auto [place, is_new] = known.try_emplace(param.impl(), number, i);
    CRESSET_CHECK_AS(ValueError, is_new,
                     "add_param_group: some parameters appear in more than one parameter group: parameter ", i,
                     " of group ", number, ", of shape ", text_of(param.sizes()), ", is parameter ",
                     place->second.second, " of group ", place->second.first);
  }
  group.options().check(group.params());
  param_groups_.push_back(std::move(group));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  if (param_groups_.empty()) return add_param_group(OptimizerParamGroup(parameters));
  std::vector<Tensor>& params = param_groups_[0].params();
  params.insert(params.end(), parameters.begin(), parameters.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  if (StepObserver observer = step_observer.load(std::memory_order_relaxed)) observer(*this);
  for (OptimizerParamGroup& group : param_groups_)
    for (const Tensor& param : group.params()) {
      autograd::AutogradData* data = autograd::autograd_data_or_null(param);
      if (!data || !data->grad.defined()) continue;
      if (set_to_none) {
        data->grad.reset();
        continue;
      }
      // A gradient that has a graph of its own (create_graph) lets go of it.
      if (data->grad.requires_grad()) data->grad = data->grad.detach();
      NoGradGuard no_grad;
      data->grad.zero_();
    }
}

size_t Optimizer::size() const noexcept {
  size_t count = 0;
  for (const OptimizerParamGroup& group : param_groups_) count += group.params().size();
  return count;
}

double Optimizer::get_lr() const {
  CRESSET_CHECK_AS(ValueError, !param_groups_.empty(), "Optimizer::get_lr: there is no parameter group");
  return param_groups_[0].get_lr();
}
void Optimizer::set_lr(double lr) {
  for (OptimizerParamGroup& group : param_groups_) group.set_lr(lr);
}

Tensor Optimizer::call(const LossClosure& closure) {
  has_stepped_ = true;
  if (!closure) return {};
  AutoGradMode on(true);
  return closure();
}

}  // namespace cresset::optim
