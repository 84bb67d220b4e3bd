#include "cresset/core/ivalue.h"

#include <cmath>
#include <limits>

namespace cresset {

IValue::IValue() noexcept = default;
IValue::IValue(const IValue& other) {
  if (other.is_container())
    copy_container(other);
  else
    held_ = other.held_;
}
IValue::IValue(IValue&& other) noexcept = default;
IValue& IValue::operator=(const IValue& other) {
  IValue copy(other);  // `other` may be a part of this
  return *this = std::move(copy);
}
IValue& IValue::operator=(IValue&& other) noexcept {
  if (this == &other) return *this;
  IValue old(std::move(*this));  // which may hold `other`
  held_ = std::move(other.held_);
  return *this;
}

namespace {
// Destructors that stand inside each other on this thread. The outermost one frees what lies deeper than kDirectly.
struct Freeing {
  int depth = 0;
  std::vector<IValue>* waiting = nullptr;
};
constinit thread_local Freeing freeing;
constexpr int kDirectly = 32;
}  // namespace

IValue::~IValue() {
  if (CRESSET_LIKELY(!is_container())) return;
  // What was moved from; `waiting` may be moving its own.
  if (isDict() ? toDict().items.empty() : isList() ? toList().empty() : toTuple().empty()) return;
  if (freeing.depth > kDirectly) {
    freeing.waiting->push_back(std::move(*this));
    return;
  }
  std::vector<IValue> waiting;
  if (freeing.depth++ == 0) freeing.waiting = &waiting;
  held_.emplace<std::monostate>();
  while (!waiting.empty()) {  // empty but in the outermost
    IValue next = std::move(waiting.back());
    waiting.pop_back();
    next.held_.emplace<std::monostate>();
  }
  freeing.depth--;
}

// Makes room for all of a container's items at once, so that they stay where they are while theirs are copied.
void IValue::copy_container(const IValue& other) {
  std::vector<std::pair<const IValue*, IValue*>> waiting{{&other, this}};
  const auto copy_items = [&](const std::vector<IValue>& from, std::vector<IValue>& to) {
    to.resize(from.size());
    for (size_t i = 0; i < from.size(); i++) waiting.emplace_back(&from[i], &to[i]);
  };
  while (!waiting.empty()) {
    const auto [from, to] = waiting.back();
    waiting.pop_back();
    if (from->isList()) {
      copy_items(from->toList().items, to->held_.emplace<List>().items);
    } else if (from->isTuple()) {
      copy_items(from->toTuple().items, to->held_.emplace<Tuple>().items);
    } else if (from->isDict()) {
      const auto& items = from->toDict().items;
      auto& copies = to->held_.emplace<Dict>().items;
      copies.resize(items.size());
      for (size_t i = 0; i < items.size(); i++) {
        waiting.emplace_back(&items[i].first, &copies[i].first);
        waiting.emplace_back(&items[i].second, &copies[i].second);
      }
    } else {
      to->held_ = from->held_;
    }
  }
}

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
template <class T>
void put_list(std::ostream& out, const std::vector<T>& items) {
  out << '[';
  for (size_t i = 0; i < items.size(); i++) out << (i ? ", " : "") << IValue(items[i]);
  out << ']';
}
}  // namespace

void IValue::print_container(std::ostream& out) const {
  struct Open {
    const IValue* value;
    size_t next;  // a dict counts keys and values
  };
  std::vector<Open> open{{this, 0}};
  while (!open.empty()) {
    auto& [value, next] = open.back();
    const Dict* dict = value->isDict() ? &value->toDict() : nullptr;
    const std::vector<IValue>* items = dict               ? nullptr
                                       : value->isTuple() ? &value->toTuple().items
                                                          : &value->toList().items;
    if (next == 0) out << (dict ? '{' : value->isTuple() ? '(' : '[');
    const size_t count = dict ? 2 * dict->size() : items->size();
    if (next == count) {
      out << (dict ? "}" : !value->isTuple() ? "]" : count == 1 ? ",)" : ")");
      open.pop_back();
      continue;
    }
    if (next > 0) out << (dict && next % 2 ? ": " : ", ");
    const size_t at = next++;
    const IValue& item = !dict ? (*items)[at] : at % 2 == 0 ? dict->items[at / 2].first : dict->items[at / 2].second;
    if (item.is_container())
      open.push_back({&item, 0});
    else
      out << item;
  }
}

std::ostream& operator<<(std::ostream& out, const IValue& value) {
  if (value.isNone()) return out << "None";
  if (value.isTensor()) return out << value.toTensor();
  if (value.isBool()) return out << (value.toBool() ? "True" : "False");
  if (value.isInt()) return out << value.toInt();
  if (value.isString()) return out << value.toStringRef();
  if (value.isDouble())
    put_double(out, value.toDouble());
  else if (value.isIntList())
    put_list(out, value.toIntVector());
  else if (value.isDoubleList())
    put_list(out, value.toDoubleVector());
  else if (value.isTensorList())
    put_list(out, value.toTensorVector());
  else
    value.print_container(out);
  return out;
}

}  // namespace cresset
