// Programs under Slurm's srun, which stands for no launcher: they find each other, and when one is killed the others
// say which, as a lost connection. Each case has a cluster of its own.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "slurm_cluster.h"
#include "tests/support/paths.h"

using namespace faults;

namespace {

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = SlurmCluster::missing(); !why.empty()) GTEST_SKIP() << "no slurm: " << why;
    cluster_.emplace(trial_);
    if (!cluster_->refusal().empty()) GTEST_SKIP() << "no slurm: " << cluster_->refusal();
    ASSERT_TRUE(cluster_->ready());
  }

  void srun(const std::string& name, const Words& options, const Words& arguments) {
    Words command{"srun", "--label"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(program("train"));
    command.insert(command.end(), arguments.begin(), arguments.end());
    cluster_->start(name, command);
  }

  // That the ranks of a job ended with the parameters that those of the launcher have.
  void expect_learned(const std::string& job, int tasks) {
    EXPECT_EQ(trial_.finish(job, 60), 0) << trial_.output(job);
    for (int rank = 0; rank < tasks; rank++) {
      const std::string number = std::to_string(rank);
      const std::string other = trial_.output("launcher " + std::to_string(tasks));
      const std::string wanted = after_last(other, "[rank " + number + "] bits ");
      EXPECT_FALSE(wanted.empty()) << other;
      EXPECT_EQ(after_last(trial_.output(job), number + ": bits "), wanted) << trial_.output(job);
    }
  }

  // Kills one of the tasks and looks at what the others have to say.
  void kill_one(int tasks, const Words& options, int victim, const std::string& words) {
    Words all{"--ntasks", std::to_string(tasks)};
    all.insert(all.end(), options.begin(), options.end());
    srun("srun", all, {"--steps", "100000", "--pause-ms", "1"});
    for (int rank = 0; rank < tasks; rank++) ASSERT_TRUE(trial_.wait_for(rank, "step 3 "));
    const pid_t pid = trial_.pid_of(victim);
    ASSERT_GT(pid, 1);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(trial_.finish("srun", 30), 128 + 9);
    const std::string pattern = pattern_of(victim, pid) + " " + words;
    for (int rank = 0; rank < tasks; rank++) {
      if (rank == victim) continue;
      const Words errors = errors_in(trial_.said_by(rank));
      ASSERT_EQ(errors.size(), 1u) << "rank " << rank << "\n" << trial_.everything();
      EXPECT_TRUE(matches(errors[0], pattern)) << "rank " << rank << " said: " << errors[0] << "\nwanted: " << pattern;
      EXPECT_TRUE(blames_only(errors[0], victim)) << errors[0];
    }
  }

  Trial trial_;
  std::optional<SlurmCluster> cluster_;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The batch script of docs/distributed.md, with this program in the place of ./train.
std::string documented_script(const std::string& training) {
  const std::string text = text_of(cresset::test::source_path("docs/distributed.md"));
  const size_t begin = text.find("#!/bin/bash\n#SBATCH"), end = text.find("```", begin);
  if (begin == std::string::npos) return {};
  std::string script = text.substr(begin, end - begin);
  const std::string name = "./train";
  for (size_t at = 0; (at = script.find(name, at)) != std::string::npos; at += training.size())
    script.replace(at, name.size(), training);
  return script;
}

}  // namespace

// On one node, on two, and when two jobs share the machine.
TEST_F(Slurm, RanksLearnWhatTheyLearnUnderTheLauncher) {
  for (const char* ranks : {"2", "4"}) {
    trial_.start("launcher " + std::string(ranks),
                 {launcher(), "--nproc-per-node", ranks, program("train"), "--steps", "10"});
    EXPECT_EQ(trial_.finish("launcher " + std::string(ranks)), 0);
  }
  for (const char* job : {"one", "another"}) srun(job, {"--ntasks", "2"}, {"--steps", "10"});
  for (const char* job : {"one", "another"}) expect_learned(job, 2);
  for (const char* nodes : {"1", "2"}) {
    const std::string job = std::string("on ") + nodes;
    srun(job, {"--ntasks", "4", "--nodes", nodes}, {"--steps", "10"});
    expect_learned(job, 4);
  }
}

TEST_F(Slurm, AKilledRankIsNamedByThree) { kill_one(4, {"--kill-on-bad-exit=0"}, 2, "lost its connection"); }
TEST_F(Slurm, AKilledRankIsNamedOnAnotherNode) { kill_one(2, {"--nodes", "2"}, 1, "lost its connection"); }
TEST_F(Slurm, TheKilledRankThatKeepsTheStoreIsNamed) { kill_one(4, {}, 0, "is gone"); }

// --kill-on-bad-exit ends the others before they can say anything; srun names the task itself.
TEST_F(Slurm, KillOnBadExitLeavesTheNameToSrun) {
  srun("srun", {"--ntasks", "4", "--nodes", "1", "--kill-on-bad-exit=1"},
       {"--steps", "100000", "--fault", "kill:forward:20:2"});
  EXPECT_GT(trial_.finish("srun", 30), 128);  // of the one that was killed, or of those that srun has ended
  EXPECT_TRUE(matches(trial_.output("srun"), "srun: error: 127.0.0.1: task 2: Killed")) << trial_.output("srun");
}

TEST_F(Slurm, TheScriptOfTheDocumentationTrains) {
  Folder folder;
  const std::string file = folder.path() + "/train.sbatch", out = folder.path() + "/out";
  const std::string script = documented_script(program("train") + " --steps 10");
  ASSERT_FALSE(script.empty());
  std::ofstream(file) << script;
  cluster_->start("sbatch", {"sbatch", "--output", out, file});
  EXPECT_EQ(trial_.finish("sbatch", 60), 0) << trial_.everything();
  // sbatch --wait would ask every ten seconds.
  const double deadline = seconds_now() + 60;
  for (int rank = 0; rank < 4; rank++) {
    const std::string line = "(^|\n)" + std::to_string(rank) + ": bits [0-9a-f]+ ";
    while (!matches(text_of(out), line) && seconds_now() < deadline) pause_ms(20);
    EXPECT_TRUE(matches(text_of(out), line)) << "rank " << rank << "\n" << text_of(out);
  }
}
