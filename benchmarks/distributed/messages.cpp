// Small messages from rank to rank: a stream (many isends, as many irecvs on the other side) and ping-pong (send and
// recv in turn). Prints microseconds per message, the median and the best round. Needs two ranks' environment.
//   messages ROUNDS
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"

namespace dist = cresset::distributed;

namespace {

constexpr int kStream = 1000, kTurns = 300;

template <class F>
double microseconds(const F& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

void stream(int rank, std::vector<cresset::Tensor>& tensors) {
  std::vector<dist::Work> works;
  for (cresset::Tensor& tensor : tensors) works.push_back(rank == 0 ? dist::isend(tensor, 1) : dist::irecv(tensor, 0));
  for (dist::Work& work : works) work.wait();
}

void ping_pong(int rank, const cresset::Tensor& tensor) {
  for (int i = 0; i < kTurns; i++) {
    if (rank == 0) dist::send(tensor, 1);
    dist::recv(tensor, 1 - rank);
    if (rank == 1) dist::send(tensor, 0);
  }
}

void report(const char* name, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%s_us %.2f\n%s_least_us %.2f\n", name, times[times.size() / 2], name, times[0]);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  dist::init_process_group();
  const int rank = dist::get_rank();
  for (const auto& [name, count] : {std::pair{"64_floats", 64}, std::pair{"4096_floats", 4096}}) {
    std::vector<cresset::Tensor> tensors;
    for (int i = 0; i < kStream; i++) tensors.push_back(cresset::ones({count}));
    std::vector<double> streams, turns;
    for (int round = 0; round < rounds + 1; round++) {
      dist::barrier();
      const double streamed = microseconds([&, &tensors = tensors] { stream(rank, tensors); }) / kStream;
      dist::barrier();
      const double turned = microseconds([&, &tensors = tensors] { ping_pong(rank, tensors[0]); }) / kTurns;
      if (round == 0) continue;
      streams.push_back(streamed);
      turns.push_back(turned);
    }
    if (rank != 0) continue;
    report((std::string("stream_of_") + name).c_str(), streams);
    report((std::string("ping_pong_of_") + name).c_str(), turns);
  }
  dist::destroy_process_group();
}
