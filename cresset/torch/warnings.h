// libtorch's names for warnings: handlers that are objects, their guard, and the switch that turns "once" off. The
// facility itself is core/warning.h.
#pragma once

#include "cresset/core/warning.h"

namespace cresset {

// c10::warn(c10::Warning(c10::UserWarning(), location, text, false)) is seldom written; the kinds are for
// TORCH_WARN_WITH.
struct UserWarning {
  static constexpr WarningKind kind = WarningKind::user;
};
struct DeprecationWarning {
  static constexpr WarningKind kind = WarningKind::deprecation;
};

namespace WarningUtils {  // NOLINT
inline void set_warning_handler(WarningHandler* handler) { Warning::set_warning_handler(handler); }
inline WarningHandler* get_warning_handler() { return Warning::get_warning_handler(); }
using WarningHandlerGuard = Warning::WarningHandlerGuard;
inline void set_warnAlways(bool always) { set_warn_always(always); }
inline bool get_warnAlways() { return warns_always(); }
class WarnAlways {
 public:
  explicit WarnAlways(bool always = true) : before_(set_warn_always(always)) {}
  ~WarnAlways() { set_warn_always(before_); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool before_;
};
}  // namespace WarningUtils
using WarningUtils::get_warnAlways;
using WarningUtils::set_warnAlways;

}  // namespace cresset

#define TORCH_WARN(...) CRESSET_WARN(__VA_ARGS__)
#define TORCH_WARN_ONCE(...) CRESSET_WARN_ONCE(__VA_ARGS__)
#define TORCH_WARN_WITH(Kind, ...) ::cresset::warn(::cresset::message_of(__VA_ARGS__), ::cresset::Kind::kind)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(DeprecationWarning, __VA_ARGS__)
