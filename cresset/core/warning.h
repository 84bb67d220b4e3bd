// Warnings: whatever Cresset says without failing goes through warn(). A program may take the texts over with
// set_warning_handler (to log, count or forbid them); without one they go to stderr as "Warning: text".
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "cresset/core/error.h"
#include "cresset/core/export.h"

namespace cresset {

enum class WarningKind { user, deprecation };

struct Warning {
  WarningKind kind = WarningKind::user;
  std::string text;
};

// Called by whichever thread warns, by several at once if several do. What it throws reaches the code that warned.
using WarningHandler = std::function<void(const Warning&)>;

// Returns the handler that was there; an empty one stands for stderr. For all threads.
CRESSET_API WarningHandler set_warning_handler(WarningHandler handler);

CRESSET_API void warn(std::string text, WarningKind kind = WarningKind::user);

// With `always`, CRESSET_WARN_ONCE warns each time. Returns what was set before.
CRESSET_API bool set_warn_always(bool always);
CRESSET_API bool warns_always();

// Handles warnings while it lives.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler handler) : before_(set_warning_handler(std::move(handler))) {}
  ~WarningHandlerGuard() { set_warning_handler(std::move(before_)); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler before_;
};

}  // namespace cresset

#define CRESSET_WARN(...) ::cresset::warn(::cresset::message_of(__VA_ARGS__))

// Once for each place in the source.
#define CRESSET_WARN_ONCE(...)                                                                                    \
  do {                                                                                                            \
    static std::atomic<bool> cresset_warned = false;                                                              \
    if (CRESSET_UNLIKELY(!cresset_warned.exchange(true, std::memory_order_relaxed) || ::cresset::warns_always())) \
      CRESSET_WARN(__VA_ARGS__);                                                                                  \
  } while (false)
