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
  // what() has the backtrace behind the message.
  Error(std::string message, const std::string& backtrace)
      : message_(std::move(message)), with_backtrace_(message_ + '\n' + backtrace) {}
  const char* what() const noexcept override { return (with_backtrace_.empty() ? message_ : with_backtrace_).c_str(); }
  const char* what_without_backtrace() const noexcept { return message_.c_str(); }
  const std::string& msg() const noexcept { return message_; }
  std::string backtrace() const {
    return with_backtrace_.empty() ? std::string() : with_backtrace_.substr(message_.size() + 1);
  }
  void set_message(std::string message) {
    if (!with_backtrace_.empty()) with_backtrace_.replace(0, message_.size(), message);
    message_ = std::move(message);
  }

 private:
  std::string message_, with_backtrace_;
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
