// Decides whether a loop is worth splitting among threads just now. While other programs hold the cores, a thread that
// is taken off its core in the midst of a part makes its caller wait for a time slice, some hundred times as long as
// the part; then the caller does all parts itself. What a part holds never changes, so results do not depend on it.
#pragma once

#include <atomic>
#include <cstdint>

#include "cresset/core/export.h"

namespace cresset::detail {

// Where the watch gets its times from, in nanoseconds.
struct BusyProbe {
  int64_t (*now)();
  int64_t (*run_delay)();  // how long the calling thread has been ready to run without a core to run on
};
CRESSET_API int64_t steady_now();
CRESSET_API int64_t kernel_run_delay();

// What one split loop cost.
struct SplitCost {
  int64_t begin = 0, end = 0;  // of the whole, on the caller's clock
  int64_t own = 0;             // the caller's time in its parts
  int64_t others = 0;          // the workers' time in theirs
  int own_parts = 1, other_parts = 0;
};

// Measures speed: seconds of work done for each second that the caller spends. One thread alone reaches at most 1;
// threads have to beat that, and by a little, since work that is shared takes longer in sum. While they do not, they
// pause, for longer and longer, and are tried again for one window after each pause.
class CRESSET_API BusyWatch {
 public:
  static constexpr int64_t kWindow = 4'000'000;  // split loops of so much time are judged together
  // A thread that wakes on its caller's core stays there until the kernel's next balancing, which takes some 30 to 60
  // ms where other programs run on all cores, even such that would give way at once. So the trial after the longest
  // pause goes on for so many windows, unless threads are hopelessly slow.
  static constexpr int kLongTrial = 15;
  static constexpr int64_t kShortestPause = 5'000'000, kLongestPause = 300'000'000;

  // False while threads pause; the caller then runs its parts alone and reports nothing.
  bool threads_pay(const BusyProbe& probe) {
    return resume_at_.load(std::memory_order_relaxed) == 0 || pause_is_over(probe);
  }
  void add(const SplitCost& cost, const BusyProbe& probe);
  void forget();  // what was measured; no loop may be under way

 private:
  bool pause_is_over(const BusyProbe& probe);
  void open_window(int64_t now, const BusyProbe& probe);
  double share_of_core(int64_t now, const BusyProbe& probe) const;
  void judge(double speed, int64_t now);

  std::atomic<int64_t> resume_at_{0};  // 0: threads are in use
  std::atomic<bool> taken_{false};     // the rest belongs to whoever sets it
  const void* owner_ = nullptr;        // the thread whose times the window holds
  int64_t window_begin_ = 0, delay_at_begin_ = 0;
  int64_t elapsed_ = 0, own_ = 0, others_ = 0;
  int64_t pause_ = kShortestPause;
  int patience_ = 0;  // windows that this trial may still fail in
};

}  // namespace cresset::detail
