// IValue: one value of a few plain types, for what a user's function keeps between forward and backward. Asking for
// another type than the one that is held is an error that names both.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::autograd {

class CRESSET_API IValue {
 public:
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
  IValue(const Scalar& value);

  bool isNone() const { return std::holds_alternative<std::monostate>(held_); }
  bool isTensor() const { return std::holds_alternative<Tensor>(held_); }
  bool isDouble() const { return std::holds_alternative<double>(held_); }
  bool isInt() const { return std::holds_alternative<int64_t>(held_); }
  bool isBool() const { return std::holds_alternative<bool>(held_); }
  bool isString() const { return std::holds_alternative<std::string>(held_); }
  bool isIntList() const { return std::holds_alternative<std::vector<int64_t>>(held_); }
  bool isDoubleList() const { return std::holds_alternative<std::vector<double>>(held_); }
  bool isTensorList() const { return std::holds_alternative<std::vector<Tensor>>(held_); }

  const Tensor& toTensor() const { return held<Tensor>("Tensor"); }
  double toDouble() const { return held<double>("double"); }
  int64_t toInt() const { return held<int64_t>("int"); }
  bool toBool() const { return held<bool>("bool"); }
  const std::string& toStringRef() const { return held<std::string>("string"); }
  const std::vector<int64_t>& toIntVector() const { return held<std::vector<int64_t>>("int[]"); }
  const std::vector<double>& toDoubleVector() const { return held<std::vector<double>>("double[]"); }
  const std::vector<Tensor>& toTensorVector() const { return held<std::vector<Tensor>>("Tensor[]"); }
  Scalar toScalar() const;
  const char* tagKind() const;  // the name of the type that is held

 private:
  template <class T>
  const T& held(const char* wanted) const {
    if (auto* value = std::get_if<T>(&held_)) return *value;
    wrong_type(wanted);
  }
  [[noreturn]] void wrong_type(const char* wanted) const;

  std::variant<std::monostate, Tensor, double, int64_t, bool, std::string, std::vector<int64_t>, std::vector<double>,
               std::vector<Tensor>>
      held_;
};

}  // namespace cresset::autograd
