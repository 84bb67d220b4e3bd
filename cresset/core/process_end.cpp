// exit() destroys the calling thread's thread-locals before anything else, then calls what atexit() was given, the
// latest first. A thread-local of the thread that loads the library (main, in all but strange programs) therefore gives
// atexit() a function just in time to be the first. Should that thread end without ending the process, nothing is lost.
#include "cresset/core/process_end.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>

namespace cresset {
namespace {

constinit std::atomic<bool> process_ends{false};
constinit std::atomic<pthread_t> ending_thread{};
constinit std::atomic<void (*)()> call_at_end{nullptr};

void begin_process_end() {
  if (process_ends) return;
  ending_thread = pthread_self();
  process_ends = true;
  if (auto* call = call_at_end.load()) call();
}

struct EndOfThread {
  ~EndOfThread() { std::atexit(begin_process_end); }
};
[[maybe_unused]] const bool watches = [] {
  static thread_local EndOfThread end;
  static_cast<void>(end);
  return true;
}();

}  // namespace

bool process_is_ending() noexcept { return process_ends && ending_thread != pthread_self(); }
void when_process_ends(void (*call)()) { call_at_end = call; }
void watch_process_end_anew() { std::atexit(begin_process_end); }

}  // namespace cresset
