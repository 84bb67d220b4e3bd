// Errors: one small hierarchy under cresset::Error and one check macro. Every message names the op, the argument, the
// value found and the value wanted; the text is built out of line so that a check costs a compare and a cold branch.
#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "cresset/core/export.h"

namespace cresset {

class CRESSET_API Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }
  const std::string& msg() const noexcept { return message_; }
  void set_message(std::string message) { message_ = std::move(message); }

 private:
  std::string message_;
};

#define CRESSET_DEFINE_ERROR(Name)        \
  class CRESSET_API Name : public Error { \
   public:                                \
    using Error::Error;                   \
  }
CRESSET_DEFINE_ERROR(ShapeError);
CRESSET_DEFINE_ERROR(TypeError);
CRESSET_DEFINE_ERROR(ValueError);
CRESSET_DEFINE_ERROR(DeviceError);
CRESSET_DEFINE_ERROR(IndexError);
CRESSET_DEFINE_ERROR(AutogradError);
CRESSET_DEFINE_ERROR(IoError);
CRESSET_DEFINE_ERROR(DistributedError);
CRESSET_DEFINE_ERROR(OutOfMemoryError);
CRESSET_DEFINE_ERROR(NotImplementedError);
#undef CRESSET_DEFINE_ERROR

// What a handle without a tensor says; the op that was given it puts its own name and the argument's in place.
inline constexpr const char* kUndefinedTensor = "Tensor: found an undefined tensor (expected a defined one)";

// Joins its arguments with operator<<.
template <class... Args>
[[gnu::noinline, gnu::cold]] std::string message_of(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}
inline std::string message_of() { return {}; }

}  // namespace cresset

// CRESSET_CHECK_AS(ShapeError, a == b, "op: found ", a, " (expected ", b, ")");
#define CRESSET_CHECK_AS(Type, condition, ...)                                                     \
  do {                                                                                             \
    if (CRESSET_UNLIKELY(!(condition))) throw ::cresset::Type(::cresset::message_of(__VA_ARGS__)); \
  } while (false)

#define CRESSET_CHECK(condition, ...) CRESSET_CHECK_AS(Error, condition, __VA_ARGS__)
