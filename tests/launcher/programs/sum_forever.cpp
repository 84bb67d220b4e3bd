// A worker that adds numbers with all others until it dies, or until the generation that is to end well.
// usage: launcher_sum_forever GENERATION
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"

namespace dist = cresset::distributed;

int main(int, char** argv) try {
  dist::init_process_group();
  const int rank = dist::get_rank(), size = dist::get_world_size();
  const std::string generation = std::getenv("CRESSET_GENERATION");
  const bool last = std::atoi(generation.c_str()) >= std::atoi(argv[1]);
  for (int step = 0; !last || step < 20; step++) {
    cresset::Tensor sum = cresset::ones({1000});
    dist::all_reduce(sum);
    if (sum[0].item<float>() != static_cast<float>(size)) return 99;
    if (step == 5) {
      std::printf("generation %s rank %d of %d adds, pid=%d.\n", generation.c_str(), rank, size, getpid());
      std::fflush(stdout);
    }
  }
  dist::destroy_process_group();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
