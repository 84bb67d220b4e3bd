// For kernels that move elements: their size is all that matters, unless they are added up where they arrive.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cresset/core/dtype.h"

namespace cresset::cpu {

struct Bytes16 {
  uint64_t half[2];
};

// f of a value of a type that has so many bytes.
template <class F>
auto with_size(size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(Bytes16{});
  }
}
template <class F>
auto with_size_of(DType dtype, const F& f) {
  return with_size(element_size(dtype), f);
}

// What is done with an element: to = from, or to += from.
template <class T>
struct Store {
  using Type = T;
  static void apply(T& to, const T& from) { to = from; }
};
template <class T>
struct Accumulate {
  using Type = T;
  static void apply(T& to, const T& from) {
    if constexpr (std::is_same_v<T, bool>)
      to = to || from;
    else if constexpr (std::is_integral_v<T>)
      to = static_cast<T>(static_cast<uint64_t>(to) + static_cast<uint64_t>(from));
    else
      to = static_cast<T>(to + from);
  }
};

}  // namespace cresset::cpu
