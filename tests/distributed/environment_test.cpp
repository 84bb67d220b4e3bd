// Who a process is, by the variables of torchrun, mpirun and srun.
#include "cresset/distributed/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using cresset::test::message_when;
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

TEST(Environment, HowManyTasksSlurmPutsOnANode) {
  EXPECT_EQ(tasks_on_node("4", 0), 4);
  EXPECT_EQ(tasks_on_node("2,1", 1), 1);
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), std::nullopt);
  EXPECT_EQ(tasks_on_node("", 0), std::nullopt);
}

// What srun sets, in a job of 2 nodes with 4 tasks whose second node alone runs this step of 2.
void become_task(int rank, const std::string& job, const std::string& step) {
  forget();
  const std::string number = std::to_string(rank);
  const std::pair<const char*, std::string> variables[] = {
      {"SLURM_JOB_ID", job},
      {"SLURM_STEP_ID", step},
      {"SLURM_PROCID", number},
      {"SLURM_LOCALID", number},
      {"SLURM_NODEID", "0"},
      {"SLURM_NTASKS", "2"},
      {"SLURM_NTASKS_PER_NODE", "4"},
      {"SLURM_NODELIST", "nowhere[1-2]"},
      {"SLURM_STEP_NUM_TASKS", "2"},
      {"SLURM_STEP_NUM_NODES", "1"},
      {"SLURM_STEP_NODELIST", "nowhere2"},
      {"SLURM_STEP_TASKS_PER_NODE", "2"},
  };
  for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
}

TEST(Environment, OfSrunIsEnough) {
  const std::string job = std::to_string(getpid());
  const auto outcome = run_ranks(2, [&](int rank) {
    become_task(rank, job, "0");
    init_process_group();
    EXPECT_EQ(get_rank(), rank);
    EXPECT_EQ(get_local_rank(), rank);
    EXPECT_EQ(local_world_size_in_environment(), 2);
    Tensor x = ones({1});
    all_reduce(x);
    EXPECT_EQ(x.item<float>(), 2);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// Where the step has several nodes its first one keeps the store, wherever the job begins.
TEST(Environment, OfSrunNamesTheFirstNodeOfTheStep) {
  const auto outcome = run_ranks(1, [](int) {
    become_task(0, "7", "0");
    setenv("SLURM_STEP_NUM_NODES", "2", 1);
    setenv("SLURM_STEP_NODELIST", "nowhere[3-4]", 1);
    EXPECT_EQ(master_in_environment().host, "nowhere3");
    setenv("MASTER_ADDR", "10.0.0.3", 1);
    EXPECT_EQ(master_in_environment().host, "10.0.0.3");
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// They may all run on one node at a time.
TEST(Environment, JobsAndStepsOfSlurmNearEachOtherShareNoPort) {
  const auto outcome = run_ranks(1, [](int) {
    std::set<int> ports;
    for (int job = 998; job < 1098; job++)
      for (int step = 0; step < 100; step++) {
        become_task(0, std::to_string(job), std::to_string(step));
        ports.insert(master_in_environment().port);
      }
    EXPECT_EQ(ports.size(), 100u * 100u);
    EXPECT_GE(*ports.begin(), 20000);
    EXPECT_LT(*ports.rbegin(), 32000);
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// A batch script has a rank and a number of tasks, but the others were never started: waiting for them would be in
// vain.
TEST(Environment, OfABatchScriptWithoutSrunSaysSo) {
  const auto outcome = run_ranks(1, [](int) {
    become_task(0, "7", "0");
    for (const char* name : {"STEP_ID", "STEP_NUM_TASKS", "STEP_NUM_NODES", "STEP_NODELIST", "STEP_TASKS_PER_NODE"})
      unsetenv((std::string("SLURM_") + name).c_str());
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: RANK is not known: start the program with cresset-run (or mpirun, srun), set the "
              "environment variable RANK, or give it in InitOptions (this process is in a Slurm job, but none of its "
              "tasks: srun PROGRAM starts those)");
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Environment, SaysWhatIsMissing) {
  const auto outcome = run_ranks(1, [](int) {
    forget();
    setenv("RANK", "0", 1);
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: WORLD_SIZE is not known: start the program with cresset-run (or mpirun, srun), set "
              "the environment variable WORLD_SIZE, or give it in InitOptions");
    setenv("WORLD_SIZE", "1", 1);
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: MASTER_ADDR is not known: start the program with cresset-run (or mpirun, srun), set "
              "the environment variable MASTER_ADDR, or give it in InitOptions (init_method tcp://HOST:PORT)");
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "70000", 1);
    EXPECT_EQ(message_when([] { init_process_group(); }), "MASTER_PORT: found 70000 (expected 1 to 65535)");
    setenv("RANK", "3", 1);
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: found rank 3 of 1 (expected 0 to the world size - 1)");
    setenv("CRESSET_SOCKET_IFNAME", "nosuch0", 1);
    setenv("RANK", "0", 1);
    setenv("MASTER_PORT", std::to_string(cresset::testing::free_port()).c_str(), 1);
    const std::string error = message_when([] { init_process_group(); });
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
