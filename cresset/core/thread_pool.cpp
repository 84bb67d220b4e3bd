// How workers wait decides the speed: they watch for the next loop as long as the serial stretch between two loops of a
// training step usually lasts, and sleep after that. libgomp's watch for milliseconds, in their callers' way where
// cores are scarce.
#include "cresset/core/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <system_error>
#include <thread>

#include "cresset/core/signal_guard.h"

namespace cresset::detail {
namespace {

constexpr int64_t kWatchTime = 200'000;  // nanoseconds of a worker without a loop
constexpr int64_t kCallerTime = 50'000;  // and of a caller whose parts are done, before either sleeps
constexpr uint64_t kPartsLeft = 0xffff;  // the bits of a ticket that count them
constexpr int64_t kTimeUnit = 64;        // nanoseconds, of the time in a progress
constexpr int kTimeShift = 32;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// The lower half of a progress: what a caller sleeps on.
uint32_t done_of(uint64_t progress) { return static_cast<uint32_t>(progress); }
uint32_t* word_of(std::atomic<uint64_t>& progress) {
  static_assert(std::endian::native == std::endian::little);
  return reinterpret_cast<uint32_t*>(&progress);
}

void sleep_on(uint32_t* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_sleepers(uint32_t* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// True as soon as `changed` is, false when `time` is over first.
template <class Changed>
bool watch(int64_t time, const Changed& changed) {
  constexpr int kRounds = 16;  // between two looks at the clock
  for (const int64_t end = steady_now() + time; steady_now() < end;)
    for (int i = 0; i < kRounds; ++i) {
      if (changed()) return true;
      relax();
    }
  return false;
}

}  // namespace

int cores_of_this_process() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool() : most_watching_(cores_of_this_process() - 1) {}

ThreadPool& ThreadPool::get() {
  static auto* pool = new ThreadPool;
  return *pool;
}

// A part that nobody else has, or 0 if none is left.
int ThreadPool::take(Loop& loop) {
  uint64_t ticket = loop.ticket.load(std::memory_order_acquire);
  while ((ticket & kPartsLeft) != 0)
    if (loop.ticket.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      return loop.parts - static_cast<int>(ticket & kPartsLeft);
  return 0;
}

ThreadPool::Loop* ThreadPool::free_loop() {
  for (Loop& loop : loops_)
    if (!loop.in_use.load(std::memory_order_relaxed) && !loop.in_use.exchange(true, std::memory_order_acquire))
      return &loop;
  return nullptr;
}

// Where the system has no more threads to give, those that there are suffice.
void ThreadPool::start_workers(int wanted) {
  wanted = std::min(wanted, most_workers_.load(std::memory_order_relaxed));
  if (workers_.load(std::memory_order_relaxed) >= wanted) return;
  const std::unique_lock lock(starting_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  // Threads begin with their creator's mask: a signal must find none of its handlers' stacks inside a library's kernel.
  const SignalGuard guard;
  try {
    for (; workers_.load(std::memory_order_relaxed) < wanted; ++workers_) {
      std::thread worker([this] {
        refuse_signals_for_good();
        serve();
      });
      pthread_setname_np(worker.native_handle(), "cresset-pool");
      worker.detach();
    }
  } catch (const std::system_error&) {
    most_workers_ = workers_.load();
  }
}

bool ThreadPool::wake(int wanted) {
  const int sleeping = sleeping_.load();
  if (sleeping == 0) return false;
  const int missing = std::min(sleeping, wanted - watching_.load(std::memory_order_relaxed));
  if (missing > 0) wake_sleepers(reinterpret_cast<uint32_t*>(&news_), missing);
  return missing > 0;
}

// Whether that took a call of the system.
bool ThreadPool::offer(Loop& loop, int parts, Task task, void* context, int64_t (*now)()) {
  loop.task = task;
  loop.context = context;
  loop.now = now;
  loop.parts = parts;
  const uint64_t number = loop.ticket.load(std::memory_order_relaxed) / (kPartsLeft + 1) + 1;
  loop.ticket.store(number * (kPartsLeft + 1) + static_cast<uint64_t>(parts - 1), std::memory_order_release);
  news_.fetch_add(1);
  return wake(parts - 1);
}

SplitCost ThreadPool::run(int parts, Task task, void* context, const BusyProbe& probe) {
  SplitCost cost;
  cost.begin = probe.now();
  Loop* const loop = free_loop();
  if (loop == nullptr) {
    for (int part = 0; part < parts; ++part) task(context, part);
    cost.own_parts = parts;
    cost.end = probe.now();
    cost.own = cost.end - cost.begin;
    return cost;
  }
  start_workers(parts - 1);
  const uint64_t before = loop->progress.load(std::memory_order_relaxed);
  const int64_t own_begin = offer(*loop, parts, task, context, probe.now) ? probe.now() : cost.begin;
  task(context, 0);
  for (int part = take(*loop); part != 0; part = take(*loop), ++cost.own_parts) task(context, part);
  cost.end = probe.now();
  cost.own = cost.end - own_begin;
  cost.other_parts = parts - cost.own_parts;
  if (cost.other_parts > 0) {
    wait_for_others(*loop, done_of(before) + static_cast<uint32_t>(cost.other_parts));
    const uint64_t progress = loop->progress.load(std::memory_order_relaxed) - before;
    cost.others = static_cast<int64_t>(progress >> kTimeShift) * kTimeUnit;
    cost.end = probe.now();
  }
  loop->in_use.store(false, std::memory_order_release);
  return cost;
}

void ThreadPool::wait_for_others(Loop& loop, uint32_t done) {
  const auto are_done = [&] { return done_of(loop.progress.load(std::memory_order_acquire)) == done; };
  if (are_done() || watch(kCallerTime, are_done)) return;
  loop.caller_sleeps.store(true);
  for (uint32_t found = done_of(loop.progress); found != done; found = done_of(loop.progress))
    sleep_on(word_of(loop.progress), found);
  loop.caller_sleeps.store(false, std::memory_order_relaxed);
}

void ThreadPool::serve() {
  while (true) {
    const uint32_t seen = news_.load(std::memory_order_acquire);
    for (Loop& loop : loops_)
      for (int part = take(loop); part != 0; part = take(loop)) {
        const int64_t begin = loop.now();
        loop.task(loop.context, part);
        const auto time = static_cast<uint64_t>((loop.now() - begin) / kTimeUnit);
        loop.progress.fetch_add((time << kTimeShift) + 1);  // from here on the loop may be another one
        if (loop.caller_sleeps.load()) wake_sleepers(word_of(loop.progress), 1);
      }
    wait_for_loop(seen);
  }
}

void ThreadPool::wait_for_loop(uint32_t seen) {
  const auto has_come = [&] { return news_.load(std::memory_order_acquire) != seen; };
  const bool may_watch = watching_.fetch_add(1, std::memory_order_relaxed) < most_watching_;
  const bool come = has_come() || (may_watch && watch(kWatchTime, has_come));
  watching_.fetch_sub(1, std::memory_order_relaxed);
  if (come) return;
  sleeping_.fetch_add(1);
  while (news_.load() == seen) sleep_on(reinterpret_cast<uint32_t*>(&news_), seen);
  sleeping_.fetch_sub(1);
}

}  // namespace cresset::detail
