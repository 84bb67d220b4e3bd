#include "cresset/core/ivalue.h"

#include <cmath>
#include <limits>

namespace cresset {

IValue::IValue() noexcept = default;
IValue::IValue(const IValue& other) = default;
IValue::IValue(IValue&& other) noexcept = default;
IValue& IValue::operator=(const IValue& other) = default;
IValue& IValue::operator=(IValue&& other) noexcept = default;
IValue::~IValue() = default;
IValue::IValue(Tensor value) : held_(std::move(value)) {}
IValue::IValue(double value) : held_(value) {}
IValue::IValue(float value) : held_(static_cast<double>(value)) {}
IValue::IValue(int64_t value) : held_(value) {}
IValue::IValue(int32_t value) : held_(int64_t{value}) {}
IValue::IValue(bool value) : held_(value) {}
IValue::IValue(std::string value) : held_(std::move(value)) {}
IValue::IValue(const char* value) : held_(std::string(value)) {}
IValue::IValue(std::vector<int64_t> value) : held_(std::move(value)) {}
IValue::IValue(IntArrayRef value) : held_(value.vec()) {}
IValue::IValue(std::vector<double> value) : held_(std::move(value)) {}
IValue::IValue(std::vector<Tensor> value) : held_(std::move(value)) {}
IValue::IValue(List value) : held_(std::move(value)) {}
IValue::IValue(Tuple value) : held_(std::move(value)) {}
IValue::IValue(Dict value) : held_(std::move(value)) {}
IValue::IValue(const Scalar& value) {
  CRESSET_CHECK_AS(TypeError, !value.isComplex(), "IValue: complex numbers are not held (found ", value, ")");
  if (value.isBoolean())
    held_ = value.toBool();
  else if (value.isIntegral(false))
    held_ = value.toLong();
  else
    held_ = value.toDouble();
}

Scalar IValue::toScalar() const {
  if (isInt()) return toInt();
  if (isBool()) return toBool();
  return held<double>("number");
}

std::vector<IValue> IValue::elements() const {
  auto unpacked = [](const auto& values) { return std::vector<IValue>(values.begin(), values.end()); };
  if (isIntList()) return unpacked(toIntVector());
  if (isDoubleList()) return unpacked(toDoubleVector());
  if (isTensorList()) return unpacked(toTensorVector());
  return isTuple() ? toTuple().items : toList().items;
}

const char* IValue::tagKind() const {
  static constexpr const char* names[] = {"none",  "Tensor",   "double",   "int",  "bool",  "string",
                                          "int[]", "double[]", "Tensor[]", "list", "tuple", "dict"};
  return names[held_.index()];
}

void IValue::wrong_type(const char* wanted) const {
  throw TypeError(message_of("IValue: found ", tagKind(), " (expected ", wanted, ")"));
}

void IValue::check_count(size_t wanted) const {
  const size_t found = elements().size();
  CRESSET_CHECK_AS(TypeError, found == wanted, "IValue: found a ", tagKind(), " of ", found, " elements (expected ",
                   wanted, ")");
}

const IValue* IValue::Dict::find(std::string_view key) const {
  for (const auto& [name, value] : items)
    if (name.isString() && name.toStringRef() == key) return &value;
  return nullptr;
}

IValue* IValue::Dict::find(std::string_view key) { return const_cast<IValue*>(std::as_const(*this).find(key)); }

const IValue& IValue::Dict::at(std::string_view key) const {
  if (const IValue* value = find(key)) return *value;
  std::string keys;
  for (const auto& item : items) {
    const IValue& name = item.first;
    if (!keys.empty()) keys += ", ";
    keys += name.isString() ? '\'' + name.toStringRef() + '\'' : name.isInt() ? std::to_string(name.toInt()) : "?";
  }
  throw IndexError(message_of("dict: there is no '", key, "' (found: ", keys.empty() ? "nothing" : keys, ")"));
}

IValue& IValue::Dict::operator[](std::string_view key) {
  if (IValue* value = find(key)) return *value;
  return items.emplace_back(std::string(key), IValue()).second;
}

namespace {
void put_double(std::ostream& out, double value) {
  constexpr double kMost = 1e10;  // as a whole number
  if (std::abs(value) < kMost && std::trunc(value) == value) {
    out << static_cast<int64_t>(value) << '.';
    return;
  }
  const auto precision = out.precision(std::numeric_limits<double>::max_digits10);
  out << value;
  out.precision(precision);
}
void put_items(std::ostream& out, const std::vector<IValue>& items) {
  for (size_t i = 0; i < items.size(); i++) out << (i ? ", " : "") << items[i];
}
}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isNone()) return out << "None";
  if (value.isTensor()) return out << value.toTensor();
  if (value.isBool()) return out << (value.toBool() ? "True" : "False");
  if (value.isInt()) return out << value.toInt();
  if (value.isString()) return out << value.toStringRef();
  if (value.isDouble()) {
    put_double(out, value.toDouble());
  } else if (value.isTuple()) {
    put_items(out << '(', value.toTuple().items);
    out << (value.toTuple().size() == 1 ? ",)" : ")");
  } else if (value.isDict()) {
    const char* between = "{";
    for (const auto& [key, held] : value.toDict()) out << std::exchange(between, ", ") << key << ": " << held;
    out << (value.toDict().size() == 0 ? "{}" : "}");
  } else {
    put_items(out << '[', value.elements());
    out << ']';
  }
  return out;
}

}  // namespace cresset
