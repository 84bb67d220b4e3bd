// AnyValue: one argument or result of a module's forward, of whatever type. Asking for another type than the one that
// is held is an error that names both.
#pragma once

#include <any>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "cresset/core/tensor.h"

namespace cresset::nn {

namespace detail {
CRESSET_API std::string demangled(const std::type_info& type);
[[noreturn]] CRESSET_API void wrong_any_type(const std::type_info& wanted, const std::type_info& found);
}  // namespace detail

class AnyValue {
 public:
  AnyValue() = default;
  template <class T>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): the constraint leaves copies and moves alone
  requires(!std::is_same_v<std::decay_t<T>, AnyValue>) explicit AnyValue(T&& value) : held_(std::forward<T>(value)) {}

  bool has_value() const noexcept { return held_.has_value(); }
  const std::type_info& type_info() const noexcept { return held_.type(); }
  // Null when another type is held.
  template <class T>
  T* try_get() {
    static_assert(!std::is_reference_v<T>, "AnyValue holds values: ask for the type without a reference");
    return std::any_cast<std::decay_t<T>>(&held_);
  }
  template <class T>
  const T* try_get() const {
    return const_cast<AnyValue*>(this)->try_get<T>();
  }
  template <class T>
  T& get() {
    if (T* value = try_get<T>()) return *value;
    detail::wrong_any_type(typeid(T), type_info());
  }
  template <class T>
  const T& get() const {
    return const_cast<AnyValue*>(this)->get<T>();
  }

 private:
  std::any held_;
};

using AnyValues = std::vector<AnyValue>;

// any_values(x, mask): arguments for Module::call.
template <class... Ts>
AnyValues any_values(Ts&&... values) {
  AnyValues list;
  list.reserve(sizeof...(Ts));
  (list.emplace_back(std::forward<Ts>(values)), ...);
  return list;
}

}  // namespace cresset::nn
