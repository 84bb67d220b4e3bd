// A module's values by name: state_dict, load_state_dict, deep copies, and parameters computed from others.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "cresset/io/serialize.h"
#include "cresset/nn/module_hooks.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace {

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

std::string shape_text(const Tensor& tensor) {
  std::string text = "torch.Size([";
  for (int64_t i = 0; i < tensor.dim(); i++) text += (i ? ", " : "") + std::to_string(tensor.size(i));
  return text + "])";
}

Tensor copy_on(const Tensor& tensor, const std::optional<Device>& device) {
  return device && *device != tensor.device() ? tensor.variable_data().to(*device) : tensor.variable_data().clone();
}

// What a module has and what a dict gives it, compared before anything is changed.
struct Comparison {
  IncompatibleKeys keys;
  std::vector<std::string> errors;
  std::vector<std::pair<Tensor, Tensor>> copies;

  Comparison(const StateDict& own, const StateDict& given) {
    for (const auto& [name, tensor] : own) {
      const Tensor* found = given.find(name);
      if (!found) {
        keys.missing_keys.push_back(name);
        continue;
      }
      if (!found->defined()) {
        errors.push_back(message_of("While copying the parameter named \"", name, "\", found an undefined tensor"));
        continue;
      }
      Tensor values = *found;
      if (tensor.dim() == 0 && values.dim() == 1 && values.size(0) == 1) values = values[0];  // old files
      if (!(values.sizes() == tensor.sizes()))
        errors.push_back(message_of("size mismatch for ", name, ": copying a param with shape ", shape_text(values),
                                    " from checkpoint, the shape in current model is ", shape_text(tensor), "."));
      else
        copies.emplace_back(tensor, values);
    }
    for (const auto& item : given)
      if (!own.contains(item.key())) keys.unexpected_keys.push_back(item.key());
  }

  void count_unexpected() {
    if (!keys.unexpected_keys.empty())
      errors.insert(errors.begin(),
                    message_of("Unexpected key(s) in state_dict: ", quoted(keys.unexpected_keys), ". "));
  }
  void count_missing() {
    if (!keys.missing_keys.empty())
      errors.insert(errors.begin(), message_of("Missing key(s) in state_dict: ", quoted(keys.missing_keys), ". "));
  }
  template <class E = ValueError>
  void refuse_errors(const Module& module) const {
    if (errors.empty()) return;
    std::string text = message_of("Error(s) in loading state_dict for ", short_name(module), ":");
    for (const std::string& error : errors) text += "\n\t" + error;
    throw E(text);
  }
  void copy() {
    NoGradGuard no_grad;
    for (auto& [tensor, values] : copies) tensor.copy_(values);
  }
};

// Names or shapes that do not fit, found by a module that has no load of its own.
struct Misfit : ValueError {
  using ValueError::ValueError;
};

StateDict tensors_in(const serialize::InputArchive& archive) {
  StateDict tensors;
  for (const auto& [key, value] : archive.values())
    if (key.isString() && value.isTensor()) tensors.insert(key.toStringRef(), value.toTensor());
  return tensors;
}

}  // namespace

void Module::add_own_values(const std::string& prefix, StateDict& state) const {
  for (const auto& [name, tensor] : parameters_)
    if (tensor.defined()) state.insert(prefix + name, tensor.detach());
  for (const auto& [name, tensor] : buffers_) {
    const bool persistent = std::find(non_persistent_.begin(), non_persistent_.end(), name) == non_persistent_.end();
    if (tensor.defined() && persistent) state.insert(prefix + name, tensor.detach());
  }
}

StateDict Module::state_dict() const {
  StateDict state;
  apply(ConstNamedModuleApplyFunction([&](const std::string& prefix, const Module& module) {
    module.add_own_values(prefix.empty() ? "" : prefix + ".", state);
  }));
  return state;
}

void Module::save(serialize::OutputArchive& archive) const {
  StateDict own;
  add_own_values("", own);
  for (const auto& [name, tensor] : own) archive.write(name, tensor);
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    serialize::OutputArchive below;
    child->save(below);
    for (const auto& [key, value] : below.values()) archive.write(name + "." + key.toStringRef(), value);
  }
}

// What save writes where no module below has a form of its own.
void Module::add_saved_values(const std::string& prefix, StateDict& state) const {
  add_own_values(prefix, state);
  for (const auto& [name, child] : children_)
    if (child->is_serializable()) child->add_saved_values(prefix + name + ".", state);
}

bool Module::has_place_for(const std::string& key) const {
  const size_t dot = key.find('.');
  if (dot == std::string::npos) return true;  // what a module's own save may have added
  const std::shared_ptr<Module>* child = children_.find(key.substr(0, dot));
  return child && (*child)->has_place_for(key.substr(dot + 1));
}

// "child": {"weight": x} becomes "child.weight": x, as libtorch's C++ files and archives within archives have it.
static void flatten_children(const Module& module, IValue::Dict& values) {
  for (const auto& [name, child] : module.named_children()) {
    IValue* below = values.find(name);
    if (!below || !below->isDict()) continue;
    IValue::Dict items = std::move(below->toDict());
    flatten_children(*child, items);
    std::erase_if(values.items, [&name = name](const auto& item) {
      return item.first.isString() && item.first.toStringRef() == name;
    });
    for (auto& [key, value] : items.items)
      if (key.isString()) values[name + "." + key.toStringRef()] = std::move(value);
  }
}

void Module::load_parts(const serialize::InputArchive& archive) {
  StateDict own;
  add_own_values("", own);
  Comparison found(own, tensors_in(archive));
  found.count_missing();
  found.refuse_errors<Misfit>(*this);
  found.copy();
  for (const auto& [name, child] : children_) {
    if (!child->is_serializable()) continue;
    const std::string start = name + ".";
    serialize::InputArchive below;
    below.is_part_ = true;
    for (const auto& [key, value] : archive.values())
      if (key.isString() && key.toStringRef().starts_with(start))
        below.values_.items.emplace_back(key.toStringRef().substr(start.size()), value);
    child->load(below);
  }
}

void Module::load(serialize::InputArchive& archive) {
  flatten_children(*this, archive.values_);
  if (archive.is_part_) return load_parts(archive);
  const StateDict given = tensors_in(archive);
  tell_before_load(given);
  StateDict own;
  add_saved_values("", own);
  Comparison found(own, given);
  if (found.copies.size() == own.size()) {
    std::erase_if(found.keys.unexpected_keys, [&](const std::string& key) { return has_place_for(key); });
    found.count_unexpected();
    found.refuse_errors(*this);
    return load_parts(archive);
  }
  // Either this is another model's file, or a module reads a form of its own: its load alone knows. What the others had
  // comes back if it is not so.
  std::vector<Tensor> before;
  for (const auto& [name, tensor] : own) before.push_back(tensor.clone());
  auto put_back = [&] {
    NoGradGuard no_grad;
    for (size_t i = 0; i < before.size(); i++) own[i].value().copy_(before[i]);
  };
  try {
    load_parts(archive);
  } catch (const Misfit&) {
    put_back();
    io::to_state_dict(archive.values());  // its error names what is no tensor
    found.count_unexpected();
    found.count_missing();
    found.refuse_errors(*this);
  } catch (...) {
    put_back();
    throw;
  }
}

void Module::tell_before_load(const StateDict& state) {
  apply(NamedModuleApplyFunction([&](const std::string& prefix, Module& module) {
    module.before_load(state, prefix.empty() ? "" : prefix + ".");
  }));
}

void Module::before_load(const StateDict&, const std::string&) {}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict) {
  tell_before_load(state);
  Comparison found(state_dict(), state);
  if (strict) {
    found.count_unexpected();
    found.count_missing();
  }
  found.refuse_errors(*this);
  found.copy();
  return found.keys;
}

IncompatibleKeys Module::load_state_dict(const IValue& state, bool strict) {
  CRESSET_CHECK_AS(TypeError, state.isDict(), "load_state_dict: found a ", state.tagKind(),
                   " (expected a dict of tensors by name)");
  StateDict tensors;
  for (const auto& [key, value] : state.toDict()) {
    CRESSET_CHECK_AS(TypeError, key.isString(), "load_state_dict: found a key of type ", key.tagKind(),
                     " (expected names)");
    CRESSET_CHECK_AS(TypeError, value.isTensor(), "load_state_dict: found a ", value.tagKind(), " under \"",
                     key.toStringRef(), "\" (expected a tensor)");
    tensors.insert(key.toStringRef(), value.toTensor());
  }
  return load_state_dict(tensors, strict);
}

// ---- deep copies
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

// ---- computed parameters
void Module::register_computed(const std::string& name, std::string kind, std::vector<std::string> sources,
                               ForwardPreHook hook) {
  CRESSET_CHECK_AS(ValueError, !computed_.contains(name), short_name(*this), ": parameter '", name,
                   "' is already computed, by ", computed_kind(name));
  CRESSET_CHECK_AS(ValueError, parameters_.contains(name), short_name(*this), ": has no parameter '", name, "'");
  unsigned id = register_forward_pre_hook(std::move(hook)).id();
  take_as_computed(name, std::move(kind), std::move(sources), id);
}

void Module::take_as_computed(const std::string& name, std::string kind, std::vector<std::string> sources,
                              unsigned hook) {
  Tensor tensor = parameters_[name];
  parameters_.erase(name);
  tensor.mutable_grad() = Tensor();
  computed_.insert(name, {tensor, std::move(kind), std::move(sources), hook});
  set_computed(name, tensor.variable_data());
}

std::string Module::computed_kind(const std::string& name) const {
  const Computed* entry = computed_.find(name);
  return entry ? entry->kind : "";
}

std::vector<std::string> Module::computed_names() const { return computed_.keys(); }
std::vector<std::string> Module::registered_names() const { return children_.keys(); }
const Tensor& Module::computed(const std::string& name) const { return computed_[name].tensor; }

// The handle that forward reads keeps its identity and takes over the value's memory and place in the graph. Graphs of
// earlier calls hold the earlier memory, so that several forwards may come before a backward.
void Module::set_computed(const std::string& name, const Tensor& value) {
  const Tensor& tensor = computed_[name].tensor;
  Tensor plain = value.is_view() ? value.clone() : value;
  TensorImpl *to = tensor.impl(), *from = plain.impl();
  to->node.reset();
  to->requires_grad = false;
  tensor.set_data(plain);
  to->own_version.reset();
  to->node = from->node;
  to->output_nr = from->output_nr;
  to->requires_grad = from->node ? from->requires_grad : false;
}

void Module::unregister_computed(const std::string& name, const Tensor& value) {
  Computed entry = computed_[name];
  NoGradGuard no_grad;
  Tensor values = value.detach().clone();
  set_computed(name, values);
  computed_.erase(name);
  hooks_->remove(entry.hook);
  for (const std::string& source : entry.sources) {
    if (parameters_.contains(source)) unregister_parameter(source);
    if (buffers_.contains(source)) unregister_buffer(source);
  }
  register_parameter(name, entry.tensor);
}

}  // namespace cresset::nn
