// How parallel_for cuts its range, and who may cut: the threads are the pool's (thread_pool.h), and whether they are
// used just now is the watch's decision (busy_watch.h).
#include "cresset/core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <utility>

#include "cresset/core/error.h"
#include "cresset/core/library_threads.h"
#include "cresset/core/parallel_probe.h"
#include "cresset/core/thread_pool.h"

// There if the program itself uses OpenMP.
extern "C" {
[[gnu::weak]] int omp_in_parallel();
[[gnu::weak]] int omp_get_thread_num();
[[gnu::weak]] int omp_get_max_threads();
}

namespace cresset {
namespace {

struct ThreadState {
  int16_t serial_depth = 0;
  bool in_region = false;
  int part = 0;
  int told = 0;  // what this thread last told the libraries
};
constinit thread_local ThreadState state;

constinit std::atomic<int> thread_count{0};  // 0: not asked for yet
constinit std::atomic<bool> forked{false};   // threads do not survive a fork, and waiting for them hangs
constinit std::atomic<const detail::LibraryThreads*> libraries{nullptr};

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked = true; });

constinit detail::BusyProbe probe{detail::steady_now, detail::kernel_run_delay};
constinit detail::BusyWatch watch_over_threads;

int default_num_threads() {
  if (omp_get_max_threads != nullptr) return std::max(1, omp_get_max_threads());
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  if (const int count = wanted != nullptr ? std::atoi(wanted) : 0; count > 0) return count;
  return detail::cores_of_this_process();
}

bool in_foreign_region() {
  if (omp_in_parallel != nullptr) return omp_in_parallel() != 0;
  const auto* found = libraries.load(std::memory_order_acquire);
  return found != nullptr && found->in_region();
}

int foreign_thread() {
  if (omp_get_thread_num != nullptr) return omp_get_thread_num();
  const auto* found = libraries.load(std::memory_order_acquire);
  return found != nullptr ? found->number() : 0;
}

bool is_forked() { return forked.load(std::memory_order_relaxed); }

// Whether this thread may start a region.
bool may_split() { return !is_forked() && state.serial_depth == 0 && !in_parallel_region(); }

void tell_libraries(int count) {
  if (CRESSET_LIKELY(state.told == count)) return;
  const auto* found = libraries.load(std::memory_order_acquire);
  if (found == nullptr) return;
  found->set(count);
  state.told = count;
}

class FirstException {
 public:
  void keep_current() noexcept {
    if (!taken_.exchange(true)) exception_ = std::current_exception();
  }
  void rethrow() {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> taken_{false};
  std::exception_ptr exception_;
};

// A range in parts, of which the first ones are longer by one where it does not divide.
struct Split {
  int64_t begin, share, longer;
  detail::RangeBody body;
  const void* context;
  FirstException first = {};

  void run(int part) {
    const bool was_in_region = std::exchange(state.in_region, true);
    const int was_part = std::exchange(state.part, part);
    tell_libraries(1);  // workers keep to that
    const int64_t start = begin + part * share + std::min<int64_t>(part, longer);
    try {
      body(context, start, start + share + (part < longer));
    } catch (...) {
      first.keep_current();
    }
    state.in_region = was_in_region;
    state.part = was_part;
  }
};

}  // namespace

int get_num_threads() {
  if (is_forked()) return 1;
  int count = thread_count.load(std::memory_order_relaxed);
  if (CRESSET_LIKELY(count != 0)) return count;
  const int initial = std::min(default_num_threads(), detail::ThreadPool::kMostParts);
  return thread_count.compare_exchange_strong(count, initial) ? initial : count;
}

void set_num_threads(int count) {
  CRESSET_CHECK_AS(ValueError, count >= 1, "set_num_threads: found ", count, " (expected at least 1)");
  constexpr int kMost = detail::ThreadPool::kMostParts;  // far beyond any machine
  CRESSET_CHECK_AS(ValueError, count <= kMost, "set_num_threads: found ", count, " (expected at most ", kMost, ")");
  thread_count = count;
}

bool in_parallel_region() { return state.in_region || (!is_forked() && in_foreign_region()); }

int get_thread_num() { return state.in_region || is_forked() ? state.part : foreign_thread(); }

void align_library_threads() {
  if (state.in_region) return tell_libraries(1);
  if (!is_forked() && in_foreign_region()) return;  // there OpenMP itself keeps them serial
  tell_libraries(state.serial_depth == 0 ? get_num_threads() : 1);
}

SerialScope::SerialScope() { ++state.serial_depth; }
SerialScope::~SerialScope() { --state.serial_depth; }

namespace detail {

SerialLibraries::SerialLibraries() : told_(state.told) {
  const LibraryThreads* found = libraries.load(std::memory_order_acquire);
  if (found == nullptr || told_ == 1) return;
  before_ = found->get();
  tell_libraries(1);
}

SerialLibraries::~SerialLibraries() {
  if (before_ == 0) return;
  libraries.load(std::memory_order_acquire)->set(before_);
  state.told = told_;
}

void register_library_threads(const LibraryThreads* threads) { libraries.store(threads, std::memory_order_release); }

BusyProbe set_busy_probe(const BusyProbe& wanted) {
  watch_over_threads.forget();
  return std::exchange(probe, wanted);
}

void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body, const void* context) {
  const int64_t range = end - begin;
  const auto parts = static_cast<int>(std::min<int64_t>(get_num_threads(), range / std::max<int64_t>(1, grain)));
  if (parts <= 1 || !may_split()) return body(context, begin, end);

  Split split{begin, range / parts, range % parts, body, context};
  {
    const SerialLibraries serial;
    if (watch_over_threads.threads_pay(probe)) {
      const auto task = [](void* of, int part) { static_cast<Split*>(of)->run(part); };
      watch_over_threads.add(ThreadPool::get().run(parts, task, &split, probe), probe);
    } else {
      for (int part = 0; part < parts; ++part) split.run(part);
    }
  }
  split.first.rethrow();
}

}  // namespace detail
}  // namespace cresset
