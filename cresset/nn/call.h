// How a module of known type is called with values of unknown type: one function per type, made from its forward and
// kept in the module, so that Sequential, hooks, data parallelism and bindings need not know the type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cresset/nn/any_value.h"

namespace cresset::nn {

class Module;
using CallFunction = AnyValue (*)(Module& module, AnyValues& arguments);

namespace detail {

// Fills in default arguments (FORWARD_HAS_DEFAULT_ARGS) and checks the count.
CRESSET_API void complete_arguments(Module& module, AnyValues& arguments, size_t wanted);
[[noreturn]] CRESSET_API void wrong_argument(const Module& module, size_t index, const std::type_info& wanted,
                                             const std::type_info& found);
[[noreturn]] CRESSET_API void wrong_result(const Module& module, const std::type_info& wanted,
                                           const std::type_info& found);
[[noreturn]] CRESSET_API void hooks_need_one_forward(const Module& module);

template <class P>
P&& argument(const Module& module, AnyValue& value, size_t index) {
  using T = std::decay_t<P>;
  if (T* held = value.try_get<T>()) return static_cast<P&&>(*held);
  wrong_argument(module, index, typeid(T), value.type_info());
}

// The parameters of a forward that is neither overloaded nor a template.
template <class F>
struct Forward;
template <class M, class R, class... P>
struct Forward<R (M::*)(P...)> {
  using Result = R;
  template <class Concrete, size_t... I>
  static AnyValue run(Concrete& module, AnyValues& arguments, std::index_sequence<I...>) {
    complete_arguments(module, arguments, sizeof...(P));
    if constexpr (std::is_void_v<R>) {
      module.forward(argument<P>(module, arguments[I], I)...);
      return AnyValue();
    } else {
      return AnyValue(module.forward(argument<P>(module, arguments[I], I)...));
    }
  }
  template <class Concrete>
  static AnyValue call(Module& module, AnyValues& arguments) {
    return run(static_cast<Concrete&>(module), arguments, std::index_sequence_for<P...>());
  }
  // Arguments in the types that forward declares: a literal becomes the double that is wanted.
  template <class... Args>
  static AnyValues pack(Args&&... args) {
    AnyValues list;
    list.reserve(sizeof...(P));
    pack_as<P...>(list, std::forward<Args>(args)...);
    return list;
  }

 private:
  template <class... Rest>
  static void pack_as(AnyValues&) {}
  template <class First, class... Rest, class Arg, class... Args>
  static void pack_as(AnyValues& list, Arg&& arg, Args&&... args) {
    list.emplace_back(static_cast<std::decay_t<First>>(std::forward<Arg>(arg)));
    if constexpr (sizeof...(Args) > 0) pack_as<Rest...>(list, std::forward<Args>(args)...);
  }
};
template <class M, class R, class... P>
struct Forward<R (M::*)(P...) const> : Forward<R (M::*)(P...)> {};

template <class M>
concept ForwardsAny = requires(M& module, AnyValues& arguments) {
  { module.any_forward(arguments) } -> std::same_as<AnyValue>;
};
template <class M>
concept ForwardsKnown = requires {
  typename Forward<decltype(&M::forward)>::Result;
};

// A concrete type's call; null when its forward is overloaded, a template or not there.
template <class M>
constexpr CallFunction call_function() {
  if constexpr (ForwardsAny<M>)
    return [](Module& module, AnyValues& arguments) { return static_cast<M&>(module).any_forward(arguments); };
  else if constexpr (ForwardsKnown<M>)
    return &Forward<decltype(&M::forward)>::template call<M>;
  else
    return nullptr;
}

}  // namespace detail
}  // namespace cresset::nn
