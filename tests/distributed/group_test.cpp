// Groups: how they begin and end, sub-groups, the queue, point to point.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using cresset::testing::error_of;
using cresset::testing::run_ranks;
using cresset::testing::say;

InitOptions quick() {
  InitOptions options;
  options.timeout = std::chrono::seconds(30);
  return options;
}

TEST(Group, TwoRanksAddUp) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group(quick());
    EXPECT_EQ(get_rank(), rank);
    EXPECT_EQ(get_world_size(), 2);
    Tensor x = full({3}, rank + 1.0f);
    all_reduce(x);
    EXPECT_EQ(x.tolist<float>(), std::vector<float>({3, 3, 3}));
    Tensor big = full({100000}, rank + 1.0f);
    Work work = all_reduce(big, CollectiveOptions::async());
    work.wait();
    EXPECT_EQ(big.min().item<float>(), 3);
    EXPECT_EQ(big.max().item<float>(), 3);
    if (rank == 0) send(full({4}, 7.0f), 1);
    Tensor y = zeros({4});
    if (rank == 1) {
      EXPECT_EQ(recv(y), 0);
    }
    barrier();
    destroy_process_group();
    EXPECT_FALSE(is_initialized());
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
