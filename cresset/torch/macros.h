// libtorch's macros: checks, attributes, modules and their options, how optimizers of one's own save themselves.
#pragma once

#include <iostream>
#include <string>

#include "cresset/core/arg.h"
#include "cresset/core/error.h"
#include "cresset/ops/linalg.h"
#include "cresset/torch/warnings.h"

// The libtorch whose names these are.
#define TORCH_VERSION_MAJOR 1
#define TORCH_VERSION_MINOR 13
#define TORCH_VERSION_PATCH 1
#define TORCH_VERSION "1.13.1"

// ---- checks: without a message, libtorch's own words
#define CRESSET_TORCH_CHECK(Type, condition, ...)                                         \
  do {                                                                                    \
    if (CRESSET_UNLIKELY(!(condition)))                                                   \
      throw ::cresset::Type(::cresset::detail::check_message(#condition, ##__VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK(condition, ...) CRESSET_TORCH_CHECK(Error, condition, ##__VA_ARGS__)
#define TORCH_CHECK_ARG(condition, argument, ...) \
  TORCH_CHECK(condition, "invalid argument ", argument, ": ", ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) CRESSET_TORCH_CHECK(IndexError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) CRESSET_TORCH_CHECK(ValueError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) CRESSET_TORCH_CHECK(TypeError, condition, ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) CRESSET_TORCH_CHECK(NotImplementedError, condition, ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                    \
  CRESSET_TORCH_CHECK(Error, condition, #condition " INTERNAL ASSERT FAILED at ", __FILE__, ":", __LINE__, ". ", \
                      ##__VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) static_cast<void>(0)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) throw ::cresset::Error(::cresset::message_of(__VA_ARGS__))
#define TORCH_CHECK_WITH(Type, condition, ...) CRESSET_TORCH_CHECK(Type, condition, ##__VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) CRESSET_TORCH_CHECK(LinAlgError, condition, ##__VA_ARGS__)
#define C10_THROW_ERROR(Type, message) throw ::cresset::Type(message)

// ---- what libtorch's own headers say of functions and classes
#define TORCH_API CRESSET_API
#define C10_API CRESSET_API
#define C10_EXPORT CRESSET_API
#define C10_LIKELY CRESSET_LIKELY
#define C10_UNLIKELY CRESSET_UNLIKELY
#define C10_UNUSED [[maybe_unused]]
#define C10_NODISCARD [[nodiscard]]
#define C10_NOINLINE [[gnu::noinline]]
#define C10_ALWAYS_INLINE [[gnu::always_inline]] inline
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_DEPRECATED [[deprecated]]
#define C10_DEPRECATED_MESSAGE(message) [[deprecated(message)]]
#define C10_RESTRICT __restrict
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#define C10_DISABLE_COPY_AND_ASSIGN(Class) \
  Class(const Class&) = delete;            \
  Class& operator=(const Class&) = delete
#define AT_DISALLOW_COPY_AND_ASSIGN(Class) C10_DISABLE_COPY_AND_ASSIGN(Class)

#define TORCH_ARG CRESSET_ARG
#define TORCH_MODULE CRESSET_MODULE
#define TORCH_MODULE_IMPL CRESSET_MODULE_IMPL
#define FORWARD_HAS_DEFAULT_ARGS CRESSET_FORWARD_HAS_DEFAULT_ARGS
#define FORWARD_ARG CRESSET_FORWARD_ARG

// ---- how optimizers of one's own save and load themselves, within serialize(archive) of options and states, and
// within the optimizer's save and load
#define _TORCH_OPTIM_SERIALIZE(name) ::cresset::optim::serialize(archive, #name, self.name)  // NOLINT
#define _TORCH_OPTIM_SERIALIZE_WITH_TEMPLATE_ARG(Name)                                       /* NOLINT */ \
  ::cresset::optim::serialize<Name##ParamState, Name##Options>(archive, self)
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) ::cresset::optim::serialize(archive, #name, name())  // NOLINT
#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG_DEQUE(name) _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name)         // NOLINT
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)                                                 /* NOLINT */ \
  ::cresset::optim::serialize(archive, #name, static_cast<T&>(this->name()))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_OPTIONAL(T, name) /* NOLINT */ \
  ::cresset::optim::serialize(archive, #name, static_cast<std::optional<T>&>(this->name()))
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG_DEQUE(T, name) _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name)  // NOLINT

namespace cresset::detail {

template <class... Args>
std::string check_message(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    return message_of("Expected ", condition, " to be true, but got false.");
  else
    return message_of(args...);
}

}  // namespace cresset::detail
