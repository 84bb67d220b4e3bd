#include "cresset/core/warning.h"

#include <iostream>
#include <memory>
#include <mutex>

namespace cresset {
namespace {

std::atomic<bool> always = false;

// A handler in libtorch's form stands above the program's function until one of the two is set again.
struct Handlers {
  std::mutex mutex;
  std::shared_ptr<const WarningFunction> current;
  WarningHandler* above = nullptr;
};

// Never destroyed: threads that outlive main may still warn.
Handlers& handlers() {
  static Handlers* const all = new Handlers;
  return *all;
}

}  // namespace

static WarningHandler& default_handler() {
  static WarningHandler* const handler = new WarningHandler;
  return *handler;
}
static void warn_below(const Warning& warning) {
  std::shared_ptr<const WarningFunction> function;
  {
    Handlers& all = handlers();
    const std::lock_guard lock(all.mutex);
    function = all.current;
  }
  if (function) return (*function)(warning);
  // By the stream, which a progress bar can see; in one piece.
  std::cerr << "Warning: " + warning.text + "\n" << std::flush;
}

namespace {
// What set_warning_handler returns while a handler in libtorch's form stands above: given back, it puts both in place.
struct Both {
  WarningHandler* above;
  std::shared_ptr<const WarningFunction> below;
  void operator()(const Warning& warning) const { above->process(warning); }
};
}  // namespace

WarningFunction set_warning_handler(WarningFunction handler) {
  std::shared_ptr<const WarningFunction> function;
  WarningHandler* above = nullptr;
  if (const Both* both = handler.target<Both>()) {
    above = both->above;
    function = both->below;
  } else if (handler) {
    function = std::make_shared<const WarningFunction>(std::move(handler));
  }
  Handlers& all = handlers();
  {
    const std::lock_guard lock(all.mutex);
    all.current.swap(function);
    std::swap(all.above, above);
  }
  if (above) return Both{above, std::move(function)};
  return function ? *function : WarningFunction();
}

void Warning::set_warning_handler(WarningHandler* handler) {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  all.above = handler == &default_handler() ? nullptr : handler;
}
WarningHandler* Warning::get_warning_handler() {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  return all.above ? all.above : &default_handler();
}

void WarningHandler::process(const Warning& warning) { process(warning.source_location(), warning.text, false); }
void WarningHandler::process(const SourceLocation&, const std::string& text, bool) {
  warn_below({WarningKind::user, text});
}

void warn(std::string text, WarningKind kind) {
  Warning warning{kind, std::move(text)};
  WarningHandler* handler = Warning::get_warning_handler();
  if (handler != &default_handler()) return handler->process(warning);
  warn_below(warning);
}

bool has_warning_handler() { return Warning::get_warning_handler() != &default_handler(); }
bool set_warn_always(bool wanted) { return always.exchange(wanted); }
bool warns_always() { return always.load(std::memory_order_relaxed); }

}  // namespace cresset
