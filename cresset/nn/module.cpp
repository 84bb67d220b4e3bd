// Module's registering, walking, moving and printing.
#include "cresset/nn/module.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "cresset/core/print.h"
#include "cresset/core/stack_room.h"
#include "cresset/core/warning.h"
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

namespace {
// Destructors of modules that stand inside each other on this thread. The outermost one frees what lies deeper.
struct FreeingModules {
  int depth = 0;
  std::vector<std::shared_ptr<Module>>* waiting = nullptr;
};
constinit thread_local FreeingModules freeing_modules;
constexpr int kFreedDirectly = 32;
}  // namespace

Module& Module::operator=(const Module& other) {
  if (this != &other) *this = Module(other);
  return *this;
}
Module& Module::operator=(Module&& other) noexcept {
  if (this == &other) return *this;
  if (hooks_) hooks_->owner = nullptr;
  parameters_ = std::move(other.parameters_);
  buffers_ = std::move(other.buffers_);
  children_ = std::move(other.children_);
  non_persistent_ = std::move(other.non_persistent_);
  computed_ = std::move(other.computed_);
  name_ = std::move(other.name_);
  call_ = other.call_;
  hooks_ = std::move(other.hooks_);
  is_training_ = other.is_training_;
  hooked_ = std::exchange(other.hooked_, false);
  if (hooks_) hooks_->owner = this;
  return *this;
}
Module::~Module() {
  if (hooks_) hooks_->owner = nullptr;
  if (binding_.module_gone) binding_.module_gone(binding_.object);
  if (children_.is_empty()) return;
  if (freeing_modules.depth > kFreedDirectly) {
    for (auto& child : children_) freeing_modules.waiting->push_back(std::move(child.value()));
    return;
  }
  std::vector<std::shared_ptr<Module>> waiting;
  if (freeing_modules.depth++ == 0) freeing_modules.waiting = &waiting;
  children_.clear();
  while (!waiting.empty()) {  // empty but in the outermost
    const std::shared_ptr<Module> next = std::move(waiting.back());
    waiting.pop_back();
  }
  freeing_modules.depth--;
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
                   ": It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not "
                   "stored in a shared_ptr. Use std::make_shared or a holder instead of creating your module on the "
                   "stack, or pass /*include_self=*/false to modules() or named_modules(), which leaves it out");
  return self;
}

// ---- registering
Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_name("Parameter", name);
  CRESSET_CHECK_AS(ValueError, !buffers_.contains(name), "Parameter '", name, "' is already defined as a buffer");
  CRESSET_CHECK_AS(ValueError, !children_.contains(name), "Parameter '", name, "' is already defined as a submodule");
  if (!tensor.defined() && requires_grad)
    CRESSET_WARN(short_name(*this), ": parameter '", name,
                 "': An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
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

void Module::take_child(const std::string& name, Module& child, CallFunction function) const {
  // Walks would never end, and modules that own each other are never freed.
  const auto refuse_itself = [&](const std::string&, const Module& below) {
    CRESSET_CHECK_AS(ValueError, &below != this, "Submodule '", name, "' of ", short_name(*this), " is or holds that ",
                     short_name(*this), " itself (expected a module that does not)");
  };
  std::string unused;
  if (is_child_)
    walk(std::as_const(child), unused, refuse_itself);
  else
    refuse_itself(unused, child);
  child.is_child_ = true;
  if (function) detail::learn_call(child, function);
}

void Module::add_module(std::string name, std::shared_ptr<Module> module, CallFunction function) {
  check_name("Submodule", name);
  CRESSET_CHECK_AS(ValueError, module, "Submodule '", name, "' is null (expected a module)");
  CRESSET_CHECK_AS(ValueError, !parameters_.contains(name) && !buffers_.contains(name), "Submodule '", name,
                   "' is already defined as a parameter or buffer");
  take_child(name, *module, function);
  children_.insert(std::move(name), std::move(module));
}
void Module::exchange_module(const std::string& name, std::shared_ptr<Module> module, CallFunction function) {
  CRESSET_CHECK_AS(ValueError, module, "Submodule '", name, "' is null (expected a module)");
  take_child(name, *module, function);
  children_[name] = std::move(module);
}
void Module::unregister_module(const std::string& name) {
  CRESSET_CHECK_AS(ValueError, children_.contains(name), "No Module with name `", name, "` is registered");
  children_.erase(name);
}

// ---- walking
// f(name, module) for the root and all below, parents first. `name` is the root's and grows and shrinks on the way.
template <class M, class F>
void Module::walk(M& root, std::string& name, const F& f) {
  struct Level {
    M* module;
    size_t next, name_size;
  };
  f(std::as_const(name), root);
  std::vector<Level> levels{{&root, 0, name.size()}};
  while (!levels.empty()) {
    auto& [module, next, name_size] = levels.back();
    name.resize(name_size);
    if (next == module->children_.size()) {
      levels.pop_back();
      continue;
    }
    const auto& child = module->children_[next++];
    if (!name.empty()) name += '.';
    name += child.key();
    M& below = *child.value();
    f(std::as_const(name), below);
    if (!below.children_.is_empty()) levels.push_back({&below, 0, name.size()});
  }
}

void Module::apply(const ModuleApplyFunction& function) {
  std::string name;
  walk(*this, name, [&](const std::string&, Module& module) { function(module); });
}
void Module::apply(const ConstModuleApplyFunction& function) const {
  std::string name;
  walk(*this, name, [&](const std::string&, const Module& module) { function(module); });
}
void Module::apply(const NamedModuleApplyFunction& function, const std::string& name_prefix) {
  std::string name = name_prefix;
  walk(*this, name, function);
}
void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix) const {
  std::string name = name_prefix;
  walk(*this, name, function);
}
void Module::apply(const ModulePointerApplyFunction& function) const {
  std::string name;
  walk(*this, name, [&](const std::string&, const Module& module) { function(module.shared_self()); });
}
void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix) const {
  std::string name = name_prefix;
  walk(*this, name, [&](const std::string& at, const Module& module) { function(at, module.shared_self()); });
}

void Module::tell_before_load(const StateDict& state) {
  std::string name;
  walk(*this, name, [&](const std::string&, Module& module) {
    const bool below = !name.empty();
    if (below) name += '.';
    module.before_load(state, name);
    if (below) name.pop_back();
  });
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

namespace {
// Without the names, which grow with the depth.
void add_unseen(const OrderedDict<std::string, Tensor>& from, std::unordered_set<const void*>& seen,
                std::vector<Tensor>& into) {
  for (const auto& item : from)
    if (item.value().defined() && seen.insert(item.value().impl()).second) into.push_back(item.value());
}
}  // namespace

std::vector<Tensor> Module::parameters(bool recurse) const {
  std::vector<Tensor> result;
  std::unordered_set<const void*> seen;
  if (recurse)
    apply(ConstModuleApplyFunction([&](const Module& module) { add_unseen(module.parameters_, seen, result); }));
  else
    add_unseen(parameters_, seen, result);
  return result;
}

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
std::vector<Tensor> Module::buffers(bool recurse) const {
  std::vector<Tensor> result;
  std::unordered_set<const void*> seen;
  if (recurse)
    apply(ConstModuleApplyFunction([&](const Module& module) { add_unseen(module.buffers_, seen, result); }));
  else
    add_unseen(buffers_, seen, result);
  return result;
}

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
  std::vector<std::shared_ptr<Module>> result;
  std::unordered_set<const Module*> seen;
  apply(ConstModuleApplyFunction([&](const Module& module) {
    if ((include_self || &module != this) && seen.insert(&module).second) result.push_back(module.shared_self());
  }));
  return result;
}
OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }
std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

// ---- changing what it owns
void check_module_depth(const char* what, const Module& module) {
  CRESSET_CHECK_AS(ValueError, !stack_is_short(), what, ": modules are nested too deep for the stack, down to ",
                   short_name(module), ": ", stack_text());
}

void Module::train(bool on) {
  check_module_depth("Module.train", *this);
  for (auto& child : children_) child.value()->train(on);
  is_training_ = on;
}

void Module::to(Device device, DType dtype, bool non_blocking) {
  check_module_depth("Module.to", *this);
  for (auto& child : children_) child.value()->to(device, dtype, non_blocking);
  move_tensors(device, dtype, non_blocking);
}
void Module::to(DType dtype, bool non_blocking) {
  check_module_depth("Module.to", *this);
  for (auto& child : children_) child.value()->to(dtype, non_blocking);
  move_tensors(std::nullopt, dtype, non_blocking);
}
void Module::to(Device device, bool non_blocking) {
  check_module_depth("Module.to", *this);
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
  constexpr size_t kDeepestPrinted = 100;
  if (indentation.size() / 2 > kDeepestPrinted) {
    stream << short_name(*this) << "(... nested deeper than " << kDeepestPrinted << ")";
    return;
  }
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
