// Ranks that disagree in one of many ways. Each says what error it got, and ends with 0 if it got one.
#include <cresset/cresset.h>
#include <cresset/distributed/collectives.h>

#include <cstdio>
#include <string>

using cresset::Tensor;
namespace dist = cresset::distributed;

static void disagree(const std::string& how, int rank) {
  const bool odd = rank == 1;
  const Tensor x = cresset::ones({1000});
  if (how == "op") {
    if (odd) {
      dist::broadcast(x, 0);
    } else {
      dist::all_reduce(x);
    }
  } else if (how == "size") {
    dist::all_reduce(odd ? cresset::ones({999}) : x);
  } else if (how == "large size") {
    dist::all_reduce(cresset::ones({odd ? 3'000'001 : 3'000'000}));
  } else if (how == "dtype") {
    dist::all_reduce(odd ? x.to(cresset::kInt) : x);
  } else if (how == "reduction") {
    dist::all_reduce(x, odd ? dist::ReduceOp::MAX : dist::ReduceOp::SUM);
  } else if (how == "root") {
    dist::broadcast(x, odd ? 1 : 0);
  } else if (how == "order") {
    const Tensor y = cresset::ones({10});
    dist::all_reduce(odd ? y : x);
    dist::all_reduce(odd ? x : y);
  } else if (how == "group") {
    // Each rank waits in another group than the next.
    const auto all = dist::new_group();
    dist::all_reduce(x, odd ? all : nullptr);
  } else if (how == "members") {
    dist::new_group(odd ? std::vector<int>{0, 1} : std::vector<int>{0, 1, 2});
  } else if (how == "one more") {
    if (odd) dist::all_reduce(x);
    dist::barrier();
  }
}

int main(int count, char** texts) {
  try {
    dist::InitOptions init;
    init.timeout = dist::Milliseconds(count > 2 ? std::stoi(texts[2]) : 60'000);
    dist::init_process_group(init);
    dist::barrier();
    disagree(texts[1], dist::get_rank());
    // A rank whose part was done, and rightly, hears of it here.
    dist::barrier();
  } catch (const cresset::DistributedError& error) {
    std::printf("error: %s\n", error.what());
    return 0;
  } catch (const std::exception& error) {
    std::printf("error of the wrong kind: %s\n", error.what());
    return 2;
  }
  std::printf("no error\n");
  return 1;
}
