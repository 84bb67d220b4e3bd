#include "cresset/nn/containers/sequential.h"

#include <unordered_map>

namespace cresset::nn {

SequentialImpl::SequentialImpl(const OrderedDict<std::string, AnyModule>& modules) {
  for (const auto& item : modules) push_back(item.key(), item.value());
}
SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> modules) {
  for (const NamedAnyModule& named : modules) push_back(named.name(), named.module());
}

void SequentialImpl::push_back(const NamedAnyModule& named) { push_back(named.name(), named.module()); }
void SequentialImpl::push_back(AnyModule module) { push_back(std::to_string(modules_.size()), std::move(module)); }
void SequentialImpl::push_back(const std::string& name, AnyModule module) {
  register_module(name, module.ptr());
  modules_.push_back(std::move(module));
}

AnyValue SequentialImpl::any_forward(AnyValues& arguments) {
  CRESSET_CHECK_AS(ValueError, !modules_.empty(), "Cannot call forward() on an empty Sequential");
  AnyValue result = modules_[0].call(arguments);
  for (size_t i = 1; i < modules_.size(); i++) {
    arguments.clear();
    arguments.push_back(std::move(result));
    result = modules_[i].call(arguments);
  }
  return result;
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto copy = std::make_shared<SequentialImpl>();
  copy_settings_into(*copy);
  copy->rebuild_as(*this, device);
  return copy;
}

bool SequentialImpl::rebuild_as(const Module& original, const std::optional<Device>& device) {
  const auto& from = static_cast<const SequentialImpl&>(original);
  const std::vector<std::string> names = from.registered_names();
  std::unordered_map<const Module*, AnyModule> copies;  // a module that stands in two places is copied once
  clear_registered();
  modules_.clear();
  for (size_t i = 0; i < from.modules_.size(); i++) {
    const Module* module = from.modules_[i].ptr().get();
    auto at = copies.find(module);
    if (at == copies.end()) at = copies.emplace(module, from.modules_[i].clone(device)).first;
    push_back(names[i], at->second);
  }
  return true;
}

const AnyModule& SequentialImpl::checked(size_t index) const {
  CRESSET_CHECK_AS(IndexError, index < size(), "Sequential: Index out of range: found ", index, " (expected less than ",
                   size(), ")");
  return modules_[index];
}

Sequential::Sequential() : ModuleHolder() {}
Sequential::Sequential(std::initializer_list<NamedAnyModule> modules)
    : ModuleHolder(std::make_shared<SequentialImpl>(modules)) {}

}  // namespace cresset::nn
