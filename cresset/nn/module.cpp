// Module's registering, walking, moving and printing.
#include "cresset/nn/module.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "cresset/core/print.h"
#include "cresset/nn/module_hooks.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace {

void check_name(const char* kind, const std::string& name) {
  CRESSET_CHECK_AS(ValueError, !name.empty(), kind, " name must not be empty (got '')");
  CRESSET_CHECK_AS(ValueError, name.find('.') == std::string::npos, kind, " name must not contain a dot (got '", name,
                   "')");
}

std::string joined(const std::string& prefix, const std::string& name) {
  if (prefix.empty()) return name;
  return name.empty() ? prefix : prefix + "." + name;
}

}  // namespace

Module::Module()
    : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule"), computed_("Computed parameter") {}
Module::Module(std::string name) : Module() { name_ = std::move(name); }
Module::Module(const Module& other)
    : serialize::Archivable(other),
      std::enable_shared_from_this<Module>(other),
      parameters_(other.parameters_),
      buffers_(other.buffers_),
      children_(other.children_),
      non_persistent_(other.non_persistent_),
      computed_(other.computed_),
      name_(other.name_),
      call_(other.call_),
      hooks_(other.hooks_ ? std::make_shared<ModuleHooks>(*other.hooks_) : nullptr),
      is_training_(other.is_training_),
      hooked_(other.hooked_) {
  if (hooks_) hooks_->owner = this;
}
Module::~Module() {
  if (hooks_) hooks_->owner = nullptr;
  if (binding_.module_gone) binding_.module_gone(binding_.object);
}

const std::string& Module::name() const {
  if (!name_) name_ = detail::demangled(typeid(*this));
  return *name_;
}

std::string short_name(const Module& module) {
  std::string name = module.name();
  int depth = 0;  // of template arguments, whose own :: do not count
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>') depth++;
    if (name[i] == '<') depth--;
    if (name[i] == ':' && depth == 0) {
      name.erase(0, i + 1);
      break;
    }
  }
  if (name.size() > 4 && name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

std::shared_ptr<Module> Module::shared_self() const {
  auto self = const_cast<Module*>(this)->weak_from_this().lock();
  CRESSET_CHECK_AS(ValueError, self, short_name(*this),
                   ": asked for itself as a shared_ptr, but it is not held by one (expected a module made by "
                   "std::make_shared or a holder; modules(/*include_self=*/false) leaves the module itself out)");
  return self;
}

// ---- registering
Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  CRESSET_CHECK_AS(ValueError, !buffers_.contains(name), "Parameter '", name, "' is already defined as a buffer");
  CRESSET_CHECK_AS(ValueError, !children_.contains(name), "Parameter '", name, "' is already defined as a submodule");
  if (tensor.defined() && tensor.requires_grad() != requires_grad) tensor.requires_grad_(requires_grad);
  return parameters_.insert(std::move(name), std::move(tensor));
}
Tensor& Module::register_buffer(std::string name, Tensor tensor, bool persistent) {
  check_name("Buffer", name);
  CRESSET_CHECK_AS(ValueError, !parameters_.contains(name), "Buffer '", name, "' is already defined as a parameter");
  CRESSET_CHECK_AS(ValueError, !children_.contains(name), "Buffer '", name, "' is already defined as a submodule");
  if (!persistent) non_persistent_.push_back(name);
  return buffers_.insert(std::move(name), std::move(tensor));
}
void Module::unregister_parameter(const std::string& name) { parameters_.erase(name); }
void Module::unregister_buffer(const std::string& name) {
  buffers_.erase(name);
  std::erase(non_persistent_, name);
}
namespace {
// Walks would never end, and modules that own each other are never freed.
void refuse_cycle(const Module& parent, const std::string& name, const Module& child) {
  child.apply(Module::ConstModuleApplyFunction([&](const Module& below) {
    CRESSET_CHECK_AS(ValueError, &below != &parent, "Submodule '", name, "' of ", short_name(parent),
                     " is or holds that ", short_name(parent), " itself (expected a module that does not)");
  }));
}
}  // namespace

void Module::add_module(std::string name, std::shared_ptr<Module> module, CallFunction function) {
  check_name("Submodule", name);
  CRESSET_CHECK_AS(ValueError, module, "Submodule '", name, "' is null (expected a module)");
  CRESSET_CHECK_AS(ValueError, !parameters_.contains(name) && !buffers_.contains(name), "Submodule '", name,
                   "' is already defined as a parameter or buffer");
  refuse_cycle(*this, name, *module);
  if (function) detail::learn_call(*module, function);
  children_.insert(std::move(name), std::move(module));
}
void Module::exchange_module(const std::string& name, std::shared_ptr<Module> module, CallFunction function) {
  CRESSET_CHECK_AS(ValueError, module, "Submodule '", name, "' is null (expected a module)");
  refuse_cycle(*this, name, *module);
  if (function) detail::learn_call(*module, function);
  children_[name] = std::move(module);
}
void Module::unregister_module(const std::string& name) {
  CRESSET_CHECK_AS(ValueError, children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

// ---- walking
void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  for (auto& child : children_) child.value()->apply(function);
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function);
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  function(name_prefix, *this);
  for (auto& child : children_) child.value()->apply(function, joined(name_prefix, child.key()));
}
void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, *this);
  for (const auto& child : children_) std::as_const(*child.value()).apply(function, joined(name_prefix, child.key()));
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_self());
  for (const auto& child : children_) child.value()->apply(function);
}
void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  function(name_prefix, shared_self());
  for (const auto& child : children_) child.value()->apply(function, joined(name_prefix, child.key()));
}

namespace {
// Adds the defined tensors of one module that were not met before.
void add_unseen(const OrderedDict<std::string, Tensor>& from, const std::string& prefix,
                std::unordered_set<const void*>& seen, OrderedDict<std::string, Tensor>& into) {
  for (const auto& [name, tensor] : from)
    if (tensor.defined() && seen.insert(tensor.impl()).second) into.insert(joined(prefix, name), tensor);
}
}  // namespace

OrderedDict<std::string, Tensor> Module::named_parameters(bool recurse) const {
  OrderedDict<std::string, Tensor> result("Parameter");
  std::unordered_set<const void*> seen;
  if (!recurse) {
    add_unseen(parameters_, "", seen, result);
    return result;
  }
  apply(ConstNamedModuleApplyFunction(
      [&](const std::string& prefix, const Module& module) { add_unseen(module.parameters_, prefix, seen, result); }));
  return result;
}
std::vector<Tensor> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }

OrderedDict<std::string, Tensor> Module::named_buffers(bool recurse) const {
  OrderedDict<std::string, Tensor> result("Buffer");
  std::unordered_set<const void*> seen;
  if (!recurse) {
    add_unseen(buffers_, "", seen, result);
    return result;
  }
  apply(ConstNamedModuleApplyFunction(
      [&](const std::string& prefix, const Module& module) { add_unseen(module.buffers_, prefix, seen, result); }));
  return result;
}
std::vector<Tensor> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& name_prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> result("Submodule");
  std::unordered_set<const Module*> seen;
  auto add = [&](const std::string& name, const std::shared_ptr<Module>& module) {
    if (seen.insert(module.get()).second) result.insert(name, module);
  };
  if (include_self) {
    apply(NamedModulePointerApplyFunction(add), name_prefix);
  } else {
    for (const auto& child : children_)
      child.value()->apply(NamedModulePointerApplyFunction(add), joined(name_prefix, child.key()));
  }
  return result;
}
std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return named_modules("", include_self).values();
}
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const {
  OrderedDict<std::string, std::shared_ptr<Module>> result("Submodule");
  std::unordered_set<const Module*> seen;
  for (const auto& [name, child] : children_)
    if (seen.insert(child.get()).second) result.insert(name, child);
  return result;
}
std::vector<std::shared_ptr<Module>> Module::children() const { return named_children().values(); }

// ---- changing what it owns
void Module::train(bool on) {
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

void Module::to(Device device, DType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, dtype, non_blocking);
  move_tensors(device, dtype, non_blocking);
}
void Module::to(DType dtype, bool non_blocking) {
  for (auto& child : children_) child.value()->to(dtype, non_blocking);
  move_tensors(std::nullopt, dtype, non_blocking);
}
void Module::to(Device device, bool non_blocking) {
  for (auto& child : children_) child.value()->to(device, non_blocking);
  move_tensors(device, std::nullopt, non_blocking);
}

void Module::move_tensors(std::optional<Device> device, std::optional<DType> dtype, bool non_blocking) {
  CRESSET_CHECK_AS(TypeError, !dtype || is_differentiable(*dtype), "Module.to: found dtype ", name_of(*dtype),
                   " (expected a floating point or complex one)");
  NoGradGuard no_grad;
  auto moved = [&](const Tensor& tensor) {
    DType target = dtype && is_differentiable(tensor.dtype()) ? *dtype : tensor.dtype();
    return tensor.to(device.value_or(tensor.device()), target, non_blocking);
  };
  auto move = [&](const Tensor& tensor) {
    if (!tensor.defined()) return;
    Tensor values = moved(tensor.variable_data());
    if (values.dtype() == tensor.dtype() && values.device() == tensor.device()) return;
    Tensor gradient;
    if (tensor.grad().defined()) gradient = std::exchange(tensor.mutable_grad(), Tensor());
    tensor.set_data(values);
    if (gradient.defined()) tensor.mutable_grad() = moved(gradient);
  };
  for (auto& parameter : parameters_) move(parameter.value());
  for (auto& buffer : buffers_) move(buffer.value());
}

void Module::zero_grad(bool set_to_none) {
  NoGradGuard no_grad;
  for (Tensor& parameter : parameters()) {
    Tensor& gradient = parameter.mutable_grad();
    if (!gradient.defined()) continue;
    if (set_to_none)
      gradient = Tensor();
    else
      gradient.detach_().zero_();
  }
}
void Module::requires_grad_(bool on) {
  for (Tensor& parameter : parameters()) parameter.requires_grad_(on);
}

// ---- printing
// libtorch's classes have pretty names but for its transformers; a user's class keeps its whole name.
static std::string libtorch_name(const Module& module) {
  constexpr std::string_view own = "cresset::nn::";
  if (!module.name().starts_with(own)) return module.name();
  const std::string name = "torch::nn::" + short_name(module);
  return name.starts_with("torch::nn::Transformer") ? name + "Impl" : name;
}

void Module::pretty_print(std::ostream& stream) const {
  stream << (print_style() == PrintStyle::libtorch ? libtorch_name(*this) : short_name(*this));
}

void Module::print_tree(std::ostream& stream, const std::string& indentation) const {
  const bool as_libtorch = print_style() == PrintStyle::libtorch;  // which indents only names of submodules
  // A module's own text may have several lines.
  std::ostringstream own;
  pretty_print(own);
  for (char c : own.str()) {
    stream << c;
    if (c == '\n' && !as_libtorch) stream << indentation;
  }
  if (children_.is_empty()) {
    if (!as_libtorch && own.str().find('(') == std::string::npos) stream << "()";
    return;
  }
  stream << "(\n";
  const std::string deeper = indentation + "  ";
  for (const auto& [name, child] : children_) {
    stream << deeper << "(" << name << "): ";
    child->print_tree(stream, deeper);
    stream << '\n';
  }
  stream << indentation << ")";
}

std::ostream& operator<<(std::ostream& stream, const Module& module) {
  module.print_tree(stream, "");
  return stream;
}

}  // namespace cresset::nn
