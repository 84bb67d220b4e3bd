// A rank that is stopped in the middle of a large all-reduce and woken up long after the others have given it up. What
// they do with their memory since then is theirs.
#include <cresset/cresset.h>
#include <cresset/distributed/collectives.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace dist = cresset::distributed;
using std::chrono::milliseconds;

int main(int count, char** texts) {
  const bool late = std::getenv("RANK") == std::string("2");
  std::printf("pid %d\n", getpid());
  std::fflush(stdout);
  dist::InitOptions init;
  init.timeout = milliseconds(count > 1 ? std::stoi(texts[1]) : 4000);
  const cresset::Tensor x = cresset::ones({25'000'000});
  try {
    dist::init_process_group(init);
    dist::all_reduce(cresset::ones({1'000'000}));
    if (late)
      std::thread([] {
        std::this_thread::sleep_for(milliseconds(20));
        std::printf("stops\n");
        std::fflush(stdout);
        kill(getpid(), SIGSTOP);
      }).detach();
    for (int i = 0; i < 1000; i++) dist::all_reduce(x);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    std::fflush(stdout);
  }
  if (late) return 3;
  x.fill_(42);
  std::printf("given up\n");
  std::fflush(stdout);
  std::this_thread::sleep_for(milliseconds(1500));
  const bool intact = x.min().item<float>() == 42 && x.max().item<float>() == 42;
  std::printf("%s\n", intact ? "intact" : "somebody wrote into my memory");
  return 3;
}
