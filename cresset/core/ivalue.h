// IValue: one plain value, or a list, tuple or dict of them: what a user's function keeps between forward and backward,
// what state_dict() of an optimizer returns, what a file of checkpoints holds. A value, not a handle: copies are apart,
// but for tensors, which are shared. Asking for another type than the one that is held is an error that names both.
// Copying, printing and freeing recurse over no depth: a million lists in each other are a test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset {

template <class T>
class GenericList;  // cresset/torch.h

class CRESSET_API IValue {
 public:
  struct Items {
    std::vector<IValue> items;

    Items() = default;
    Items(std::vector<IValue> values) : items(std::move(values)) {}
    size_t size() const { return items.size(); }
    bool empty() const { return items.empty(); }
    const IValue& operator[](size_t i) const { return items[i]; }
    auto begin() const { return items.begin(); }
    auto end() const { return items.end(); }
    // As libtorch's handles are asked: toList().get(i), toTuple()->elements().
    const IValue& get(size_t i) const { return items.at(i); }
    const std::vector<IValue>& vec() const { return items; }
    const std::vector<IValue>& elements() const { return items; }
    const Items* operator->() const { return this; }
  };
  struct List : Items {
    using Items::Items;
  };
  struct Tuple : Items {
    using Items::Items;
  };
  // In the order of insertion. Keys are strings or integers.
  struct Dict {
    std::vector<std::pair<IValue, IValue>> items;

    const IValue* find(std::string_view key) const;
    IValue* find(std::string_view key);
    const IValue& at(std::string_view key) const;  // its error lists the keys
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    IValue& operator[](std::string_view key);  // appended when new
    size_t size() const { return items.size(); }
    auto begin() const { return items.begin(); }
    auto end() const { return items.end(); }
  };

  // Out of line: the variant's own members are the longest part of this header to compile.
  IValue() noexcept;
  IValue(const IValue& other);
  IValue(IValue&& other) noexcept;
  IValue& operator=(const IValue& other);
  IValue& operator=(IValue&& other) noexcept;
  ~IValue();
  IValue(Tensor value);
  IValue(double value);
  IValue(float value);
  IValue(int64_t value);
  IValue(int32_t value);
  IValue(bool value);
  IValue(std::string value);
  IValue(const char* value);
  IValue(std::vector<int64_t> value);
  IValue(IntArrayRef value);
  IValue(std::vector<double> value);
  IValue(std::vector<Tensor> value);
  IValue(List value);
  IValue(Tuple value);
  IValue(Dict value);
  IValue(const Scalar& value);
  template <class... Parts>
  IValue(const std::tuple<Parts...>& parts);
  template <class T>
  IValue(const std::optional<T>& value) : IValue(value ? IValue(*value) : IValue()) {}
  // A pointer would otherwise become a bool.
  template <class T>
  IValue(T*) = delete;

  bool isNone() const { return std::holds_alternative<std::monostate>(held_); }
  bool isTensor() const { return std::holds_alternative<Tensor>(held_); }
  bool isDouble() const { return std::holds_alternative<double>(held_); }
  bool isInt() const { return std::holds_alternative<int64_t>(held_); }
  bool isBool() const { return std::holds_alternative<bool>(held_); }
  bool isString() const { return std::holds_alternative<std::string>(held_); }
  bool isIntList() const { return std::holds_alternative<std::vector<int64_t>>(held_); }
  bool isDoubleList() const { return std::holds_alternative<std::vector<double>>(held_); }
  bool isTensorList() const { return std::holds_alternative<std::vector<Tensor>>(held_); }
  bool isList() const { return std::holds_alternative<List>(held_); }
  bool isTuple() const { return std::holds_alternative<Tuple>(held_); }
  bool isGenericDict() const { return isDict(); }
  bool isDict() const { return std::holds_alternative<Dict>(held_); }
  bool isNumber() const { return isDouble() || isInt(); }

  const Tensor& toTensor() const { return held<Tensor>("Tensor"); }
  double toDouble() const { return isInt() ? static_cast<double>(toInt()) : held<double>("double"); }
  int64_t toInt() const { return held<int64_t>("int"); }
  bool toBool() const { return held<bool>("bool"); }
  const std::string& toStringRef() const { return held<std::string>("string"); }
  const std::vector<int64_t>& toIntVector() const { return held<std::vector<int64_t>>("int[]"); }
  const std::vector<double>& toDoubleVector() const { return held<std::vector<double>>("double[]"); }
  const std::vector<Tensor>& toTensorVector() const { return held<std::vector<Tensor>>("Tensor[]"); }
  const List& toList() const { return held<List>("list"); }
  const Tuple& toTuple() const { return held<Tuple>("tuple"); }
  inline GenericList<int64_t> toIntList() const;
  inline GenericList<double> toDoubleList() const;
  inline GenericList<Tensor> toTensorList() const;
  const Dict& toDict() const { return held<Dict>("dict"); }
  Dict& toDict() { return const_cast<Dict&>(std::as_const(*this).toDict()); }
  const Dict& toGenericDict() const { return toDict(); }  // libtorch's name
  Scalar toScalar() const;
  // By the C++ type: a number, bool, std::string or Tensor, and optionals, tuples and vectors of them.
  template <class T>
  T to() const;
  template <class T>
  std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }
  // The elements of a list of any kind, or of a tuple.
  std::vector<IValue> elements() const;
  const char* tagKind() const;  // the name of the type that is held
  // As libtorch prints it: [1, 2.], (a,), {key: None}.
  friend CRESSET_API std::ostream& operator<<(std::ostream& out, const IValue& value);

 private:
  template <class T>
  const T& held(const char* wanted) const {
    if (auto* value = std::get_if<T>(&held_)) return *value;
    wrong_type(wanted);
  }
  [[noreturn]] void wrong_type(const char* wanted) const;
  bool is_container() const { return isList() || isTuple() || isDict(); }
  void copy_container(const IValue& other);
  void print_container(std::ostream& out) const;
  void check_count(size_t wanted) const;  // of elements()

  // The types that to() makes of others; unspecialised, what is held.
  template <class T>
  struct Made {
    static T from(const IValue& value);
  };
  template <class T>
  struct Made<std::optional<T>> {
    static std::optional<T> from(const IValue& value) {
      return value.isNone() ? std::nullopt : std::optional<T>(value.to<T>());
    }
  };
  template <class... Parts>
  struct Made<std::tuple<Parts...>> {
    static std::tuple<Parts...> from(const IValue& value) {
      value.check_count(sizeof...(Parts));
      const std::vector<IValue> items = value.elements();
      return [&]<size_t... i>(std::index_sequence<i...>) {
        return std::tuple<Parts...>{items[i].template to<Parts>()...};
      }
      (std::index_sequence_for<Parts...>());
    }
  };
  template <class T>
  struct Made<std::vector<T>> {
    static std::vector<T> from(const IValue& value) {
      std::vector<T> made;
      for (const IValue& item : value.elements()) made.push_back(item.to<T>());
      return made;
    }
  };

  std::variant<std::monostate, Tensor, double, int64_t, bool, std::string, std::vector<int64_t>, std::vector<double>,
               std::vector<Tensor>, List, Tuple, Dict>
      held_;
};

template <class... Parts>
IValue::IValue(const std::tuple<Parts...>& parts)
    : IValue(std::apply([](const auto&... part) { return Tuple{{IValue(part)...}}; }, parts)) {}

template <class T>
T IValue::Made<T>::from(const IValue& value) {
  if constexpr (std::is_same_v<T, IValue>)
    return value;
  else if constexpr (std::is_same_v<T, bool>)
    return value.toBool();
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value.toInt());
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value.toDouble());
  else if constexpr (std::is_same_v<T, std::string>)
    return value.toStringRef();
  else
    return value.toTensor();
}

template <class T>
T IValue::to() const {
  return Made<T>::from(*this);
}

}  // namespace cresset
