// IValue: one plain value, or a list, tuple or dict of them: what a user's function keeps between forward and backward,
// what state_dict() of an optimizer returns, what a file of checkpoints holds. A value, not a handle: copies are apart,
// but for tensors, which are shared. Asking for another type than the one that is held is an error that names both.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset {

class CRESSET_API IValue {
 public:
  struct List {
    std::vector<IValue> items;
  };
  struct Tuple {
    std::vector<IValue> items;
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

  IValue() = default;
  IValue(Tensor value) : held_(std::move(value)) {}
  IValue(double value) : held_(value) {}
  IValue(float value) : held_(static_cast<double>(value)) {}
  IValue(int64_t value) : held_(value) {}
  IValue(int32_t value) : held_(int64_t{value}) {}
  IValue(bool value) : held_(value) {}
  IValue(std::string value) : held_(std::move(value)) {}
  IValue(const char* value) : held_(std::string(value)) {}
  IValue(std::vector<int64_t> value) : held_(std::move(value)) {}
  IValue(IntArrayRef value) : held_(value.vec()) {}
  IValue(std::vector<double> value) : held_(std::move(value)) {}
  IValue(std::vector<Tensor> value) : held_(std::move(value)) {}
  IValue(List value) : held_(std::move(value)) {}
  IValue(Tuple value) : held_(std::move(value)) {}
  IValue(Dict value) : held_(std::move(value)) {}
  IValue(const Scalar& value);
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
  const std::vector<IValue>& toList() const { return held<List>("list").items; }
  const std::vector<IValue>& toTuple() const { return held<Tuple>("tuple").items; }
  const Dict& toDict() const { return held<Dict>("dict"); }
  Dict& toDict() { return const_cast<Dict&>(std::as_const(*this).toDict()); }
  Scalar toScalar() const;
  // The elements of a list of any kind, or of a tuple.
  std::vector<IValue> elements() const;
  const char* tagKind() const;  // the name of the type that is held

 private:
  template <class T>
  const T& held(const char* wanted) const {
    if (auto* value = std::get_if<T>(&held_)) return *value;
    wrong_type(wanted);
  }
  [[noreturn]] void wrong_type(const char* wanted) const;

  std::variant<std::monostate, Tensor, double, int64_t, bool, std::string, std::vector<int64_t>, std::vector<double>,
               std::vector<Tensor>, List, Tuple, Dict>
      held_;
};

}  // namespace cresset
