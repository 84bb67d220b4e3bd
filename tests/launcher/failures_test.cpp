// Workers that die, workers that will not, signals, restarts, and the death of the launcher itself.
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "runs.h"

namespace cresset::test {
namespace {

TEST(LauncherFailures, TheStatusIsThatOfTheFirstToFail) {
  const Result result = run(with_script({"--nproc-per-node", "3"},
                                        "if [ $RANK = 1 ]; then echo it went wrong >&2; exit 3; fi; trap 'exit 9' TERM;"
                                        "sleep 60 & wait"));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(count(result.err, "failed: rank 1 (pid "), 1) << result.err;
  EXPECT_EQ(count(result.err, "exited with status 3"), 1) << result.err;
  EXPECT_EQ(count(result.err, "its last lines on stderr:\n[cresset-run]     it went wrong\n"), 1) << result.err;
  EXPECT_EQ(count(result.err, "2 other workers ended because of it"), 1) << result.err;
  EXPECT_EQ(count(result.err, "status 9"), 0) << "the cascade is to be kept out of sight\n" << result.err;
}

TEST(LauncherFailures, AKilledWorkerIsNamedWithItsSignal) {
  Launched launcher(with_script({"--nproc-per-node", "3"}, "echo pid-$RANK=$$.; sleep 60"));
  ASSERT_TRUE(launcher.prints("pid-", 3));
  const std::string pid = between(launcher.out(), "pid-2=", ".");
  kill(std::atoi(pid.c_str()), SIGKILL);
  const Result result = launcher.wait();
  EXPECT_EQ(result.status, 128 + SIGKILL);
  EXPECT_EQ(count(result.err, "failed: rank 2 (pid " + pid + " on "), 1) << result.err;
  EXPECT_EQ(count(result.err, "was killed by SIGKILL at "), 1) << result.err;
}

TEST(LauncherFailures, AnUncaughtExceptionIsToldByItsText) {
  const Result result = run({"--nproc-per-node", "2", LAUNCHER_THROWS});
  EXPECT_EQ(result.status, 128 + SIGABRT);
  EXPECT_EQ(count(result.err, " ended by an uncaught cresset::ShapeError: matmul: "), 1) << result.err;
  EXPECT_EQ(count(result.err, "killed by SIGABRT"), 0) << result.err;
}

TEST(LauncherFailures, InAScriptsBackgroundSigintStopsWorkersAtOnce) {
  // A shell without job control starts background commands with SIGINT ignored, and they pass that on.
  Launched shell({"bash", "-c",
                  std::string(CRESSET_RUN_PROGRAM) +
                      " --nproc-per-node 2 --stop-grace 600 bash -c 'echo ready; exec sleep 600' & echo launcher=$!.; "
                      "wait $!; echo status=$?."});
  ASSERT_TRUE(shell.prints("ready", 2));
  kill(std::atoi(between(shell.out(), "launcher=", ".").c_str()), SIGINT);
  const Result result = shell.wait();  // far below the grace
  EXPECT_EQ(count(result.out, "status=130."), 1) << result.out << result.err;
}

std::vector<pid_t> guards_of(pid_t launcher) {
  std::vector<pid_t> guards;
  std::ifstream children("/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children");
  for (pid_t pid = 0; children >> pid;) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(pid) + "/comm") >> name;
    if (name == "cresset-guard") guards.push_back(pid);
  }
  return guards;
}
// The launcher below a test's own (Launched is one itself), by what it prints.
pid_t inner_launcher(const Launched& outer) { return std::atoi(between(outer.out(), "launcher=", ".").c_str()); }

template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 600; i++) {
    if (condition()) return true;
    usleep(50'000);
  }
  return false;
}

TEST(LauncherFailures, AKilledGuardIsReplaced) {
  Launched launcher(with_script({}, "echo launcher=$PPID.; sleep 600"));
  ASSERT_TRUE(launcher.prints("launcher="));
  const pid_t pid = inner_launcher(launcher);
  ASSERT_TRUE(comes_true([&] { return guards_of(pid).size() == 1; }));
  const pid_t first = guards_of(pid).front();
  kill(first, SIGKILL);
  ASSERT_TRUE(comes_true([&] { return guards_of(pid).size() == 1 && guards_of(pid).front() != first; }))
      << "no new guard, or a zombie of the old one";
  kill(pid, SIGKILL);
  launcher.wait();  // fails if a worker is left
}

// A process that drops its environment and has a session of its own.
std::string hidden_grandchild(const std::string& file) {
  return "env -i setsid bash -c 'echo $$ >" + file + "; exec sleep 600' & while ! [ -s " + file +
         " ]; do sleep 0.05; done; ";
}
pid_t pid_in(const std::string& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

TEST(LauncherFailures, GrandchildrenWithoutTheMarkEndWithTheirWorkers) {
  const Folder folder;
  const std::string file = folder.path + "/pid";
  const Result result = run(with_script({}, hidden_grandchild(file) + "exit 3"));
  EXPECT_EQ(result.status, 3) << result.err;
  const pid_t pid = pid_in(file);
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(comes_true([&] { return kill(pid, 0) != 0; })) << pid << " is still there";
  kill(pid, SIGKILL);
}

TEST(LauncherFailures, AndWithAKilledLauncher) {
  const Folder folder;
  const std::string file = folder.path + "/pid";
  Launched launcher(with_script({}, hidden_grandchild(file) + "echo launcher=$PPID.; sleep 600"));
  ASSERT_TRUE(launcher.prints("launcher="));
  const pid_t pid = pid_in(file);
  usleep(2'500'000);  // two looks of the guard, which looks once a second
  kill(inner_launcher(launcher), SIGKILL);
  launcher.wait();
  EXPECT_TRUE(comes_true([&] { return kill(pid, 0) != 0; })) << pid << " is still there";
  kill(pid, SIGKILL);
}

TEST(LauncherFailures, AWorkerThatIgnoresTheRequestIsKilledAfterTheGrace) {
  const Result result =
      run(with_script({"--nproc-per-node", "2", "--stop-grace", "0.2"},
                      "if [ $RANK = 1 ]; then sleep 0.3; exit 4; fi; trap '' TERM INT; while true; do "
                      "sleep 0.1; done"));
  EXPECT_EQ(result.status, 4);
  EXPECT_EQ(count(result.err, "failed: rank 1"), 1) << result.err;
}

TEST(LauncherFailures, AStoppedWorkerDoesNotHoldUpTheEnd) {
  // Asked to end while it is stopped, it would hear of it only when somebody wakes it.
  const Result result = run(with_script({"--nproc-per-node", "2", "--stop-grace", "50"},
                                        "if [ $RANK = 1 ]; then sleep 0.3; exit 4; fi; kill -STOP $$; sleep 60"));
  EXPECT_EQ(result.status, 4);
}

TEST(LauncherFailures, AWorkerThatEndsWellIsNoReasonToStopTheOthers) {
  const Result result =
      run(with_script({"--nproc-per-node", "3"}, "[ $RANK = 0 ] && exit 0; sleep 0.7; echo done-$RANK"));
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(count(result.out, "done-"), 2);
  EXPECT_EQ(lines_of(result.err).size(), 1u) << "only the line about the cores was expected\n" << result.err;
}

TEST(LauncherFailures, AWorkerThatEndedWellBeforeTheFailureIsNamed) {
  const Folder folder;
  const std::string script =
      "ended=" + folder.path + "/$CRESSET_GENERATION; case $RANK in " +
      "1) echo pid-$CRESSET_GENERATION=$$.; echo $$ >$ended; exit 0;; " +
      // Until the launcher has seen the end of the other.
      "2) until [ -s $ended ]; do sleep 0.05; done; "
      "while kill -0 $(cat $ended); do sleep 0.05; done 2>/dev/null; exit 5;; *) sleep 60;; esac";
  const Result result = run(with_script({"--nproc-per-node", "3", "--max-restarts", "1"}, script));
  EXPECT_EQ(result.status, 5);
  const std::string before = "rank 1 (pid " + between(result.out, "pid-0=", ".") + " on ";
  const std::string last = "[cresset-run]   rank 1 (pid " + between(result.out, "pid-1=", ".") + " on ";
  EXPECT_EQ(count(result.err, before), 2) << "in the line of the restart and in the summary\n" << result.err;
  EXPECT_EQ(count(result.err, last), 1) << result.err;
  EXPECT_EQ(count(result.err, ") had ended with status 0, "), 3) << result.err;
}

TEST(LauncherFailures, OthersThatFailByThemselvesAreNotSaidToBeEnded) {
  const Folder folder;
  // Both are there, and then fail as one.
  const std::string script = "cd " + folder.path +
                             "; case $RANK in 0) touch first; until [ -e second ]; do :; done; exit 7;; " +
                             "1) until [ -e first ]; do sleep 0.01; done; touch second; exit 7;; *) sleep 60;; esac";
  const Result result = run(with_script({"--nproc-per-node", "3"}, script));
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(count(result.err, "1 other worker failed, too; 1 more ended because of it\n"), 1) << result.err;
}

TEST(LauncherFailures, WhatAWorkerStartedEndsWithIt) {
  Launched launcher(with_script({"--nproc-per-node", "2"},
                                "sleep 60 & (setsid sleep 60 &); echo up; [ $RANK = 1 ] && sleep 0.2 && exit 6; wait"));
  const Result result = launcher.wait();  // looks for leftovers
  EXPECT_EQ(result.status, 6);
  const Result good = run(with_script({}, "sleep 60 & (setsid sleep 60 &); exit 0"));
  EXPECT_EQ(good.status, 0);
}

TEST(LauncherRestarts, EveryStartHasItsGeneration) {
  const Folder folder;
  const Result result =
      run(with_script({"--nproc-per-node", "2", "--max-restarts", "3"},
                      "echo generation-$RANK-$CRESSET_GENERATION-$TORCHELASTIC_RESTART_COUNT port=$MASTER_PORT.;"
                      "[ $CRESSET_GENERATION = 2 ] && exit 0; said=" +
                          folder.path +
                          "/$CRESSET_GENERATION; [ $RANK = 0 ] && touch $said; until [ -e $said ]; do sleep 0.02; done;"
                          "[ $RANK = 1 ] && kill -SEGV $$; sleep 60"));
  EXPECT_EQ(result.status, 0) << result.err;
  for (int generation = 0; generation < 3; generation++) {
    const std::string g = std::to_string(generation);
    EXPECT_EQ(count(result.out, "generation-0-" + g + "-" + g), 1) << result.out;
    EXPECT_EQ(count(result.out, "generation-1-" + g + "-" + g), 1) << result.out;
  }
  EXPECT_EQ(count(result.out, "port=" + between(result.out, "port=", ".") + "."), 6) << "one store serves all starts";
  EXPECT_EQ(count(result.err, "restart 1 of 3 (generation 1)\n"), 1) << result.err;
  EXPECT_EQ(count(result.err, "restart 2 of 3 (generation 2)\n"), 1) << result.err;
  EXPECT_EQ(count(result.err, "finished after 2 restarts\n"), 1) << result.err;
  EXPECT_GE(count(result.err, "was killed by SIGSEGV"), 2) << result.err;
}

TEST(LauncherRestarts, EndWithTheLastFailureWhenUsedUp) {
  const Result result = run(with_script({"--nproc-per-node", "2", "--max-restarts=2"},
                                        "[ $RANK = 0 ] && exit $((10 + CRESSET_GENERATION)); sleep 60"));
  EXPECT_EQ(result.status, 12);
  EXPECT_EQ(count(result.err, "failed: rank 0"), 1) << result.err;
  EXPECT_EQ(count(result.err, "exited with status 12"), 1) << result.err;
  EXPECT_EQ(count(result.err, "before that, generation 0: rank 0"), 1) << result.err;
  EXPECT_EQ(count(result.err, "before that, generation 1: rank 0"), 1) << result.err;
  EXPECT_EQ(count(result.err, "no restart is left of 2\n"), 1) << result.err;
}

class LauncherSignal : public ::testing::TestWithParam<int> {};

TEST_P(LauncherSignal, ArePassedOnAndGiveTheStatus) {
  const int signal = GetParam();
  Launched launcher(with_script({"--nproc-per-node", "2"},
                                "trap 'echo heard-INT; exit 0' INT; trap 'echo heard-TERM; exit 0' "
                                "TERM; trap 'echo heard-HUP; exit 0' HUP; echo up; sleep 60 & wait"));
  ASSERT_TRUE(launcher.prints("up", 2));
  launcher.signal(signal);
  const Result result = launcher.wait();
  const std::string name = std::string(sigabbrev_np(signal));
  EXPECT_EQ(result.status, 128 + signal);
  EXPECT_EQ(count(result.out, "heard-" + name), 2) << result.out;
  EXPECT_EQ(count(result.err, "stopped by SIG" + name + "\n"), 1) << result.err;
  EXPECT_EQ(count(result.err, "failed"), 0) << result.err;
}

INSTANTIATE_TEST_SUITE_P(All, LauncherSignal, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(LauncherSignals, ASecondOneKillsAtOnce) {
  Launched launcher(with_script({"--nproc-per-node", "2", "--stop-grace", "500", "--max-restarts", "5"},
                                "trap 'echo heard' INT; echo up; while true; do sleep 0.1; done"));
  ASSERT_TRUE(launcher.prints("up", 2));
  launcher.signal(SIGINT);
  ASSERT_TRUE(launcher.prints("heard", 2));
  launcher.signal(SIGINT);
  EXPECT_EQ(launcher.wait().status, 128 + SIGINT);
}

TEST(LauncherSignals, UserSignalsReachTheWorkersAndEndNothing) {
  Launched launcher(
      with_script({"--nproc-per-node", "2"},
                  "trap 'echo dump' USR1; echo up; for i in {1..1000}; do sleep 0.05; [ -e /dev/null ]; done"));
  ASSERT_TRUE(launcher.prints("up", 2));
  launcher.signal(SIGUSR1);
  EXPECT_TRUE(launcher.prints("dump", 2));
  launcher.signal(SIGTERM);
  EXPECT_EQ(launcher.wait().status, 128 + SIGTERM);
}

TEST(LauncherDeath, LeavesNoProcessBehind) {
  // Children in the worker's group, in groups of their own, and without the environment.
  Launched launcher(
      with_script({"--nproc-per-node", "3"},
                  "trap '' TERM INT HUP; sleep 60 & (setsid sleep 60 &); (sleep 60 & sleep 60) & echo up; wait"));
  ASSERT_TRUE(launcher.prints("up", 3));
  EXPECT_GE(launcher.processes().size(), 2u + 3 * 4);
  launcher.signal(SIGKILL);
  EXPECT_EQ(launcher.wait().status, 128 + SIGKILL);
}

TEST(LauncherDeath, AtAnyMomentLeavesNothing) {
  for (int milliseconds : {1, 3, 6, 10, 15, 22, 30, 45}) {
    Launched launcher(with_script({"--nproc-per-node", "4", "--max-restarts", "1000"},
                                  "sleep 60 & (setsid sleep 60 &); sleep 0.0$RANK; [ $RANK = 2 ] && exit 1; wait"));
    usleep(milliseconds * 1000);
    launcher.signal(SIGKILL);
    EXPECT_EQ(launcher.wait().status, 128 + SIGKILL) << milliseconds;
  }
}

TEST(LauncherProgram, ThatCannotBeStartedIsNamed) {
  const Result missing = run({"no-such-program"});
  EXPECT_EQ(missing.status, 127);
  EXPECT_EQ(missing.err, "[cresset-run] there is no program 'no-such-program' in PATH\n");
  EXPECT_EQ(run({"./no-such-program"}).err, "[cresset-run] there is no program './no-such-program'\n");
  EXPECT_EQ(run({"no-such.py"}).err, "[cresset-run] there is no program 'no-such.py'\n");
  const Result plain = run({"/etc/passwd"});
  EXPECT_EQ(plain.status, 126);
  EXPECT_EQ(plain.err, "[cresset-run] '/etc/passwd' is not an executable file\n");

  const Folder folder;
  const std::string bad = folder.path + "/bad";
  ASSERT_EQ(std::system(("printf 'garbage' >" + bad + "; chmod +x " + bad).c_str()), 0);
  const Result garbage = run({"--nproc-per-node", "2", bad}, {"OMP_NUM_THREADS=1"});
  EXPECT_EQ(garbage.status, 126);
  EXPECT_EQ(garbage.err,
            "[cresset-run] '" + bad +
                "' could not be started: it is neither a program for this machine nor a script with a #! line\n");
}

}  // namespace
}  // namespace cresset::test
