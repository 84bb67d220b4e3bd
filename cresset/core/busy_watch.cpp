// The kernel tells a thread's run delay in /proc/thread-self/schedstat; where it does not, a caller's own delays stay
// unseen and only its waiting for workers counts.
#include "cresset/core/busy_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace cresset::detail {
namespace {

const void* this_thread() {
  static thread_local char here;
  return &here;
}

}  // namespace

int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Opened each time (5 us): a descriptor kept open could be closed by the program and become somebody else's.
int64_t kernel_run_delay() {
  static std::atomic<bool> missing{false};
  if (missing.load(std::memory_order_relaxed)) return 0;
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  char text[128];
  const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (size <= 0) {
    missing = true;
    return 0;
  }
  text[size] = '\0';
  char* second = nullptr;
  std::strtoll(text, &second, 10);  // time on a core; then the time without one
  return std::strtoll(second, nullptr, 10);
}

void BusyWatch::open_window(int64_t now, const BusyProbe& probe) {
  owner_ = this_thread();
  window_begin_ = now;
  delay_at_begin_ = probe.run_delay();
  elapsed_ = own_ = others_ = 0;
}

// Of the owner, since the window began.
double BusyWatch::share_of_core(int64_t now, const BusyProbe& probe) const {
  const auto wall = static_cast<double>(std::max<int64_t>(1, now - window_begin_));
  return std::clamp(1 - static_cast<double>(probe.run_delay() - delay_at_begin_) / wall, 0.0, 1.0);
}

void BusyWatch::forget() {
  resume_at_ = 0;
  owner_ = nullptr;
  elapsed_ = own_ = others_ = 0;
  pause_ = kShortestPause;
  patience_ = 0;
}

bool BusyWatch::pause_is_over(const BusyProbe& probe) {
  const int64_t now = probe.now();
  if (now < resume_at_.load(std::memory_order_relaxed)) return false;
  if (taken_.exchange(true, std::memory_order_acquire)) return false;
  open_window(now, probe);
  patience_ = pause_ == kLongestPause ? kLongTrial : 0;
  resume_at_.store(0, std::memory_order_relaxed);
  taken_.store(false, std::memory_order_release);
  return true;
}

void BusyWatch::add(const SplitCost& cost, const BusyProbe& probe) {
  if (taken_.exchange(true, std::memory_order_acquire)) return;
  if (owner_ != this_thread()) open_window(cost.begin, probe);
  elapsed_ += cost.end - cost.begin;
  own_ += cost.own;
  // Parts are about equal. A worker's that took far longer than the caller's was not at work all the time.
  others_ += std::min(cost.others, 3 * cost.own / cost.own_parts * cost.other_parts);
  if (elapsed_ >= kWindow) {
    const double work = static_cast<double>(own_) * share_of_core(cost.end, probe) + static_cast<double>(others_);
    const double speed = work / static_cast<double>(elapsed_);
    open_window(cost.end, probe);
    judge(speed, cost.end);
  }
  taken_.store(false, std::memory_order_release);
}

void BusyWatch::judge(double speed, int64_t now) {
  constexpr double kPays = 1.1, kHopeless = 0.5;
  if (speed >= kPays) {
    pause_ = std::max(kShortestPause, pause_ / 2);
    return;
  }
  if (speed > kHopeless && patience_-- > 0) return;
  resume_at_.store(now + pause_, std::memory_order_relaxed);
  pause_ = std::min(kLongestPause, 2 * pause_);
}

}  // namespace cresset::detail
