// In oneDNN 2.6 it is the float product without packing that makes a work space of the heap its stack, when the inner
// dimension is long; which kernels do so is the library's affair, so that all of its calls are guarded. OpenBLAS's own
// kernels leave the stack pointer on the stack. They are under the guard as well, because the workers that they start
// are the same that oneDNN uses later.
#include "cresset/backends/cpu/dnn/library_call.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cresset/core/parallel.h"
#include "cresset/core/process_end.h"

namespace cresset::cpu {
namespace {

// Workers may be there already, made by a region of the program's own and with its mask: they are told once. Where a
// program changes the size of its own regions later, OpenMP makes new ones with the mask of the thread that asks.
void tell_workers() {
#ifdef _OPENMP
  constinit static thread_local int told = 1;
  const int threads = omp_get_max_threads();
  if (threads == told || threads == 1 || omp_in_parallel()) return;
#pragma omp parallel num_threads(threads)
  {
    constinit static thread_local bool refuses = false;
    if (omp_get_thread_num() != 0 && !refuses) {
      refuse_signals_for_good();
      refuses = true;
    }
  }
  told = threads;
#endif
}

constinit std::atomic<int> calls_under_way{0};
constinit std::atomic<uint64_t> calls_ended{0};

void wait_for_calls() {
  constexpr auto kLongest = std::chrono::seconds(10);
  const auto until = std::chrono::steady_clock::now() + kLongest;
  while (calls_under_way > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

[[maybe_unused]] const bool waits_at_end = (when_process_ends(wait_for_calls), true);
// A forked child has none of the threads that were inside.
[[maybe_unused]] const int counts_anew = pthread_atfork(nullptr, nullptr, [] { calls_under_way = 0; });

}  // namespace

LibraryCall::LibraryCall() {
  calls_under_way++;  // before the question, so that either side sees the other
  allowed_ = !process_is_ending();
  if (!allowed_) {
    calls_under_way--;
    return;
  }
  align_library_threads();
  tell_workers();
}

LibraryCall::~LibraryCall() {
  if (!allowed_) return;
  calls_under_way--;
  // The libraries make most of their statics in the first calls, others whenever a new kind of product comes.
  const uint64_t ended = ++calls_ended;
  if ((ended & (ended - 1)) == 0) watch_process_end_anew();
}

void LibraryCall::wait_unless_allowed() const {
  while (!allowed_) pause();
}

}  // namespace cresset::cpu
