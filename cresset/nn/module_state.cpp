// A module's values by name: state_dict, load_state_dict, and parameters computed from others.
#include <algorithm>

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
  // In libtorch's words: the first module or tensor that the archive lacks.
  void name_missing(const StateDict& given) {
    if (keys.missing_keys.empty()) return;
    const std::string& key = keys.missing_keys.front();
    const auto has_below = [&](const std::string& start) {
      return std::any_of(given.begin(), given.end(), [&](const auto& item) { return item.key().starts_with(start); });
    };
    for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1))
      if (!has_below(key.substr(0, dot + 1))) {
        errors.push_back(message_of("No such serialized submodule: '", key.substr(0, dot), "'"));
        return;
      }
    errors.push_back(message_of("No such serialized tensor '", key, "'"));
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
    if (module.parameters_.is_empty() && module.buffers_.is_empty()) return;
    module.add_own_values(prefix.empty() ? "" : prefix + ".", state);
  }));
  return state;
}

void Module::save(serialize::OutputArchive& archive) const {
  check_module_depth("Module.save", *this);
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
  check_module_depth("Module.load", *this);
  add_own_values(prefix, state);
  for (const auto& [name, child] : children_)
    if (child->is_serializable()) child->add_saved_values(prefix + name + ".", state);
}

bool Module::has_place_for(const std::string& key) const {
  const Module* module = this;
  for (size_t from = 0;;) {
    const size_t dot = key.find('.', from);
    if (dot == std::string::npos) return true;  // what a module's own save may have added
    const std::shared_ptr<Module>* child = module->children_.find(key.substr(from, dot - from));
    if (!child) return false;
    module = child->get();
    from = dot + 1;
  }
}

// "child": {"weight": x} becomes "child.weight": x, as libtorch's C++ files and archives within archives have it.
static void flatten_children(const Module& module, IValue::Dict& values) {
  check_module_depth("Module.load", module);
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
  check_module_depth("Module.load", *this);
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
    found.name_missing(given);
    found.refuse_errors(*this);
  } catch (...) {
    put_back();
    throw;
  }
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
