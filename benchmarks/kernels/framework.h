// One source, two sides: every benchmark is compiled against Cresset with -DCRESSET and against libtorch without, so
// that both do the same work by the same calls. A program prints lines "key value"; benchmarks/run knows their units.
#pragma once

#ifdef CRESSET
#include <cresset/cresset.h>
namespace framework = cresset;
#else
#include <torch/torch.h>
namespace framework = torch;
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>

inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
// Of this process: on an idle machine the same as the wall's for one thread, and on a busy one still the work's own.
inline double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The mean time of one call in the best of `rounds` rounds: what else runs on the machine only ever adds to it.
template <class F>
double best_seconds(double (*clock)(), int calls, int rounds, const F& call) {
  // Both sides' libraries settle first: one of them finds the memory that it works in only after a dozen calls.
  const double begin = wall_seconds();
  for (int i = 0; i < 20 && (i == 0 || wall_seconds() < begin + 0.25); i++) call();
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; round++) {
    double start = clock();
    for (int i = 0; i < calls; i++) call();
    least = std::min(least, (clock() - start) / calls);
  }
  return least;
}

inline void print_row(const char* key, double value) {
  std::printf("%s %.6g\n", key, value);
  std::fflush(stdout);
}
