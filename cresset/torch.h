// libtorch code compiles against this header: `torch` is defined as `cresset` (an alias would break code that reopens
// the namespace), `at` and `c10` hold the same names, and the macros that users write are here.
#pragma once

// What torch/torch.h brings of the standard library, and <fstream> and <random>: programs lean on it.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cresset/core/arg.h"
#include "cresset/core/dlpack.h"
#include "cresset/core/ordered_dict.h"
#include "cresset/cresset.h"

#ifndef torch
#define torch cresset
#endif

namespace cresset {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

// c10::irange(n): 0, 1, … n - 1 in a range-based for.
template <class Integer>
class IntegerRange {
 public:
  class iterator {
   public:
    using value_type = Integer;
    explicit iterator(Integer at) : at_(at) {}
    Integer operator*() const { return at_; }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    Integer at_;
  };
  IntegerRange(Integer first, Integer last) : first_(first), last_(last < first ? first : last) {}
  iterator begin() const { return iterator(first_); }
  iterator end() const { return iterator(last_); }

 private:
  Integer first_, last_;
};

template <class... Args>
std::string str(const Args&... args) {
  return message_of(args...);
}

// at::make_generator<at::CPUGeneratorImpl>(seed)
struct CPUGeneratorImpl {};
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator(uint64_t seed = default_rng_seed_val) {
  return Generator(seed);
}

// at::globalContext(), as far as programs ask it.
class Context {
 public:
  void setDeterministicAlgorithms(bool mode, bool warn_only) { use_deterministic_algorithms(mode, warn_only); }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const { return is_deterministic_algorithms_warn_only_enabled(); }
  void alertNotDeterministic(const char* caller) const { alert_not_deterministic(caller); }
};
inline Context& globalContext() {
  static Context context;
  return context;
}

}  // namespace cresset

namespace c10 {
using namespace ::cresset;
template <class T>
using complex = std::complex<T>;
using std::string_view;

template <class Integer>
::cresset::IntegerRange<Integer> irange(Integer last) {
  return {Integer{0}, last};
}
template <class First, class Last>
::cresset::IntegerRange<Last> irange(First first, Last last) {
  return {static_cast<Last>(first), last};
}
}  // namespace c10

namespace at {
using namespace ::cresset;
}

// ---- checks: without a message, libtorch's own words
#define CRESSET_TORCH_CHECK(Type, condition, ...)                                         \
  do {                                                                                    \
    if (CRESSET_UNLIKELY(!(condition)))                                                   \
      throw ::cresset::Type(::cresset::detail::check_message(#condition, ##__VA_ARGS__)); \
  } while (false)
#define TORCH_CHECK(condition, ...) CRESSET_TORCH_CHECK(Error, condition, ##__VA_ARGS__)
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
#define TORCH_WARN(...) (std::cerr << ::cresset::message_of("Warning: ", ##__VA_ARGS__, "\n"))
#define TORCH_WARN_ONCE(...)                          \
  do {                                                \
    [[maybe_unused]] static const bool warned = [&] { \
      TORCH_WARN(__VA_ARGS__);                        \
      return true;                                    \
    }();                                              \
  } while (false)
#define TORCH_API CRESSET_API
#define C10_API CRESSET_API
#define C10_EXPORT CRESSET_API
#define C10_LIKELY CRESSET_LIKELY
#define C10_UNLIKELY CRESSET_UNLIKELY
#define C10_UNUSED [[maybe_unused]]

#define TORCH_ARG CRESSET_ARG
#define TORCH_MODULE CRESSET_MODULE
#define TORCH_MODULE_IMPL CRESSET_MODULE_IMPL
#define FORWARD_HAS_DEFAULT_ARGS CRESSET_FORWARD_HAS_DEFAULT_ARGS
#define FORWARD_ARG CRESSET_FORWARD_ARG

// ---- dispatch on the element type; scalar_t is the C++ type inside the body
#define AT_DISPATCH_CASE(enumerator, ...)                                         \
  case enumerator: {                                                              \
    using scalar_t [[maybe_unused]] = ::cresset::detail::ElementType<enumerator>; \
    return __VA_ARGS__();                                                         \
  }
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                            \
  [&] {                                                                                                                \
    const ::cresset::DType dispatched_dtype = TYPE;                                                                    \
    switch (dispatched_dtype) {                                                                                        \
      __VA_ARGS__                                                                                                      \
      default:                                                                                                         \
        throw ::cresset::NotImplementedError(                                                                          \
            ::cresset::message_of('"', NAME, "\" not implemented for '", ::cresset::toString(dispatched_dtype), "'")); \
    }                                                                                                                  \
  }()
#define CRESSET_CASES_FLOATING(...)                 \
  AT_DISPATCH_CASE(::cresset::kDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kFloat, __VA_ARGS__)
#define CRESSET_CASES_INTEGRAL(...)                \
  AT_DISPATCH_CASE(::cresset::kByte, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kChar, __VA_ARGS__)  \
  AT_DISPATCH_CASE(::cresset::kShort, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kInt, __VA_ARGS__)   \
  AT_DISPATCH_CASE(::cresset::kLong, __VA_ARGS__)
#define CRESSET_CASES_COMPLEX(...)                         \
  AT_DISPATCH_CASE(::cresset::kComplexDouble, __VA_ARGS__) \
  AT_DISPATCH_CASE(::cresset::kComplexFloat, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(::cresset::kHalf, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_FLOATING(__VA_ARGS__) CRESSET_CASES_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
  AT_DISPATCH_SWITCH(TYPE, NAME, CRESSET_CASES_INTEGRAL(__VA_ARGS__) CRESSET_CASES_FLOATING(__VA_ARGS__))

namespace cresset::detail {

template <class... Args>
std::string check_message(const char* condition, const Args&... args) {
  if constexpr (sizeof...(Args) == 0)
    return message_of("Expected ", condition, " to be true, but got false.");
  else
    return message_of(args...);
}

template <DType dtype>
auto element_of() {
#define CRESSET_ELEMENT_OF(T, Name) \
  if constexpr (dtype == DType::Name) return T();
  CRESSET_FOR_EACH_DTYPE(CRESSET_ELEMENT_OF)
#undef CRESSET_ELEMENT_OF
}
template <DType dtype>
using ElementType = decltype(element_of<dtype>());

}  // namespace cresset::detail
