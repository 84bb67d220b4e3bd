// Warnings: whatever Cresset says without failing goes through warn(). A program may take the texts over with
// set_warning_handler (to log, count or forbid them); without one they go to stderr as "Warning: text". torch.h adds
// libtorch's way to do that, a WarningHandler of the program's own.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "cresset/core/error.h"
#include "cresset/core/export.h"

namespace cresset {

enum class WarningKind { user, deprecation };

struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};

class WarningHandler;

struct Warning {
  WarningKind kind = WarningKind::user;
  std::string text;

  // libtorch's questions.
  const std::string& msg() const { return text; }
  SourceLocation source_location() const { return {}; }
  bool verbatim() const { return false; }
  // What older libtorch has in a namespace of this name, for all threads. A handler stays the caller's, who keeps it
  // alive; setting nullptr brings the default back.
  CRESSET_API static void set_warning_handler(WarningHandler* handler);
  CRESSET_API static WarningHandler* get_warning_handler();
  class WarningHandlerGuard;
};

// libtorch's kind of handler: derive from it and override one of the two.
class CRESSET_API WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning);  // hands it to the older form
  virtual void process(const SourceLocation& where, const std::string& text, bool verbatim);  // to stderr
};

class Warning::WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : before_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(before_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};

// Called by whichever thread warns, by several at once if several do. What it throws reaches the code that warned.
using WarningFunction = std::function<void(const Warning&)>;

// Returns the handler that was there; an empty one stands for stderr. For all threads.
CRESSET_API WarningFunction set_warning_handler(WarningFunction handler);

CRESSET_API void warn(std::string text, WarningKind kind = WarningKind::user);

// With `always`, CRESSET_WARN_ONCE warns each time. Returns what was set before.
CRESSET_API bool set_warn_always(bool always);
CRESSET_API bool warns_always();
CRESSET_API bool has_warning_handler();  // whether one in libtorch's form is set

// Handles warnings while it lives.
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningFunction handler) : before_(set_warning_handler(std::move(handler))) {}
  ~WarningHandlerGuard() { set_warning_handler(std::move(before_)); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningFunction before_;
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

// The same, but each time where a handler in libtorch's form listens: libtorch says these each time.
#define CRESSET_WARN_ONCE_UNLESS_HANDLED(...)              \
  do {                                                     \
    if (CRESSET_LIKELY(!::cresset::has_warning_handler())) \
      CRESSET_WARN_ONCE(__VA_ARGS__);                      \
    else                                                   \
      CRESSET_WARN(__VA_ARGS__);                           \
  } while (false)
