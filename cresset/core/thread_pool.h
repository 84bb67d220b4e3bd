// The threads behind parallel_for. Whoever calls takes parts like everybody else and waits only for parts that somebody
// is in the midst of, never for a thread that has not come: a worker without a core to run on holds nobody up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "cresset/core/busy_watch.h"

namespace cresset::detail {

int cores_of_this_process();

class ThreadPool {
 public:
  using Task = void (*)(void* context, int part);  // does not throw

  static constexpr int kMostParts = 4096;

  // Never destroyed: threads of the program may compute until the process ends, and workers wait in it.
  static ThreadPool& get();

  // task(context, part) once for each part from 0 on; the caller runs part 0. Several threads may call at once.
  SplitCost run(int parts, Task task, void* context, const BusyProbe& probe);

 private:
  ThreadPool();

  // A loop under way. `ticket` holds how many parts nobody has taken, below a number that differs from loop to loop:
  // who takes one by compare and exchange knows that the other fields are that loop's, and they stay until the part is
  // done.
  struct alignas(64) Loop {
    std::atomic<uint64_t> ticket{0};
    Task task = nullptr;
    void* context = nullptr;
    int64_t (*now)() = nullptr;
    int parts = 0;
    std::atomic<bool> in_use{false};

    // Grows from loop to loop: below, the parts that workers have done; above, their time in units of 64 ns. One
    // number, because each change of what another core has read takes the time of some hundred instructions.
    alignas(64) std::atomic<uint64_t> progress{0};
    std::atomic<bool> caller_sleeps{false};
  };

  static int take(Loop& loop);
  Loop* free_loop();
  void start_workers(int wanted);
  bool offer(Loop& loop, int parts, Task task, void* context, int64_t (*now)());
  bool wake(int wanted);
  void serve();
  void wait_for_loop(uint32_t seen);
  static void wait_for_others(Loop& loop, uint32_t done);

  // What workers write in each loop lies apart from what callers read in each.
  std::array<Loop, 8> loops_;                  // so many callers at once; one more works alone
  alignas(64) std::atomic<uint32_t> news_{0};  // grows with each loop; workers watch it, and sleep on it
  alignas(64) std::atomic<int> watching_{0};   // workers that need no waking
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<int> workers_{0};
  std::atomic<int> most_workers_{kMostParts};  // less once the system has refused a thread
  std::mutex starting_;
  const int most_watching_;  // more would take a core from the caller
};

}  // namespace cresset::detail
