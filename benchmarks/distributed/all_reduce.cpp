// all_reduce of floats between two processes: Cresset's, with its checks and its watchdog, and beside it Gloo's own
// ring on connections of its own, alternating within one run. The best round counts: what else runs on the machine only
// ever adds to it. In microseconds up to 64 KB and in GB/s above.
//   all_reduce
#include <gloo/algorithm.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"

namespace {

template <class F>
double seconds(const F& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(int rank, const std::string& folder) {
  namespace dist = cresset::distributed;
  dist::InitOptions options;
  options.rank = rank;
  options.world_size = 2;
  options.init_method = "file://" + folder + "/store";
  dist::init_process_group(options);

  auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, 2);
  gloo::rendezvous::FileStore store(folder);
  context->connectFullMesh(store, device);

  struct Size {
    const char* name;
    int64_t bytes;
    int rounds, calls;
  };
  for (const Size& size : {Size{"1K", 1 << 10, 200, 20}, Size{"64K", 64 << 10, 200, 10}, Size{"1M", 1 << 20, 200, 2},
                           Size{"16M", 16 << 20, 60, 1}, Size{"64M", 64 << 20, 20, 1}}) {
    const int64_t count = size.bytes / 4;
    cresset::Tensor ours = cresset::zeros({count}), theirs = cresset::zeros({count});
    const auto cresset_call = [&] { dist::all_reduce(ours); };
    const auto gloo_call = [&] {
      gloo::AllreduceOptions ring(context);
      ring.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      ring.setOutput(theirs.data_ptr<float>(), static_cast<size_t>(count));
      ring.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
      gloo::allreduce(ring);
    };
    std::vector<double> cresset_times, gloo_times;
    for (int round = 0; round < size.rounds + 2; round++) {
      dist::barrier();
      const double ours_took = seconds([&] {
        for (int i = 0; i < size.calls; i++) cresset_call();
      });
      dist::barrier();
      const double theirs_took = seconds([&] {
        for (int i = 0; i < size.calls; i++) gloo_call();
      });
      if (round < 2) continue;
      cresset_times.push_back(ours_took / size.calls);
      gloo_times.push_back(theirs_took / size.calls);
    }
    if (rank != 0) continue;
    for (auto* times : {&cresset_times, &gloo_times}) {
      const double took = *std::min_element(times->begin(), times->end());
      const char* side = times == &cresset_times ? "cresset" : "gloo";
      std::printf("%s_%s %.4f\n", side, size.name,
                  size.bytes < (1 << 20) ? took * 1e6 : static_cast<double>(size.bytes) / took * 1e-9);
    }
  }
  std::fflush(stdout);
  dist::destroy_process_group();
}

}  // namespace

int main() {
  char folder[] = "/tmp/cresset_all_reduce_XXXXXX";
  if (!mkdtemp(folder)) return 1;
  const pid_t child = fork();
  run(child == 0 ? 1 : 0, folder);
  if (child == 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder);
  return WEXITSTATUS(status);
}
