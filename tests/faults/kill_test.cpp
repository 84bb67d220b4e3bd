// kill -9 of one rank, at every kind of moment: each survivor names that rank, with its signal where the launcher saw
// it, and the launcher's summary does, too.
#include <gtest/gtest.h>

#include "trial.h"

using namespace faults;

namespace {

// Ranks 0 to 2; `victim` is dead. Survivors must have said who, in these words.
void expect_survivors_name(const Trial& trial, int victim, const std::string& words) {
  const std::string pattern = pattern_of(victim, trial.pid_of(victim)) + " " + words;
  for (int rank = 0; rank < 3; rank++) {
    if (rank == victim) continue;
    const Words said = named_in(trial.said_by(rank));
    ASSERT_FALSE(said.empty()) << "rank " << rank << "\n" << trial.everything();
    for (const std::string& words : said) {
      EXPECT_TRUE(matches(words, pattern)) << "rank " << rank << " said: " << words << "\nwanted: " << pattern;
      EXPECT_TRUE(blames_only(words, victim)) << words;
    }
  }
}

void expect_summary(const Trial& trial, int victim, const std::string& words) {
  EXPECT_TRUE(matches(trial.output("run"), "\\[cresset-run\\] failed: rank " + std::to_string(victim) + " \\(pid " +
                                               std::to_string(trial.pid_of(victim)) + " on [^)]+\\) " + words))
      << trial.output("run");
}

void kill_under_launcher(const std::string& where, int victim, const Words& more = {}) {
  Trial trial;
  Words command{program("train"), "--steps", "1000", "--fault", "kill:" + where + ":" + std::to_string(victim)};
  command.insert(command.end(), more.begin(), more.end());
  trial.launch(3, {}, command);
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  expect_survivors_name(trial, victim, "was killed by SIGKILL");
  expect_summary(trial, victim, "was killed by SIGKILL");
}

void kill_without_launcher(const std::string& where, int victim) {
  Trial trial;
  trial.start_ranks(3,
                    {program("train"), "--steps", "1000", "--fault", "kill:" + where + ":" + std::to_string(victim)});
  std::vector<int> wanted{3, 3, 3};
  wanted[static_cast<size_t>(victim)] = 128 + 9;
  EXPECT_EQ(trial.finish_ranks(3), wanted);
  expect_survivors_name(trial, victim, "lost its connection");
}

}  // namespace

// What a worker has printed is not lost with it.
TEST(Kill, LinesThatWereNotFlushedAreShown) {
  Trial trial;
  trial.launch(1, {}, {program("unflushed")});
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  EXPECT_NE(trial.output("run").find("printed, available"), std::string::npos) << trial.output("run");
  EXPECT_NE(trial.output("run").find("streamed"), std::string::npos) << trial.output("run");
}

TEST(Kill, InForward) { kill_under_launcher("forward:5", 2); }
TEST(Kill, InForwardOfRankZero) { kill_under_launcher("forward:5", 0); }
TEST(Kill, InCollective) { kill_under_launcher("collective:3", 1); }
TEST(Kill, InCollectiveOfRankZero) { kill_under_launcher("collective:3", 0); }

// Rank 2 comes late: perhaps so late that the launcher has stopped it before it could ask.
TEST(Kill, InRendezvous) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--fault", "kill:rendezvous:0:1"});
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  const Words errors = errors_in(trial.said_by(0));
  ASSERT_EQ(errors.size(), 1u) << trial.everything();
  EXPECT_TRUE(
      matches(errors[0], "init_process_group failed: " + pattern_of(1, trial.pid_of(1)) + " was killed by SIGKILL"))
      << errors[0];
  EXPECT_LE(errors_in(trial.said_by(2)).size(), 1u);
  expect_summary(trial, 1, "was killed by SIGKILL");
}

// It had not told anybody its host and process by then; the launcher knows.
TEST(Kill, BeforeRendezvous) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--fault", "kill:start:0:2"});
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  for (int rank : {0, 1}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], "init_process_group failed: rank 2 (\\(.*\\) )?was killed by SIGKILL")) << errors[0];
  }
  expect_summary(trial, 2, "was killed by SIGKILL");
}

TEST(Kill, WhileWritingACheckpoint) {
  Folder folder;
  kill_under_launcher("checkpoint:4", 1,
                      {"--checkpoints", folder.path(), "--ballast-mb", "40", "--every", "4", "--pause-ms", "5"});
}

TEST(Kill, WithoutLauncherInForward) { kill_without_launcher("forward:5", 2); }
TEST(Kill, WithoutLauncherInCollective) { kill_without_launcher("collective:3", 1); }

// Rank 0 has given up by the time rank 2 comes, and the store is gone with it.
TEST(Kill, WithoutLauncherInRendezvous) {
  Trial trial;
  trial.start_ranks(3, {program("train"), "--timeout-ms", "3500", "--fault", "kill:rendezvous:0:1"});
  EXPECT_EQ(trial.finish_ranks(3), (std::vector<int>{3, 128 + 9, 3}));
  const Words errors = errors_in(trial.said_by(0));
  ASSERT_EQ(errors.size(), 1u) << trial.everything();
  EXPECT_TRUE(
      matches(errors[0], "init_process_group failed: " + pattern_of(1, trial.pid_of(1)) + " lost its connection"))
      << errors[0];
  EXPECT_TRUE(matches(trial.output("2"), "error at [0-9.]+: .*tcp://127.0.0.1:" + std::to_string(trial.port())))
      << trial.output("2");
}

// The store is gone with rank 0, and that names it.
TEST(Kill, WithoutLauncherTheRankThatKeepsTheStore) {
  Trial trial;
  trial.start_ranks(3, {program("train"), "--steps", "1000", "--fault", "kill:forward:5:0"});
  EXPECT_EQ(trial.finish_ranks(3), (std::vector<int>{128 + 9, 3, 3}));
  for (int rank : {1, 2}) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(
        matches(errors[0], "lost the store at tcp://127.0.0.1:[0-9]+: " + pattern_of(0, trial.pid_of(0)) + " is gone"))
        << errors[0];
  }
}

TEST(Kill, OfTheLauncherTakesItsWorkersAlong) {
  Trial trial;
  trial.launch(3, {}, {program("train"), "--steps", "100000", "--pause-ms", "1"});
  for (int rank = 0; rank < 3; rank++) ASSERT_TRUE(trial.wait_for(rank, "step 3 "));
  trial.signal("run", 9);
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  // The end of the trial checks that nobody is left.
}
