#include "cresset/core/warning.h"

#include <iostream>
#include <memory>
#include <mutex>

namespace cresset {
namespace {

std::atomic<bool> always = false;

struct Handlers {
  std::mutex mutex;
  std::shared_ptr<const WarningHandler> current;
};

// Never destroyed: threads that outlive main may still warn.
Handlers& handlers() {
  static Handlers* const all = new Handlers;
  return *all;
}

}  // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
  auto given = handler ? std::make_shared<const WarningHandler>(std::move(handler)) : nullptr;
  Handlers& all = handlers();
  {
    const std::lock_guard lock(all.mutex);
    all.current.swap(given);
  }
  return given ? *given : WarningHandler();
}

void warn(std::string text, WarningKind kind) {
  Handlers& all = handlers();
  std::shared_ptr<const WarningHandler> handler;
  {
    const std::lock_guard lock(all.mutex);
    handler = all.current;
  }
  if (handler) return (*handler)({kind, std::move(text)});
  // By the stream, which a progress bar can see; in one piece.
  std::cerr << "Warning: " + text + "\n" << std::flush;
}

bool set_warn_always(bool wanted) { return always.exchange(wanted); }
bool warns_always() { return always.load(std::memory_order_relaxed); }

}  // namespace cresset
