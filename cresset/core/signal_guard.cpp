#include "cresset/core/signal_guard.h"

#include <signal.h>

#include <initializer_list>

namespace cresset {
namespace {

struct ThreadSignals {
  int depth = 0;
  sigset_t before{};  // the mask that the outermost guard found
};
constinit thread_local ThreadSignals thread_signals;

sigset_t held_back() {
  sigset_t set;
  sigfillset(&set);
  for (const int caused_by_code : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&set, caused_by_code);
  return set;
}

}  // namespace

SignalGuard::SignalGuard() noexcept {
  if (thread_signals.depth++ > 0) return;
  static const sigset_t set = held_back();
  pthread_sigmask(SIG_BLOCK, &set, &thread_signals.before);
}

SignalGuard::~SignalGuard() {
  if (--thread_signals.depth == 0) pthread_sigmask(SIG_SETMASK, &thread_signals.before, nullptr);
}

void refuse_signals_for_good() noexcept {
  thread_signals.depth++;  // never given back: no guard here is the outermost
  const sigset_t set = held_back();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace cresset
