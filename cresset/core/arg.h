// CRESSET_ARG(T, name) = default: a member `name_` of a struct of options, with setter and getters of that name:
// LinearOptions(3, 4).bias(false), options.bias(). The setter is a template so that it is compiled where it is called:
// a header has hundreds.
#pragma once

#include <utility>

#define CRESSET_ARG(T, name)                                      \
 public:                                                          \
  template <class = void>                                         \
  auto name(T new_##name)->decltype(*this) {                      \
    this->name##_ = std::move(new_##name);                        \
    return *this;                                                 \
  }                                                               \
  inline const T& name() const noexcept { return this->name##_; } \
  inline T& name() noexcept { return this->name##_; }             \
                                                                  \
 private:                                                         \
  T name##_ /* NOLINT */
