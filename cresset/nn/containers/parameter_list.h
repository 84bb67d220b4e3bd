// ParameterList and ParameterDict: parameters by position and by name. Whether one wants a gradient is left as it is.
#pragma once

#include "cresset/nn/cloneable.h"

namespace cresset::nn {

class CRESSET_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <class... Tensors>
  requires(sizeof...(Tensors) > 0 &&
           (std::is_same_v<std::decay_t<Tensors>, Tensor> && ...)) explicit ParameterListImpl(Tensors&&... parameters) {
    (append(parameters), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  void append(const Tensor& parameter);
  void append(const OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  template <class Container>
  ParameterListImpl& operator+=(const Container& other) {
    extend(other);
    return *this;
  }

  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t index);
  const Tensor& at(size_t index) const { return const_cast<ParameterListImpl*>(this)->at(index); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }

 protected:
  bool rebuild_as(const Module& original, const std::optional<Device>& device) override;
};
CRESSET_MODULE(ParameterList);

class CRESSET_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void reset() override {}
  void pretty_print(std::ostream& stream) const override;

  Tensor& insert(std::string key, Tensor parameter);
  Tensor pop(const std::string& key);
  // New values for keys that are there; another key is an error, and nothing is changed then.
  template <class Container>
  void update(const Container& container) {
    for (const auto& item : container) static_cast<void>(get(item.key()));
    for (const auto& item : container) get(item.key()) = item.value();
  }
  void clear();

  std::vector<std::string> keys() const;
  std::vector<Tensor> values() const;
  Iterator begin() { return parameters_.begin(); }
  ConstIterator begin() const { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept;
  const Tensor& get(const std::string& key) const;
  Tensor& get(const std::string& key);
  Tensor& operator[](const std::string& key) { return get(key); }
  const Tensor& operator[](const std::string& key) const { return get(key); }

 protected:
  bool rebuild_as(const Module& original, const std::optional<Device>& device) override;
};
CRESSET_MODULE(ParameterDict);

}  // namespace cresset::nn
