// Value: one op argument or result of any type, used only where calls are handled by name (modes, capture, bindings).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cresset/core/generator.h"
#include "cresset/core/tensor.h"

namespace cresset {

using Value = std::variant<std::monostate, Tensor, std::vector<Tensor>, Scalar, int64_t, double, bool, std::string,
                           std::vector<int64_t>, DType, Device, TensorOptions, Generator, MemoryFormat, PhiloxCursor>;
using Values = std::vector<Value>;

[[noreturn]] CRESSET_API void wrong_value(const Value& found, const char* wanted);

// How a parameter type of an op is packed into a Value and taken out again. `Holder` lives as long as the call.
template <class T>
struct Boxing;

template <class T, class Stored = T>
struct PlainBoxing {
  static Value pack(const T& value) { return Value(Stored(value)); }
  static const T& unpack(const Value& value) {
    if (auto* held = std::get_if<Stored>(&value)) return *held;
    wrong_value(value, Boxing<T>::name);
  }
};
template <>
struct Boxing<Tensor> {
  static constexpr const char* name = "Tensor";
  static Value pack(const Tensor& t) { return t; }
  static Tensor unpack(const Value& value) {
    if (auto* held = std::get_if<Tensor>(&value)) return *held;
    if (std::holds_alternative<std::monostate>(value)) return {};
    wrong_value(value, name);
  }
};
template <>
struct Boxing<Scalar> {
  static constexpr const char* name = "Scalar";
  static Value pack(const Scalar& s) { return s; }
  static Scalar unpack(const Value& value) {
    if (auto* held = std::get_if<Scalar>(&value)) return *held;
    if (auto* held = std::get_if<int64_t>(&value)) return *held;
    if (auto* held = std::get_if<double>(&value)) return *held;
    if (auto* held = std::get_if<bool>(&value)) return *held;
    wrong_value(value, name);
  }
};
#define CRESSET_PLAIN_BOXING(T, text)         \
  template <>                                 \
  struct Boxing<T> : PlainBoxing<T> {         \
    static constexpr const char* name = text; \
  }
CRESSET_PLAIN_BOXING(int64_t, "int");
CRESSET_PLAIN_BOXING(bool, "bool");
CRESSET_PLAIN_BOXING(DType, "dtype");
CRESSET_PLAIN_BOXING(Device, "device");
CRESSET_PLAIN_BOXING(TensorOptions, "options");
CRESSET_PLAIN_BOXING(Generator, "Generator");
CRESSET_PLAIN_BOXING(MemoryFormat, "memory format");
CRESSET_PLAIN_BOXING(PhiloxCursor, "random counters");
CRESSET_PLAIN_BOXING(std::string, "string");
#undef CRESSET_PLAIN_BOXING
template <>
struct Boxing<double> {
  static constexpr const char* name = "float";
  static Value pack(double x) { return x; }
  static double unpack(const Value& value) {
    if (auto* held = std::get_if<double>(&value)) return *held;
    if (auto* held = std::get_if<int64_t>(&value)) return static_cast<double>(*held);
    wrong_value(value, name);
  }
};
template <>
struct Boxing<std::string_view> {
  static constexpr const char* name = "string";
  static Value pack(std::string_view s) { return std::string(s); }
  static std::string_view unpack(const Value& value) { return Boxing<std::string>::unpack(value); }
};
template <>
struct Boxing<IntArrayRef> {
  static constexpr const char* name = "int[]";
  static Value pack(IntArrayRef list) { return list.vec(); }
  static IntArrayRef unpack(const Value& value) {
    if (auto* held = std::get_if<std::vector<int64_t>>(&value)) return *held;
    if (auto* held = std::get_if<int64_t>(&value)) return IntArrayRef(held, 1);
    wrong_value(value, name);
  }
};
template <>
struct Boxing<TensorList> {
  static constexpr const char* name = "Tensor[]";
  static Value pack(TensorList list) { return list.vec(); }
  static TensorList unpack(const Value& value) {
    if (auto* held = std::get_if<std::vector<Tensor>>(&value)) return *held;
    wrong_value(value, name);
  }
};
template <>
struct Boxing<std::vector<Tensor>> {
  static constexpr const char* name = "Tensor[]";
  static Value pack(std::vector<Tensor> list) { return list; }
  static std::vector<Tensor> unpack(const Value& value) { return Boxing<TensorList>::unpack(value).vec(); }
};
template <class T>
struct Boxing<std::optional<T>> {
  static constexpr const char* name = Boxing<T>::name;
  static Value pack(const std::optional<T>& value) { return value ? Boxing<T>::pack(*value) : Value(); }
  static std::optional<T> unpack(const Value& value) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return Boxing<T>::unpack(value);
  }
};
template <>
struct Boxing<OptionalIntArrayRef> : Boxing<std::optional<IntArrayRef>> {};
// Several results travel as a list.
template <class... Ts>
struct Boxing<std::tuple<Ts...>> {
  static constexpr const char* name = "tuple";
  static Value pack(std::tuple<Ts...> results) {
    return std::apply([](auto&... t) { return Value(std::vector<Tensor>{t...}); }, results);
  }
  static std::tuple<Ts...> unpack(const Value& value) {
    TensorList list = Boxing<TensorList>::unpack(value);
    return [&]<size_t... I>(std::index_sequence<I...>) { return std::tuple<Ts...>(list[I]...); }
    (std::index_sequence_for<Ts...>());
  }
};
template <>
struct Boxing<void> {
  static constexpr const char* name = "None";
};

template <class T>
using Bare = std::remove_cvref_t<T>;

}  // namespace cresset
