#include "cresset/nn/containers/module_list.h"

#include "cresset/nn/module_hooks.h"

#include <unordered_map>

namespace cresset::nn {

void ModuleListImpl::append(std::shared_ptr<Module> module, CallFunction function) {
  register_module(std::to_string(modules_.size()), module);
  if (function) detail::learn_call(*module, function);
  modules_.push_back(std::move(module));
}

void ModuleListImpl::insert_at(size_t index, std::shared_ptr<Module> module, CallFunction function) {
  CRESSET_CHECK_AS(IndexError, index <= size(), "ModuleList: Index out of range: found ", index, " (expected at most ",
                   size(), ")");
  if (index == size()) return append(std::move(module), function);
  append(modules_.back(), nullptr);
  for (size_t i = size() - 2; i > index; i--) modules_[i] = modules_[i - 1];
  if (function) detail::learn_call(*module, function);
  modules_[index] = std::move(module);
  for (size_t i = index; i < size(); i++) replace_module(std::to_string(i), modules_[i]);
}

const std::shared_ptr<Module>& ModuleListImpl::checked(size_t index) const {
  CRESSET_CHECK_AS(IndexError, index < size(), "ModuleList: Index out of range: found ", index, " (expected less than ",
                   size(), ")");
  return modules_[index];
}

void ModuleListImpl::wrong_type(size_t index, const std::type_info& wanted) const {
  throw TypeError(message_of("ModuleList: module ", index, " is of type ", modules_[index]->name(), " (asked for ",
                             detail::demangled(wanted), ")"));
}

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  check_module_depth("Module.clone", *this);
  auto copy = std::make_shared<ModuleListImpl>();
  copy_settings_into(*copy);
  copy->rebuild_as(*this, device);
  return copy;
}

bool ModuleListImpl::rebuild_as(const Module& original, const std::optional<Device>& device) {
  const auto& from = static_cast<const ModuleListImpl&>(original);
  std::unordered_map<const Module*, std::shared_ptr<Module>> copies;
  clear_registered();
  modules_.clear();
  for (const auto& module : from.modules_) {
    auto& copy = copies[module.get()];
    if (!copy) copy = module->clone(device);
    append(copy, nullptr);
  }
  return true;
}

}  // namespace cresset::nn
