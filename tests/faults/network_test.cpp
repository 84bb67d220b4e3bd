// Two machines, made of two network namespaces and a cable between them that can be pulled or made slow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "trial.h"

using namespace faults;

namespace {

class Network : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "network namespaces need root";
    if (shell("ip -V && tc -V") != 0) GTEST_SKIP() << "no ip or tc (Debian: apt install iproute2)";
    const std::string number = std::to_string(getpid() % 100000);
    for (const char* side : {"a", "b"}) spaces_.push_back("cresset-" + number + side);
    if (shell("ip netns add " + spaces_[0]) != 0) {
      spaces_.clear();
      GTEST_SKIP() << "this machine allows no network namespaces";
    }
    ASSERT_EQ(shell("ip netns add " + spaces_[1]), 0);
    if (shell(inside(0, "true")) != 0)
      GTEST_SKIP() << "network namespaces cannot be entered here (as in a plain chroot)";
    ASSERT_EQ(shell("ip link add va netns " + spaces_[0] + " type veth peer name vb netns " + spaces_[1]), 0);
    for (size_t side = 0; side < 2; side++) {
      ASSERT_EQ(shell(inside(side, "ip link set lo up")), 0);
      ASSERT_EQ(shell(inside(side, "ip address add 10.213.0." + std::to_string(side + 1) + "/24 dev " + device(side))),
                0);
      ASSERT_EQ(shell(inside(side, "ip link set " + device(side) + " up")), 0);
    }
  }
  void TearDown() override {
    for (const std::string& space : spaces_) shell("ip netns delete " + space);
  }

  std::string inside(size_t side, const std::string& command) const {
    return "ip netns exec " + spaces_[side] + " " + command;
  }
  static std::string device(size_t side) { return side == 0 ? "va" : "vb"; }
  void set_rate(const std::string& rate) const {
    for (size_t side = 0; side < 2; side++)
      ASSERT_EQ(shell(inside(side, "tc qdisc add dev " + device(side) + " root tbf rate " + rate +
                                       " burst 128kb latency 200ms")),
                0);
  }
  void pull_the_cable() const { ASSERT_EQ(shell(inside(0, "ip link set va down")), 0); }

  // Ranks 0 and 2 on the first machine, rank 1 on the second.
  void start_ranks(Trial& trial, const Words& command) const {
    for (int rank = 0; rank < 3; rank++) {
      Words words{"ip", "netns", "exec", spaces_[rank == 1 ? 1 : 0]};
      words.insert(words.end(), command.begin(), command.end());
      trial.start(std::to_string(rank), words,
                  {{"RANK", std::to_string(rank)},
                   {"WORLD_SIZE", "3"},
                   {"MASTER_ADDR", "10.213.0.1"},
                   {"MASTER_PORT", "29511"}});
    }
  }

  Words spaces_;
};

}  // namespace

TEST_F(Network, APulledCableIsNamedWithinTheTimeout) {
  Trial trial;
  start_ranks(trial, {program("train"), "--steps", "100000", "--pause-ms", "10", "--timeout-ms", "4000"});
  ASSERT_TRUE(trial.wait_for(1, "step 120 "));
  pull_the_cable();
  EXPECT_EQ(trial.finish_ranks(3, 60), (std::vector<int>{3, 3, 3}));
  for (int rank : {0, 2}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], "missing: rank 1 \\(host [^,]+, pid " + std::to_string(trial.pid_of(1)) +
                                       ", silent for [0-9]+ s; last operation: [A-Za-z_' ]+ #[0-9]+\\)|" +
                                       pattern_of(1, trial.pid_of(1)) + " lost its connection"))
        << errors[0];
    EXPECT_TRUE(blames_only(errors[0], 1)) << errors[0];
  }
  // Rank 1 cannot know which of the others is there; it must say that it lost them, and end.
  const Words errors = errors_in(trial.said_by(1));
  ASSERT_EQ(errors.size(), 1u) << trial.everything();
  EXPECT_TRUE(matches(errors[0], "rank 0|ranks 0, 2")) << errors[0];
}

TEST_F(Network, ASlowLinkChangesNoBit) {
  const Words command{program("train"), "--steps", "10", "--fault", "slow:collective:3:-1", "--message-mb", "1"};
  std::vector<std::string> bits;
  for (const bool slow : {false, true}) {
    if (slow) set_rate("400mbit");
    Trial trial;
    start_ranks(trial, command);
    EXPECT_EQ(trial.finish_ranks(3), (std::vector<int>{0, 0, 0})) << trial.everything();
    bits.push_back(after_last(trial.said_by(0), "bits "));
  }
  EXPECT_FALSE(bits[0].empty());
  EXPECT_EQ(bits[0], bits[1]);
}

// Debian's /etc/hosts: the first machine's name is 127.0.1.1 to itself, and to nobody else.
TEST_F(Network, TheFirstMachinesOwnNameMayBeALoopbackAddress) {
  // Above 127, where Gloo lets the second machine connect to the first.
  for (size_t side = 0; side < 2; side++)
    ASSERT_EQ(
        shell(inside(side, "ip address replace 192.168.213." + std::to_string(side + 1) + "/24 dev " + device(side)) +
              " && " +
              inside(side, "ip address delete 10.213.0." + std::to_string(side + 1) + "/24 dev " + device(side))),
        0);
  Folder folder;
  std::ofstream(folder.path() + "/hosts0") << "127.0.0.1 localhost\n127.0.1.1 node0\n";
  std::ofstream(folder.path() + "/hosts1") << "127.0.0.1 localhost\n192.168.213.1 node0\n";
  const auto on = [&](size_t side, const Words& command) {
    // Each `ip netns exec` has mounts of its own.
    Words words{"ip",
                "netns",
                "exec",
                spaces_[side],
                "sh",
                "-c",
                "mount --bind \"$0\" /etc/hosts && exec \"$@\"",
                folder.path() + "/hosts" + std::to_string(side)};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  };
  const Words training{program("train"), "--steps", "5", "--timeout-ms", "20000"};
  Trial trial;
  for (size_t side = 0; side < 2; side++) {
    const std::string rank = std::to_string(side);
    // As mpirun -x MASTER_ADDR=node0 starts them, and srun.
    trial.start(rank, on(side, training),
                {{"RANK", rank},
                 {"WORLD_SIZE", "2"},
                 {"LOCAL_WORLD_SIZE", "1"},
                 {"MASTER_ADDR", "node0"},
                 {"MASTER_PORT", "29513"}});
    Words launched{launcher(), "--nnodes",        "2",          "--nproc-per-node", "1", "--node-rank",
                   rank,       "--rdzv-endpoint", "node0:29514"};
    launched.insert(launched.end(), training.begin(), training.end());
    trial.start("launcher " + rank, on(side, launched));
  }
  EXPECT_EQ(trial.finish_ranks(2), (std::vector<int>{0, 0})) << trial.everything();
  for (const char* name : {"launcher 0", "launcher 1"}) EXPECT_EQ(trial.finish(name), 0) << trial.everything();
}

// The launcher of the second machine goes silent with it; the first says so and ends the run.
TEST_F(Network, TwoLaunchersAndAPulledCable) {
  Trial trial;
  for (size_t side = 0; side < 2; side++)
    trial.start(side == 0 ? "first" : "second", {"ip",
                                                 "netns",
                                                 "exec",
                                                 spaces_[side],
                                                 launcher(),
                                                 "--nnodes",
                                                 "2",
                                                 "--nproc-per-node",
                                                 "1",
                                                 "--node-rank",
                                                 std::to_string(side),
                                                 "--rdzv-endpoint",
                                                 "10.213.0.1:29512",
                                                 program("train"),
                                                 "--steps",
                                                 "100000",
                                                 "--pause-ms",
                                                 "10",
                                                 "--timeout-ms",
                                                 "6000"});
  ASSERT_TRUE(trial.wait_for(1, "step 120 "));
  ASSERT_TRUE(trial.wait_for(0, "step 120 "));
  pull_the_cable();
  EXPECT_NE(trial.finish("first", 90), 0);
  EXPECT_NE(trial.finish("second", 90), 0);
  const Words errors = errors_in(trial.said_by(0));
  ASSERT_EQ(errors.size(), 1u) << trial.everything();
  EXPECT_TRUE(matches(errors[0], "missing: rank 1 \\(host [^,]+, pid [0-9]+, silent for")) << errors[0];
  EXPECT_EQ(errors_in(trial.said_by(1)).size(), 1u) << trial.everything();
}
