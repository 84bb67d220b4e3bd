// The launcher with real process groups: survivors hear from it how the dead one died, and all start again.
#include <algorithm>
#include <memory>
#include <random>

#include "runs.h"

namespace cresset::test {
namespace {

pid_t pid_of(const std::string& out, int generation, int rank) {
  const std::string line = "generation " + std::to_string(generation) + " rank " + std::to_string(rank) + " of ";
  return std::atoi(between(out.substr(std::min(out.size(), out.find(line))), "pid=", ".").c_str());
}

bool says(const std::string& err, int rank, const std::string& words) {
  const std::vector<std::string> lines = lines_of(err);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with("[rank " + std::to_string(rank) + "] ") && line.find(words) != std::string::npos;
  });
}

TEST(LauncherGroups, EverySurvivorNamesTheKilledOneAndItsSignalAndAllGoOn) {
  constexpr int kKills = 6, kRanks = 3;
  std::mt19937 random(7);
  Launched launcher({"--nproc-per-node", std::to_string(kRanks), "--max-restarts", std::to_string(kKills), "--token",
                     "s", CRESSET_SUM_FOREVER, std::to_string(kKills)},
                    {"OMP_NUM_THREADS=1"});
  std::string killed;
  for (int generation = 0; generation < kKills; generation++) {
    const std::string adds = "generation " + std::to_string(generation) + " rank ";
    ASSERT_TRUE(launcher.prints(adds, kRanks));
    const int victim = static_cast<int>(random() % kRanks);
    const pid_t pid = pid_of(launcher.out(), generation, victim);
    ASSERT_GT(pid, 0) << launcher.out();
    kill(pid, SIGKILL);
    const std::string who = "rank " + std::to_string(victim) + " (host ";
    const std::string how = ", pid " + std::to_string(pid) + ") was killed by SIGKILL";
    ASSERT_TRUE(launcher.complains("restart " + std::to_string(generation + 1) + " of "));
    const std::string err = launcher.err();
    // One that was between two operations says it at once, and again in the next.
    for (int rank = 0; rank < kRanks; rank++)
      EXPECT_EQ(rank != victim, says(err, rank, how)) << "each survivor was to say it, rank " << rank << "\n" << err;
    EXPECT_GE(count(err, who), kRanks - 1) << err;
    EXPECT_EQ(count(err, "[cresset-run] rank " + std::to_string(victim) + " (pid " + std::to_string(pid) + " on "), 1)
        << err;
  }
  const Result result = launcher.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "generation " + std::to_string(kKills) + " rank "), kRanks) << result.out;
}

TEST(LauncherGroups, OneThatEndsTooEarlyIsNamedBesideThoseThatMissIt) {
  const Result result = run(with_script({"--nproc-per-node", "3"}, "[ $RANK = 1 ] && echo pid=$$. && exit 0; exec " +
                                                                       std::string(CRESSET_SUM_FOREVER) + " 9"));
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "[cresset-run]   rank 1 (pid " + between(result.out, "pid=", ".") + " on "), 1)
      << result.err;
  EXPECT_EQ(count(result.err, "had ended with status 0, "), 1) << result.err;
}

TEST(LauncherGroups, SpanSeveralNodes) {
  const std::string endpoint = "127.0.0.1:" + std::to_string(free_port());
  std::vector<std::unique_ptr<Launched>> nodes;
  for (int node = 0; node < 2; node++)
    nodes.push_back(std::make_unique<Launched>(
        std::vector<std::string>{"--nnodes", "2", "--rdzv-endpoint", endpoint, "--nproc-per-node", "2",
                                 "--max-restarts", "1", CRESSET_SUM_FOREVER, "1"},
        std::vector<std::string>{"OMP_NUM_THREADS=1"}));
  for (const auto& node : nodes) ASSERT_TRUE(node->prints("generation 0 rank ", 2));
  const std::string out = nodes[0]->out();
  const pid_t pid = std::atoi(between(out, "pid=", ".").c_str());
  kill(pid, SIGKILL);
  const int victim = std::atoi(between(out, "generation 0 rank ", " of ").c_str());
  std::string err;
  for (const auto& node : nodes) {
    const Result result = node->wait();
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(count(result.out, "generation 1 rank "), 2) << result.out;
    err += result.err;
  }
  for (int rank = 0; rank < 4; rank++)
    EXPECT_EQ(rank != victim, says(err, rank, ", pid " + std::to_string(pid) + ") was killed by SIGKILL")) << err;
}

}  // namespace
}  // namespace cresset::test
