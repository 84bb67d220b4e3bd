// ModuleList: submodules by position. It has no forward: the module that owns it says how they are called.
#pragma once

#include "cresset/nn/cloneable.h"

namespace cresset::nn {

class CRESSET_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl() = default;
  template <class First, class... Rest>
  requires(!std::is_base_of_v<ModuleListImpl, std::decay_t<First>>) explicit ModuleListImpl(First&& first,
                                                                                            Rest&&... rest) {
    push_back(std::forward<First>(first));
    (push_back(std::forward<Rest>(rest)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}

  template <class M>
  void push_back(std::shared_ptr<M> module) {
    append(module, detail::call_function<M>());
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    append(holder.ptr(), nullptr);
  }
  template <class M>
  requires(std::is_base_of_v<Module, std::decay_t<M>>) void push_back(M&& module) {
    push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }
  template <class M>
  void insert(size_t index, std::shared_ptr<M> module) {
    insert_at(index, module, detail::call_function<M>());
  }
  template <class M>
  void insert(size_t index, const ModuleHolder<M>& holder) {
    insert_at(index, holder.ptr(), nullptr);
  }
  template <class M>
  requires(std::is_base_of_v<Module, std::decay_t<M>>) void insert(size_t index, M&& module) {
    insert(index, std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }

  Iterator begin() { return modules_.begin(); }
  ConstIterator begin() const { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator end() const { return modules_.end(); }
  template <class T>
  T& at(size_t index) const {
    return *ptr<T>(index);
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index); }
  template <class T>
  std::shared_ptr<T> ptr(size_t index) const {
    auto module = std::dynamic_pointer_cast<T>(checked(index));
    if (!module) wrong_type(index, typeid(T));
    return module;
  }
  std::shared_ptr<Module> operator[](size_t index) const { return checked(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 protected:
  bool rebuild_as(const Module& original, const std::optional<Device>& device) override;

 private:
  void append(std::shared_ptr<Module> module, CallFunction function);
  void insert_at(size_t index, std::shared_ptr<Module> module, CallFunction function);
  const std::shared_ptr<Module>& checked(size_t index) const;
  [[noreturn]] void wrong_type(size_t index, const std::type_info& wanted) const;

  std::vector<std::shared_ptr<Module>> modules_;
};
CRESSET_MODULE(ModuleList);

}  // namespace cresset::nn
