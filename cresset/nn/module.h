// Module: a piece of a model with parameters, buffers and submodules by name. Derive from it (or from Cloneable),
// register what it owns in the constructor, and write a forward of any signature.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cresset/core/ivalue.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/io/archivable.h"
#include "cresset/nn/call.h"
#include "cresset/nn/hooks.h"
#include "cresset/nn/module_holder.h"

namespace cresset::nn {

using StateDict = OrderedDict<std::string, Tensor>;

// What load_state_dict found different; both are empty after a strict load.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys, unexpected_keys;
};

// A binding's object for this module (Python's), told when the module goes.
struct ModuleBinding {
  void* object = nullptr;
  void (*module_gone)(void* object) = nullptr;
};

class CRESSET_API Module : public serialize::Archivable, public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;
  using ConstNamedModuleApplyFunction = std::function<void(const std::string&, const Module&)>;
  using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module>&)>;
  using NamedModulePointerApplyFunction = std::function<void(const std::string&, const std::shared_ptr<Module>&)>;

  Module();
  explicit Module(std::string name);
  // Share tensors and submodules: clone() is the deep copy. A binding's object stays with its own module.
  Module(const Module& other);
  Module& operator=(const Module& other);
  Module& operator=(Module&& other) noexcept;
  ~Module() override;

  // The type's name, or the one given to the constructor.
  const std::string& name() const;
  // A deep copy. Only types derived from Cloneable have one.
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const;

  // Calls the function for this module and every one below, parents first. Walks, registering and freeing recurse over
  // no depth; what calls a method of each module's own (train, to, clone, save, load, a container's forward) does, and
  // throws a ValueError when the thread's stack runs short.
  void apply(const ModuleApplyFunction& function);
  void apply(const ConstModuleApplyFunction& function) const;
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string());
  void apply(const ConstNamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) const;
  void apply(const ModulePointerApplyFunction& function) const;
  void apply(const NamedModulePointerApplyFunction& function, const std::string& name_prefix = std::string()) const;

  // ---- what it owns. A tensor or module that is reached by two names is listed once, under the first, but children
  // are listed under each of their names; undefined parameters (a bias that was switched off) are left out.
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = std::string(),
                                                                  bool include_self = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }

  // Tensors keep their identity: handles and optimizers see the change. A dtype is given to floating point and complex
  // tensors only, so that counters stay integers.
  virtual void to(Device device, DType dtype, bool non_blocking = false);
  virtual void to(DType dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);

  virtual void zero_grad(bool set_to_none = true);
  void requires_grad_(bool on = true);

  // ---- values by name. Non-persistent buffers are left out; what is shared appears under each of its names.
  StateDict state_dict() const;
  // Copies the values in, after all names and shapes were checked. With strict, names must match exactly.
  IncompatibleKeys load_state_dict(const StateDict& state, bool strict = true);
  IncompatibleKeys load_state_dict(const IValue& state, bool strict = true);  // a dict of tensors
  // What save(module, path) writes and load(module, path) reads: the state_dict, a key each. Overridden, they may add
  // to it or have a form of their own; the module above puts the child's name in front of its keys. A load that fails
  // changes nothing of what is registered. Keys that nobody asks for are left alone, unless they lie below a submodule
  // that is not there. Children that are not is_serializable() are left out.
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  // Before names and shapes are compared: a module that takes its shapes from its first input may take them from here.
  virtual void before_load(const StateDict& state, const std::string& prefix);

  template <class T>
  auto* as() noexcept {
    if constexpr (detail::is_module_holder_v<T>)
      return dynamic_cast<typename T::ContainedType*>(this);
    else
      return dynamic_cast<T*>(this);
  }
  template <class T>
  const auto* as() const noexcept {
    return const_cast<Module*>(this)->as<T>();
  }

  // What is printed for this module without its children: "Linear(in_features=3, …)".
  virtual void pretty_print(std::ostream& stream) const;
  virtual bool is_serializable() const { return true; }

  // ---- registering. Names are not empty and have no dots.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor, bool persistent = true);
  void unregister_parameter(const std::string& name);
  void unregister_buffer(const std::string& name);
  template <class M>
  std::shared_ptr<M> register_module(const std::string& name, std::shared_ptr<M> module) {
    add_module(name, module, detail::call_function<M>());
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(const std::string& name, ModuleHolder<M> holder) {
    add_module(name, holder.ptr(), nullptr);
    return holder.ptr();
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, std::shared_ptr<M> module) {
    exchange_module(name, module, detail::call_function<M>());
    return module;
  }
  template <class M>
  std::shared_ptr<M> replace_module(const std::string& name, ModuleHolder<M> holder) {
    exchange_module(name, holder.ptr(), nullptr);
    return holder.ptr();
  }
  void unregister_module(const std::string& name);

  // ---- parameters computed from others before each forward (weight norm, pruning): `name` is listed no longer, but
  // handles to it see each new value. kind says by what; the hook computes it. Unregistered, it is a parameter again
  // with the given value, and hook and sources go.
  void register_computed(const std::string& name, std::string kind, std::vector<std::string> sources,
                         ForwardPreHook hook);
  void set_computed(const std::string& name, const Tensor& value);
  const Tensor& computed(const std::string& name) const;
  std::string computed_kind(const std::string& name) const;  // empty: an ordinary parameter, or none
  std::vector<std::string> computed_names() const;
  void unregister_computed(const std::string& name, const Tensor& value);

  // ---- calling it without knowing its type; hooks run.
  AnyValue call(AnyValues arguments);
  // Whether call() knows the type's forward: after it was held, registered or put into a container.
  bool can_call() const { return call_ != nullptr; }

  // ---- hooks; a holder's operator() and call() run them, forward does not.
  RemovableHandle register_forward_pre_hook(ForwardPreHook hook);
  RemovableHandle register_forward_hook(ForwardHook hook);
  RemovableHandle register_full_backward_hook(BackwardHook hook);
  RemovableHandle register_full_backward_pre_hook(BackwardPreHook hook);
  // Hooks that only look and return nothing.
  template <class F>
  requires(std::is_void_v<std::invoke_result_t<F&, Module&, const std::vector<Tensor>&, const std::vector<Tensor>&>>)
      RemovableHandle register_full_backward_hook(F hook) {
    return register_full_backward_hook(
        BackwardHook([hook](Module& module, const std::vector<Tensor>& in, const std::vector<Tensor>& out) mutable {
          hook(module, in, out);
          return std::vector<Tensor>();
        }));
  }
  bool has_hooks() const { return hooked_; }

  ModuleBinding& binding() { return binding_; }

 protected:
  // FORWARD_HAS_DEFAULT_ARGS overrides these.
  virtual bool _forward_has_default_args() { return false; }
  virtual unsigned int _forward_num_required_args();
  virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue>&& arguments);

  // A container whose contents changed after it was made becomes a copy of the original's; others return false.
  virtual bool rebuild_as(const Module& original, const std::optional<Device>& device);
  // Takes over all that a clone of a module of this very type holds, plain members as well. False, and nothing is done,
  // where the type cannot: it is not Cloneable, or not assignable.
  virtual bool become(Module& clone);
  virtual bool can_become() const;
  void clear_registered();
  std::vector<std::string> registered_names() const;  // of submodules
  void copy_settings_into(Module& copy) const;        // training flag, hooks and how to call it

  OrderedDict<std::string, Tensor> parameters_;

 private:
  template <class Derived>
  friend class Cloneable;
  friend struct ModuleHooks;
  friend class AnyModule;
  friend CRESSET_API std::ostream& operator<<(std::ostream& stream, const Module& module);
  friend CRESSET_API void detail::complete_arguments(Module&, AnyValues&, size_t);
  friend CRESSET_API void detail::learn_call(Module&, CallFunction);
  friend CRESSET_API AnyValue detail::call_with_hooks(Module&, CallFunction, AnyValues);

  template <class M, class F>
  static void walk(M& root, std::string& name, const F& f);
  void take_child(const std::string& name, Module& child, CallFunction function) const;
  void add_module(std::string name, std::shared_ptr<Module> module, CallFunction function);
  void exchange_module(const std::string& name, std::shared_ptr<Module> module, CallFunction function);
  void finish_clone(Module& copy, const std::optional<Device>& device) const;
  void copy_values_into(Module& copy, const std::optional<Device>& device) const;
  bool copy_whole_into(Module& copy, const std::optional<Device>& device) const;
  void copy_computed_into(Module& copy, const std::optional<Device>& device) const;
  void take_as_computed(const std::string& name, std::string kind, std::vector<std::string> sources, unsigned hook);
  void move_tensors(std::optional<Device> device, std::optional<DType> dtype, bool non_blocking);
  void add_own_values(const std::string& prefix, StateDict& state) const;
  void add_saved_values(const std::string& prefix, StateDict& state) const;
  bool has_place_for(const std::string& key) const;
  void load_parts(const serialize::InputArchive& archive);
  void tell_before_load(const StateDict& state);
  void print_tree(std::ostream& stream, const std::string& indentation) const;
  std::shared_ptr<Module> shared_self() const;
  ModuleHooks& hooks();

  OrderedDict<std::string, Tensor> buffers_;
  OrderedDict<std::string, std::shared_ptr<Module>> children_;
  std::vector<std::string> non_persistent_;
  struct Computed {
    Tensor tensor;
    std::string kind;
    std::vector<std::string> sources;
    unsigned hook;
  };
  OrderedDict<std::string, Computed> computed_;
  mutable std::optional<std::string> name_;
  CallFunction call_ = nullptr;
  std::shared_ptr<ModuleHooks> hooks_;
  ModuleBinding binding_;
  bool is_training_ = true;
  bool hooked_ = false;
  bool is_child_ = false;  // was registered somewhere: only then a module below may hold it
};

// The module and what is below it, as PyTorch prints it.
CRESSET_API std::ostream& operator<<(std::ostream& stream, const Module& module);

// "Linear" for cresset::nn::LinearImpl: what printing and errors call a module.
CRESSET_API std::string short_name(const Module& module);

}  // namespace cresset::nn

namespace cresset {
using nn::StateDict;
}
