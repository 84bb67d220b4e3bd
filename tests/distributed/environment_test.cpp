// Who a process is, by the variables of torchrun, mpirun and srun.
#include "cresset/distributed/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using cresset::testing::error_of;
using cresset::testing::run_ranks;

void forget() {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
}

TEST(Environment, TheFirstOfSlurmsNodes) {
  EXPECT_EQ(first_of_nodelist("node7"), "node7");
  EXPECT_EQ(first_of_nodelist("node7,node9"), "node7");
  EXPECT_EQ(first_of_nodelist("node[003-007,9]"), "node003");
  EXPECT_EQ(first_of_nodelist("a[12,14]-ib,b1"), "a12-ib");
  EXPECT_EQ(first_of_nodelist("rack1-node[5]"), "rack1-node5");
}

TEST(Environment, OfSrunIsEnough) {
  const std::string job = std::to_string(getpid());
  const auto outcome = run_ranks(2, [&](int rank) {
    forget();
    setenv("SLURM_PROCID", std::to_string(rank).c_str(), 1);
    setenv("SLURM_NTASKS", "2", 1);
    setenv("SLURM_LOCALID", std::to_string(rank).c_str(), 1);
    setenv("SLURM_JOB_ID", job.c_str(), 1);
    setenv("SLURM_NODELIST", "127.0.0.1", 1);
    init_process_group();
    EXPECT_EQ(get_rank(), rank);
    EXPECT_EQ(get_local_rank(), rank);
    Tensor x = ones({1});
    all_reduce(x);
    EXPECT_EQ(x.item<float>(), 2);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Environment, SaysWhatIsMissing) {
  const auto outcome = run_ranks(1, [](int) {
    forget();
    setenv("RANK", "0", 1);
    EXPECT_EQ(error_of([] { init_process_group(); }),
              "init_process_group: WORLD_SIZE is not known: start the program with cresset-run (or mpirun, srun), set "
              "the environment variable WORLD_SIZE, or give it in InitOptions");
    setenv("WORLD_SIZE", "1", 1);
    EXPECT_EQ(error_of([] { init_process_group(); }),
              "init_process_group: MASTER_ADDR is not known: start the program with cresset-run (or mpirun, srun), set "
              "the environment variable MASTER_ADDR, or give it in InitOptions (init_method tcp://HOST:PORT)");
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "70000", 1);
    EXPECT_EQ(error_of([] { init_process_group(); }), "MASTER_PORT: found 70000 (expected 1 to 65535)");
    setenv("RANK", "3", 1);
    EXPECT_EQ(error_of([] { init_process_group(); }),
              "init_process_group: found rank 3 of 1 (expected 0 to the world size - 1)");
    setenv("CRESSET_SOCKET_IFNAME", "nosuch0", 1);
    setenv("RANK", "0", 1);
    setenv("MASTER_PORT", std::to_string(cresset::testing::free_port()).c_str(), 1);
    const std::string error = error_of([] { init_process_group(); });
    EXPECT_EQ(error.find("init_process_group: there is no network interface nosuch0 with an address"), 0u) << error;
    setenv("CRESSET_SOCKET_IFNAME", "lo", 1);
    setenv("MASTER_PORT", std::to_string(cresset::testing::free_port()).c_str(), 1);
    init_process_group();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
