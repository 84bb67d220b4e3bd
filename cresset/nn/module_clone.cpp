// Deep copies of modules: what Cloneable does that does not depend on the type.
#include <unordered_map>
#include <unordered_set>

#include "cresset/nn/module_hooks.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace {

Tensor copy_on(const Tensor& tensor, const std::optional<Device>& device) {
  return device && *device != tensor.device() ? tensor.variable_data().to(*device) : tensor.variable_data().clone();
}

}  // namespace

std::shared_ptr<Module> Module::clone(const std::optional<Device>&) const {
  std::string name = short_name(*this);
  throw NotImplementedError(message_of("clone() has not been implemented for ", name,
                                       ". Subclass cresset::nn::Cloneable<", name,
                                       "> instead of cresset::nn::Module to inherit the ability to clone."));
}

void Module::clear_registered() {
  parameters_.clear();
  buffers_.clear();
  children_.clear();
  computed_.clear();
  non_persistent_.clear();
}

namespace {
void check_same_count(const Module& module, const char* what, size_t found, size_t wanted) {
  CRESSET_CHECK_AS(ValueError, found == wanted, short_name(module),
                   ".clone: The cloned module does not have the same number of ",
                   what == std::string_view("module") ? "child " : "", what,
                   "s as the original module after calling reset(). Are you sure you called register_", what,
                   "() inside reset() and not the constructor? (found ", found, ", expected ", wanted, ")");
}
}  // namespace

void Module::copy_computed_into(Module& copy, const std::optional<Device>& device) const {
  for (const auto& [name, entry] : computed_) {
    if (copy.computed_.contains(name)) continue;
    for (const std::string& source : entry.sources) {
      if (const Tensor* parameter = parameters_.find(source))
        copy.register_parameter(source, copy_on(*parameter, device), parameter->requires_grad());
      else if (const Tensor* buffer = buffers_.find(source))
        copy.register_buffer(source, copy_on(*buffer, device));
    }
    copy.take_as_computed(name, entry.kind, entry.sources, entry.hook);
    copy.set_computed(name, copy_on(entry.tensor, device));
  }
}

bool Module::rebuild_as(const Module&, const std::optional<Device>&) { return false; }

void Module::copy_settings_into(Module& copy) const {
  copy.is_training_ = is_training_;
  if (!copy.call_) copy.call_ = call_;
  if (!hooks_ || copy.hooks_) return;
  copy.hooks_ = std::make_shared<ModuleHooks>(*hooks_);
  copy.hooks_->owner = &copy;
  copy.hooked_ = hooked_;
}

void Module::copy_values_into(Module& copy, const std::optional<Device>& device) const {
  check_module_depth("Module.clone", *this);
  copy_settings_into(copy);
  if (copy.children_.keys() != children_.keys() || copy.parameters_.keys() != parameters_.keys())
    if (copy.rebuild_as(*this, device)) return;
  copy_computed_into(copy, device);
  check_same_count(*this, "parameter", copy.parameters_.size(), parameters_.size());
  check_same_count(*this, "buffer", copy.buffers_.size(), buffers_.size());
  check_same_count(*this, "module", copy.children_.size(), children_.size());
  for (const auto& [name, tensor] : parameters_) {
    Tensor& other = copy.parameters_[name];
    if (!tensor.defined()) {
      other = Tensor();
    } else if (!other.is_same(tensor)) {
      if (other.requires_grad() != tensor.requires_grad()) other.requires_grad_(tensor.requires_grad());
      other.set_data(copy_on(tensor, device));
    }
  }
  for (const auto& [name, tensor] : buffers_) {
    Tensor& other = copy.buffers_[name];
    if (tensor.defined() && other.defined() && !other.is_same(tensor)) other.set_data(copy_on(tensor, device));
  }
  copy.non_persistent_ = non_persistent_;
  std::unordered_set<const Module*> done;  // a child may have two names
  for (const auto& [name, child] : children_) {
    Module& other = *copy.children_[name];
    if (&other == child.get() || !done.insert(&other).second) continue;
    if (!child->copy_whole_into(other, device)) child->copy_values_into(other, device);
  }
}

namespace {
// By whom everything below a module is held, in the order of a walk.
std::vector<size_t> holders_below(const Module& module) {
  std::vector<size_t> counts;
  const auto count = [&](const Module& below, auto& self) -> void {
    for (const bool of_parameters : {true, false}) {
      const auto tensors = of_parameters ? below.named_parameters(false) : below.named_buffers(false);
      for (const auto& [name, tensor] : tensors) counts.push_back(tensor.use_count());
    }
    for (const auto& [name, child] : below.named_children()) {
      counts.push_back(static_cast<size_t>(child.use_count()));
      self(*child, self);
    }
  };
  count(module, count);
  return counts;
}
}  // namespace

bool Module::become(Module&) { return false; }
bool Module::can_become() const { return false; }

// The copy's child becomes a clone of this one. Its tensors and submodules are then others than reset() made: where
// anybody but the child itself holds one of those (tied weights, a submodule in two places), they have to stay.
bool Module::copy_whole_into(Module& copy, const std::optional<Device>& device) const {
  bool all_can = typeid(*this) == typeid(copy);
  apply(ConstModuleApplyFunction([&](const Module& below) { all_can = all_can && below.can_become(); }));
  if (!all_can) return false;
  std::shared_ptr<Module> whole;
  try {
    whole = clone(device);
  } catch (const Error&) {  // it needs what its parent's reset() adds to it
    return false;
  }
  const std::vector<size_t> made = holders_below(copy), cloned = holders_below(*whole);
  if (made.size() != cloned.size()) return false;
  for (size_t i = 0; i < made.size(); i++)
    if (made[i] > cloned[i]) return false;
  return copy.become(*whole);
}

void Module::finish_clone(Module& copy, const std::optional<Device>& device) const {
  NoGradGuard no_grad;
  copy_values_into(copy, device);
  // What is one tensor here must be one in the copy, or it would train as two.
  auto walk = [](const Module& module) {
    std::vector<std::pair<std::string, Tensor>> all;
    module.apply(ConstNamedModuleApplyFunction([&](const std::string& prefix, const Module& m) {
      const std::string start = prefix.empty() ? "" : prefix + ".";
      for (const auto& [name, tensor] : m.parameters_)
        if (tensor.defined()) all.emplace_back(start + name, tensor);
    }));
    return all;
  };
  auto originals = walk(*this), copies = walk(copy);
  std::unordered_map<const void*, size_t> seen;
  for (size_t i = 0; i < originals.size() && i < copies.size(); i++) {
    auto [at, fresh] = seen.emplace(originals[i].second.impl(), i);
    CRESSET_CHECK_AS(ValueError, fresh || copies[i].second.is_same(copies[at->second].second), short_name(*this),
                     ".clone: parameters '", originals[at->second].first, "' and '", originals[i].first,
                     "' are one tensor, but two in the copy (expected reset() to share them)");
  }
}

}  // namespace cresset::nn
