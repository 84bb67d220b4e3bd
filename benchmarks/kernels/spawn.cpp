// Times whole runs of a program, from exec to exit, and reads their peak memory. Linked statically and kept tiny: the
// kernel counts what the parent holds at exec into the child's ru_maxrss, so a Python parent would hide a small child.
//   spawn RUNS PROGRAM [ARGUMENTS...]
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern char** environ;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<double> microseconds;
  long peak_kib = 0;
  for (int run = std::atoi(argv[1]); run > 0; run--) {
    auto start = std::chrono::steady_clock::now();
    pid_t child = 0;
    if (posix_spawn(&child, argv[2], nullptr, nullptr, argv + 2, environ) != 0) return 2;
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || status != 0) {
      std::fprintf(stderr, "spawn: %s ended with status %d\n", argv[2], status);
      return 1;
    }
    microseconds.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    peak_kib = std::max(peak_kib, usage.ru_maxrss);
  }
  std::nth_element(microseconds.begin(), microseconds.begin() + static_cast<long>(microseconds.size() / 2),
                   microseconds.end());
  std::printf("whole_run %.6g\n", 1e-3 * microseconds[microseconds.size() / 2]);
  std::printf("peak_memory %.6g\n", static_cast<double>(peak_kib) / 1024);
}
