// The tensors in what a forward returned, whatever its type: tensors, lists, tuples, maps, optionals of them.
#pragma once

#include <optional>
#include <ranges>
#include <tuple>
#include <variant>
#include <vector>

#include "cresset/nn/any_value.h"

namespace cresset::distributed {

struct ResultTensors {
  std::vector<Tensor> tensors;
  bool all = true;  // false: there is something of a type that cannot be looked into
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
void collect(const T& value, ResultTensors& into) {
  if constexpr (std::is_convertible_v<const T&, const Tensor&>) {
    into.tensors.push_back(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_convertible_v<const T&, std::string>) {
    return;
  } else if constexpr (std::is_same_v<T, nn::AnyValue>) {
    if (const Tensor* tensor = value.template try_get<Tensor>())
      into.tensors.push_back(*tensor);
    else if (const auto* list = value.template try_get<std::vector<Tensor>>())
      into.tensors.insert(into.tensors.end(), list->begin(), list->end());
    else
      into.all = into.all && !value.has_value();
  } else if constexpr (is_optional<T>) {
    if (value) collect(*value, into);
  } else if constexpr (std::ranges::range<const T>) {
    for (const auto& item : value) collect(item, into);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    std::apply([&](const auto&... items) { (collect(items, into), ...); }, value);
  } else {
    into.all = false;
  }
}

}  // namespace detail

template <class T>
ResultTensors tensors_in(const T& result) {
  ResultTensors found;
  detail::collect(result, found);
  return found;
}

}  // namespace cresset::distributed
