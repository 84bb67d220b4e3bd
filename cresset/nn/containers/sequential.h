// Sequential: modules that run one after another. The first takes any arguments, each next one the result before it; a
// Sequential may hold others.
#pragma once

#include <initializer_list>

#include "cresset/nn/any_module.h"
#include "cresset/nn/cloneable.h"

namespace cresset::nn {

class CRESSET_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <class First, class... Rest>
  requires(!std::is_base_of_v<SequentialImpl, std::decay_t<First>> &&
           !std::is_same_v<std::decay_t<First>,
                           OrderedDict<std::string, AnyModule>>) explicit SequentialImpl(First&& first,
                                                                                         Rest&&... rest) {
    modules_.reserve(1 + sizeof...(Rest));
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }
  explicit SequentialImpl(const OrderedDict<std::string, AnyModule>& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}

  template <class Result = Tensor, class... Args>
  Result forward(Args&&... arguments) {
    AnyValues values = any_values(std::forward<Args>(arguments)...);
    AnyValue result = any_forward(values);
    if (Result* held = result.try_get<Result>()) return std::move(*held);
    detail::wrong_result(*this, typeid(Result), result.type_info());
  }
  AnyValue any_forward(AnyValues& arguments);

  // Modules, holders, shared pointers and AnyModules; without a name they are called by their position.
  template <class M>
  requires(!std::is_same_v<std::decay_t<M>, AnyModule>) void push_back(M&& module) {
    push_back(AnyModule(std::forward<M>(module)));
  }
  template <class M>
  requires(!std::is_same_v<std::decay_t<M>, AnyModule>) void push_back(const std::string& name, M&& module) {
    push_back(name, AnyModule(std::forward<M>(module)));
  }
  void push_back(AnyModule module);
  void push_back(const std::string& name, AnyModule module);
  void push_back(const NamedAnyModule& named);
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) const {
    return checked(index).get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 protected:
  bool rebuild_as(const Module& original, const std::optional<Device>& device) override;

 private:
  const AnyModule& checked(size_t index) const;

  std::vector<AnyModule> modules_;
};

class CRESSET_API Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;
  Sequential();
  Sequential(std::initializer_list<NamedAnyModule> modules);
};

}  // namespace cresset::nn
