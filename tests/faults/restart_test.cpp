// The launcher starts a run again that was killed, and in the end it has learned to the last bit what it would have
// learned in peace.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "trial.h"

using namespace faults;

namespace {

constexpr int kRanks = 3;

Words command_of(int steps, const std::string& checkpoints, const Words& more = {}) {
  Words words{program("train"), "--steps", std::to_string(steps), "--checkpoints", checkpoints, "--every", "3"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words bits_of(const Trial& trial) {
  Words bits;
  for (int rank = 0; rank < kRanks; rank++) bits.push_back(after_last(trial.said_by(rank), "bits "));
  return bits;
}

Words bits_in_peace(int steps) {
  Folder folder;
  Trial trial;
  trial.launch(kRanks, {}, command_of(steps, folder.path()));
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  const Words bits = bits_of(trial);
  EXPECT_FALSE(bits[0].empty()) << trial.everything();
  return bits;
}

}  // namespace

TEST(Restart, GoesOnBitForBitWhereverTheKillHits) {
  const int steps = 30;
  const Words wanted = bits_in_peace(steps);
  for (const char* fault : {"kill:forward:10:1", "kill:collective:7:2", "kill:checkpoint:9:0", "throw:forward:4:0"}) {
    SCOPED_TRACE(fault);
    Folder folder;
    Trial trial;
    trial.launch(kRanks, {"--max-restarts", "1"},
                 command_of(steps, folder.path(), {"--fault", fault, "--ballast-mb", "10", "--message-mb", "8"}));
    EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
    EXPECT_EQ(bits_of(trial), wanted) << trial.everything();
    EXPECT_TRUE(matches(trial.output("run"), "\\[cresset-run\\] finished after 1 restart")) << trial.output("run");
  }
}

// A program that counts epochs, killed right after a checkpoint of an epoch's last batch, trains the epochs that are
// left, not one less.
TEST(Restart, AfterAnEpochsLastBatchComesTheNextEpoch) {
  const auto command = [](const Folder& folder, const Words& more) {
    Words words = command_of(0, folder.path(), {"--epochs", "3", "--every", "8"});  // 8 batches are an epoch
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  Folder quiet, torn;
  Trial peace;
  peace.launch(kRanks, {}, command(quiet, {}));
  EXPECT_EQ(peace.finish("run"), 0) << peace.everything();
  EXPECT_EQ(after_last(peace.said_by(0), "ended at step "), "24") << peace.everything();
  Trial trial;
  trial.launch(kRanks, {"--max-restarts", "1"}, command(torn, {"--fault", "kill:forward:8:1"}));
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  for (int rank = 0; rank < kRanks; rank++) {
    EXPECT_EQ(after_last(trial.said_by(rank), "begins at step "), "8") << trial.everything();
    EXPECT_EQ(after_last(trial.said_by(rank), "ended at step "), "24") << trial.everything();
  }
  EXPECT_EQ(bits_of(trial), bits_of(peace)) << trial.everything();
}

// Where the last file of one rank is missing or broken, all go back to the newest that all have.
TEST(Restart, FromTheNewestCheckpointThatEveryRankHasWhole) {
  const int steps = 24;
  const Words wanted = bits_in_peace(steps);
  Folder folder;
  {
    Trial trial;
    trial.launch(kRanks, {}, command_of(15, folder.path()));
    ASSERT_EQ(trial.finish("run"), 0) << trial.everything();
  }
  std::filesystem::remove(folder.path() + "/1/step-00000015.ckpt");
  std::filesystem::resize_file(folder.path() + "/2/step-00000012.ckpt", 1000);
  Trial trial;
  trial.launch(kRanks, {}, command_of(steps, folder.path()));
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  for (int rank = 0; rank < kRanks; rank++) EXPECT_EQ(after_last(trial.said_by(rank), "begins at step "), "9");
  EXPECT_EQ(bits_of(trial), wanted) << trial.everything();
}

TEST(Restart, EndsWhenNoneIsLeft) {
  Folder folder;
  Trial trial;
  trial.launch(kRanks, {"--max-restarts", "2"}, command_of(100000, folder.path(), {"--pause-ms", "1"}));
  for (int generation = 0; generation < 3; generation++) {
    ASSERT_TRUE(trial.wait_for(1, "generation " + std::to_string(generation)));
    const std::string text = trial.said_by(1);
    kill(trial.pid_of(1), SIGKILL);
  }
  EXPECT_EQ(trial.finish("run"), 128 + 9);
  EXPECT_TRUE(matches(trial.output("run"), "failed: rank 1 .*was killed by SIGKILL.*in generation 2"))
      << trial.output("run");
  EXPECT_TRUE(matches(trial.output("run"), "no restart is left of 2")) << trial.output("run");
}

namespace {

struct Soak {
  std::mt19937_64 random;
  int kills = 0;
};

// One run with several kills at random moments and a timer's signal 1,000 times a second. Every survivor that said
// anything must have named the right rank.
void run_with_kills(Soak& soak, int kills, int steps, const Words& wanted) {
  Folder folder;
  Trial trial;
  trial.launch(kRanks, {"--max-restarts", std::to_string(kills)},
               command_of(steps, folder.path(), {"--pause-ms", "2", "--timer-hz", "1000"}));
  for (int generation = 0; generation < kills; generation++) {
    const auto victim = static_cast<int>(soak.random() % kRanks);
    if (!trial.wait_for(victim, "generation " + std::to_string(generation) + "\n")) return;
    const pid_t pid = trial.pid_of(victim);
    // From the start of the process to well into the training.
    pause_ms(static_cast<int64_t>(soak.random() % 400));
    if (!trial.running("run")) break;
    if (kill(pid, SIGKILL) != 0) continue;
    soak.kills++;
    const std::string next = "generation " + std::to_string(generation + 1);
    const double deadline = seconds_now() + 60;
    while (trial.running("run") && trial.output("run").find("(" + next + ")") == std::string::npos &&
           seconds_now() < deadline)
      pause_ms(5);
    if (!trial.running("run")) break;  // it had finished before the kill
    EXPECT_TRUE(matches(trial.output("run"), "\\[cresset-run\\] rank " + std::to_string(victim) + " \\(pid " +
                                                 std::to_string(pid) + " on [^)]+\\) was killed by SIGKILL"))
        << "kill " << soak.kills << "\n"
        << trial.everything();
  }
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  EXPECT_EQ(bits_of(trial), wanted) << trial.everything();
  // Whoever met an error names one that was killed, and how.
  for (int rank = 0; rank < kRanks; rank++)
    for (const std::string& error : errors_in(trial.said_by(rank)))
      EXPECT_TRUE(matches(error, "rank [0-9]+ (\\(host [^,]+, pid [0-9]+\\) )?was killed by SIGKILL")) << error;
}

}  // namespace

// CRESSET_FAULTS_SEED repeats a run.
TEST(RestartSoak, RandomKills) {
  const char* minutes = std::getenv("CRESSET_SOAK_MINUTES");
  const char* seed = std::getenv("CRESSET_FAULTS_SEED");
  const int wanted_kills = std::getenv("CRESSET_TEST_LONG") ? 200 : 10;
  const double until = minutes ? seconds_now() + 60 * std::atof(minutes) : 0;
  Soak soak;
  const uint64_t number = seed ? std::strtoull(seed, nullptr, 10) : minutes ? std::random_device()() : 5;
  soak.random.seed(number);
  RecordProperty("seed", std::to_string(number));
  SCOPED_TRACE("CRESSET_FAULTS_SEED=" + std::to_string(number));
  const int steps = 150;
  const Words wanted = bits_in_peace(steps);
  while ((minutes ? seconds_now() < until : soak.kills < wanted_kills) && !HasFailure())
    run_with_kills(soak, 5, steps, wanted);
  std::printf("%d kills, seed %lu\n", soak.kills, static_cast<unsigned long>(number));
}
