// The pool behind parallel_for. Regions always ask for the full thread count: libgomp ends the threads that a smaller
// region does not need and must then create them anew. With CRESSET_PLAIN_POOL=1 a pool of std::threads takes OpenMP's
// place, whose barriers the thread sanitizer cannot see.
#include "cresset/core/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "cresset/core/error.h"

#if CRESSET_PLAIN_POOL
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#else
#include <omp.h>
#endif

namespace cresset {
namespace {

struct ThreadState {
  int16_t serial_depth = 0;
  bool in_region = false;
  int part = 0;
  int aligned = 0;  // what this thread last told OpenMP
};
constinit thread_local ThreadState state;

constinit std::atomic<int> thread_count{0};  // 0: not asked for yet
constinit std::atomic<bool> forked{false};   // libgomp's threads do not survive a fork, and waiting for them hangs

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { forked = true; });

#if CRESSET_PLAIN_POOL

int default_num_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int count = wanted != nullptr ? std::atoi(wanted) : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, count);
}

bool in_foreign_region() { return false; }
int foreign_thread() { return 0; }

class Pool {
 public:
  // Never destroyed: its threads wait in it until the process ends.
  static Pool& get() {
    static Pool* pool = new Pool;
    return *pool;
  }

  template <class Task>
  void run(int parts, const Task& task) {
    std::unique_lock busy(busy_, std::try_to_lock);
    std::unique_lock lock(mutex_);
    if (!busy.owns_lock()) {  // another thread's region has the workers
      lock.unlock();
      for (int part = 0; part < parts; ++part) task(part);
      return;
    }
    for (; workers_ < parts - 1; ++workers_) std::thread([this] { serve(); }).detach();
    call_ = [](const void* context, int part) { (*static_cast<const Task*>(context))(part); };
    context_ = &task;
    next_ = 0;
    parts_ = unfinished_ = parts;
    wake_.notify_all();
    while (next_ < parts_) run_one(lock);
    done_.wait(lock, [this] { return unfinished_ == 0; });
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return next_ < parts_; });
      run_one(lock);
    }
  }

  void run_one(std::unique_lock<std::mutex>& lock) {
    const int part = next_++;
    lock.unlock();
    call_(context_, part);
    lock.lock();
    if (--unfinished_ == 0) done_.notify_one();
  }

  std::mutex busy_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  void (*call_)(const void*, int) = nullptr;
  const void* context_ = nullptr;
  int workers_ = 0;
  int next_ = 0;
  int parts_ = 0;
  int unfinished_ = 0;
};

template <class Task>
void run_on_pool(int parts, int /*threads*/, const Task& task) {
  Pool::get().run(parts, task);
}

void tell_libraries(int) {}

#else

int default_num_threads() { return std::max(1, omp_get_max_threads()); }

bool in_foreign_region() { return omp_in_parallel() != 0; }
int foreign_thread() { return omp_get_thread_num(); }

template <class Task>
void run_on_pool(int parts, int threads, const Task& task) {
#pragma omp parallel num_threads(threads)
  // OpenMP may give fewer threads than asked for.
  for (int part = omp_get_thread_num(); part < parts; part += omp_get_num_threads()) task(part);
}

// Sets a number only; unlike a region it is safe in a forked child, where it keeps libraries from starting one.
void tell_libraries(int count) { omp_set_num_threads(count); }

#endif

bool is_forked() { return forked.load(std::memory_order_relaxed); }

// Whether this thread may start a region.
bool may_split() { return !is_forked() && state.serial_depth == 0 && !in_parallel_region(); }

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

}  // namespace

int get_num_threads() {
  if (is_forked()) return 1;
  int count = thread_count.load(std::memory_order_relaxed);
  if (CRESSET_LIKELY(count != 0)) return count;
  const int initial = default_num_threads();
  return thread_count.compare_exchange_strong(count, initial) ? initial : count;
}

void set_num_threads(int count) {
  CRESSET_CHECK_AS(ValueError, count >= 1, "set_num_threads: found ", count, " (expected at least 1)");
  constexpr int kMost = 4096;  // far beyond any machine; OpenMP itself crashes on absurd numbers
  CRESSET_CHECK_AS(ValueError, count <= kMost, "set_num_threads: found ", count, " (expected at most ", kMost, ")");
  thread_count = count;
}

bool in_parallel_region() { return state.in_region || (!is_forked() && in_foreign_region()); }

int get_thread_num() { return state.in_region || is_forked() ? state.part : foreign_thread(); }

void align_library_threads() {
  if (in_parallel_region()) return;
  const int count = state.serial_depth == 0 ? get_num_threads() : 1;
  if (CRESSET_LIKELY(state.aligned == count)) return;
  tell_libraries(count);
  state.aligned = count;
}

SerialScope::SerialScope() { ++state.serial_depth; }
SerialScope::~SerialScope() { --state.serial_depth; }

namespace detail {

void run_parallel(int64_t begin, int64_t end, int64_t grain, RangeBody body, const void* context) {
  const int threads = get_num_threads();
  const int64_t range = end - begin;
  const auto parts = static_cast<int>(std::min<int64_t>(threads, range / std::max<int64_t>(1, grain)));
  if (parts <= 1 || !may_split()) return body(context, begin, end);

  FirstException first;
  const int64_t share = range / parts;
  const int64_t longer = range % parts;  // so many parts take one more
  run_on_pool(parts, threads, [&](int part) {
    const bool was_in_region = std::exchange(state.in_region, true);
    const int was_part = std::exchange(state.part, part);
    const int64_t start = begin + part * share + std::min<int64_t>(part, longer);
    try {
      body(context, start, start + share + (part < longer));
    } catch (...) {
      first.keep_current();
    }
    state.in_region = was_in_region;
    state.part = was_part;
  });
  first.rethrow();
}

}  // namespace detail
}  // namespace cresset
