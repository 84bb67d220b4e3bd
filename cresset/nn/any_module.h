// AnyModule: a module of any type that can be called with any arguments; wrong ones are errors that name the types.
#pragma once

#include "cresset/nn/module.h"

namespace cresset::nn {

class CRESSET_API AnyModule {
 public:
  AnyModule() = default;
  template <class M>
  explicit AnyModule(std::shared_ptr<M> module)
      : module_(std::move(module)), type_(&typeid(M)), call_(detail::call_function<M>()) {
    check_callable();
  }
  template <class M>
  explicit AnyModule(const ModuleHolder<M>& holder) : AnyModule(holder.ptr()) {}
  // A module by value: AnyModule(M(…)).
  template <class M>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): an AnyModule is no Module
  requires(std::is_base_of_v<Module, std::decay_t<M>>) explicit AnyModule(M&& module)
      : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module))) {}
  template <class M>
  AnyModule& operator=(std::shared_ptr<M> module) {
    return *this = AnyModule(std::move(module));
  }
  template <class M>
  AnyModule& operator=(const ModuleHolder<M>& holder) {
    return *this = AnyModule(holder);
  }

  AnyModule clone(std::optional<Device> device = std::nullopt) const;

  // Runs the module and its hooks.
  template <class... Args>
  AnyValue any_forward(Args&&... arguments) {
    return call(any_values(std::forward<Args>(arguments)...));
  }
  template <class Result = Tensor, class... Args>
  Result forward(Args&&... arguments) {
    AnyValue result = call(any_values(std::forward<Args>(arguments)...));
    return take_result<Result>(result);
  }
  AnyValue call(AnyValues&& arguments) { return call(arguments); }
  AnyValue call(AnyValues& arguments);

  template <class Result>
  Result take_result(AnyValue& value) const {
    if (Result* held = value.try_get<Result>()) return std::move(*held);
    detail::wrong_result(*module_, typeid(Result), value.type_info());
  }

  template <class M, class = std::enable_if_t<!detail::is_module_holder_v<M>>>
  M& get() const {
    check_holds(typeid(M), "get");
    return static_cast<M&>(*module_);
  }
  template <class Holder, class Contained = typename Holder::ContainedType>
  Holder get() const {
    check_holds(typeid(Contained), "get");
    return Holder(ptr<Contained>());
  }
  std::shared_ptr<Module> ptr() const;
  template <class M, class = std::enable_if_t<!detail::is_module_holder_v<M>>>
  std::shared_ptr<M> ptr() const {
    check_holds(typeid(M), "ptr");
    return std::static_pointer_cast<M>(module_);
  }
  const std::type_info& type_info() const;
  bool is_empty() const noexcept { return module_ == nullptr; }

 private:
  void check_callable();  // a plain Module must have learnt its forward elsewhere
  void check_holds(const std::type_info& wanted, const char* method) const;

  std::shared_ptr<Module> module_;
  const std::type_info* type_ = nullptr;
  CallFunction call_ = nullptr;
};

// A module with the name it gets in a Sequential.
class CRESSET_API NamedAnyModule {
 public:
  template <class M>
  requires(!std::is_same_v<std::decay_t<M>, AnyModule>) NamedAnyModule(std::string name, M&& module)
      : name_(std::move(name)), module_(std::forward<M>(module)) {}
  NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace cresset::nn
