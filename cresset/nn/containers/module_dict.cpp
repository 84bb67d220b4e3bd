#include "cresset/nn/containers/module_dict.h"

#include "cresset/nn/module_hooks.h"

#include <unordered_map>

namespace cresset::nn {

ModuleDictImpl::ModuleDictImpl() : modules_("Submodule") {}
ModuleDictImpl::ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules)
    : ModuleDictImpl() {
  update(modules);
}
ModuleDictImpl::ModuleDictImpl(const Modules& modules) : ModuleDictImpl() { update(modules); }

void ModuleDictImpl::update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
  for (const auto& [key, module] : modules) insert(key, module);
}
std::vector<std::pair<std::string, std::shared_ptr<Module>>> ModuleDictImpl::items() const { return modules_.pairs(); }
std::vector<std::string> ModuleDictImpl::keys() const { return modules_.keys(); }
std::vector<std::shared_ptr<Module>> ModuleDictImpl::values() const { return modules_.values(); }
bool ModuleDictImpl::contains(const std::string& key) const noexcept { return modules_.contains(key); }
std::shared_ptr<Module> ModuleDictImpl::operator[](const std::string& key) const { return modules_[key]; }

void ModuleDictImpl::insert(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    replace_module(key, module);
    modules_[key] = std::move(module);
  } else {
    register_module(key, module);
    modules_.insert(key, std::move(module));
  }
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = modules_[key];
  unregister_module(key);
  modules_.erase(key);
  return module;
}

void ModuleDictImpl::clear() {
  for (const std::string& key : keys()) unregister_module(key);
  modules_.clear();
}

void ModuleDictImpl::wrong_type(const std::string& key, const std::type_info& wanted) const {
  throw TypeError(message_of("ModuleDict: module '", key, "' is of type ", modules_[key]->name(), " (asked for ",
                             detail::demangled(wanted), ")"));
}

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  check_module_depth("Module.clone", *this);
  auto copy = std::make_shared<ModuleDictImpl>();
  copy_settings_into(*copy);
  copy->rebuild_as(*this, device);
  return copy;
}

bool ModuleDictImpl::rebuild_as(const Module& original, const std::optional<Device>& device) {
  const auto& from = static_cast<const ModuleDictImpl&>(original);
  std::unordered_map<const Module*, std::shared_ptr<Module>> copies;
  clear_registered();
  modules_.clear();
  for (const auto& [key, module] : from.modules_) {
    auto& copy = copies[module.get()];
    if (!copy) copy = module->clone(device);
    insert(key, copy);
  }
  return true;
}

}  // namespace cresset::nn
