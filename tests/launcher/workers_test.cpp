// What workers get from the launcher, and what becomes of what they print.
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "runs.h"

namespace cresset::test {
namespace {

TEST(LauncherWorkers, HaveTorchrunsEnvironmentAndCressets) {
  const Result result = run(with_script(
      {"--nproc-per-node", "3", "--rdzv-id", "trial", "--max-restarts", "4"},
      "echo \"[$RANK|$LOCAL_RANK|$WORLD_SIZE|$LOCAL_WORLD_SIZE|$GROUP_RANK|$MASTER_ADDR|$CRESSET_AGENT_STORE|"
      "$CRESSET_GENERATION|$TORCHELASTIC_RESTART_COUNT|$CRESSET_MAX_RESTARTS|$CRESSET_RUN_ID]\";"
      "echo port=$MASTER_PORT."));
  EXPECT_EQ(result.status, 0) << result.err;
  for (int rank = 0; rank < 3; rank++) {
    const std::string r = std::to_string(rank);
    EXPECT_EQ(count(result.out, "[rank " + r + "] [" + r + "|" + r + "|3|3|0|127.0.0.1|1|0|0|4|trial]\n"), 1)
        << result.out;
  }
  const int port = std::atoi(between(result.out, "port=", ".").c_str());
  EXPECT_GT(port, 0);
  EXPECT_EQ(count(result.out, "port=" + std::to_string(port) + "."), 3);
  EXPECT_TRUE(can_listen_on(port)) << "the store's port is still taken";
}

TEST(LauncherWorkers, ShareTheCoresUnlessToldOtherwise) {
  const Result few = run(with_script({"--nproc-per-node", "64"}, "echo threads=$OMP_NUM_THREADS."));
  EXPECT_EQ(few.status, 0);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores < 128) {
    EXPECT_EQ(count(few.out, "threads=1."), 64) << few.out;
  }
  EXPECT_EQ(count(few.err, "OMP_NUM_THREADS="), 1) << few.err;

  const Result told =
      run(with_script({"--nproc-per-node", "2"}, "echo threads=$OMP_NUM_THREADS."), {"OMP_NUM_THREADS=7"});
  EXPECT_EQ(count(told.out, "threads=7."), 2) << told.out;
  EXPECT_EQ(told.err, "");

  const Result pinned =
      Launched(
          {"bash", "-c",
           std::string(
               "unset OMP_NUM_THREADS; taskset -cp $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') $$ >/dev/null; ") +
               CRESSET_RUN_PROGRAM + " --nproc-per-node cpu bash -c 'echo one $WORLD_SIZE $OMP_NUM_THREADS'"})
          .wait();
  EXPECT_EQ(pinned.out, "[rank 0] [rank 0] one 1 1\n") << pinned.err;
}

TEST(LauncherWorkers, AreAsManyAsTheMachineHasCores) {
  const Result result = run(with_script({"--nproc-per-node", "auto"}, "echo here"), {"CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(result.status, 0);
  EXPECT_GE(count(result.out, "here\n"), 1);
  const Result gpus = run(with_script({"--nproc-per-node=gpu"}, "echo here"), {"CUDA_VISIBLE_DEVICES=0,1,2"});
  EXPECT_EQ(count(gpus.out, "here\n"), 3);
}

TEST(LauncherWorkers, GetTheTokenInTheEnvironmentAndOthersDoNotSeeIt) {
  const std::string show = "echo secret=$CRESSET_TOKEN.; tr '\\0' ' ' </proc/$PPID/cmdline";
  const Result given = run(with_script({"--token", "hunter2"}, show));
  EXPECT_EQ(count(given.out, "secret=hunter2."), 1) << given.out;
  EXPECT_EQ(count(given.out, "--token hunter2"), 0) << given.out;
  EXPECT_EQ(count(given.out, "--token *******"), 1) << given.out;

  const Result inherited = run(with_script({}, show), {"CRESSET_TOKEN=from-the-environment"});
  EXPECT_EQ(count(inherited.out, "secret=from-the-environment."), 1) << inherited.out;

  // Without one the launcher makes one, another each time, so that nobody else on the machine is let in.
  const auto made = [&] { return between(run(with_script({}, "echo secret=$CRESSET_TOKEN.")).out, "secret=", "."); };
  const std::string first = made(), second = made();
  EXPECT_EQ(first.size(), 32u);
  EXPECT_NE(first, second);

  const Folder folder;
  std::ofstream(folder.path + "/token") << "in-a-file\n";
  const Result file = run(with_script({"--token-file", folder.path + "/token"}, show));
  EXPECT_EQ(count(file.out, "secret=in-a-file."), 1) << file.out;
}

TEST(LauncherWorkers, APythonFileIsRunByPython) {
  const Folder folder;
  std::ofstream(folder.path + "/train.py") << "import os, sys\nprint('rank', os.environ['RANK'], sys.argv[1])\n";
  const Result result = run({"--nproc-per-node", "2", folder.path + "/train.py", "--lr=1"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "[rank 1] rank 1 --lr=1\n"), 1) << result.out;
}

TEST(LauncherWorkers, TheirArgumentsAreTheirOwn) {
  const Result result = run({"--no-prefix", "printf", "%s.", "--nproc-per-node", "9", "", "a b"});
  EXPECT_EQ(result.out, "--nproc-per-node.9..a b.\n");
  EXPECT_EQ(run({"--no-prefix", "--", "echo", "--"}).out, "--\n");
}

TEST(LauncherOutput, LinesAreWholeAndUnderTheirRank) {
  // Each line is written in two parts, by four workers at once, and the last one has no newline.
  const Result result =
      run(with_script({"--nproc-per-node", "4"},
                      "for i in {1..300}; do printf \"%s\" \"begin-$RANK-$i-\"; echo end-$RANK-$i; done;"
                      "printf last-$RANK; echo oops-$RANK >&2"));
  EXPECT_EQ(result.status, 0);
  const std::vector<std::string> lines = lines_of(result.out);
  EXPECT_EQ(lines.size(), 4u * 301);
  int next[4] = {1, 1, 1, 1};
  for (const std::string& line : lines) {
    const int rank = line.size() > 6 ? line[6] - '0' : 9;
    ASSERT_TRUE(rank >= 0 && rank < 4) << line;
    const std::string r = std::to_string(rank), i = std::to_string(next[rank]);
    const std::string wanted = next[rank] <= 300 ? "begin-" + r + "-" + i + "-end-" + r + "-" + i : "last-" + r;
    EXPECT_EQ(line, "[rank " + r + "] " + wanted);
    next[rank]++;
  }
  for (int rank = 0; rank < 4; rank++)
    EXPECT_EQ(count(result.err, "[rank " + std::to_string(rank) + "] oops-" + std::to_string(rank) + "\n"), 1);
}

TEST(LauncherOutput, BytesAndLongLinesPassUnchanged) {
  const Result bytes = run(with_script({"--no-prefix"}, "printf 'a\\0b\\xff\\r\\n\\n\\x1b[0mc'"));
  EXPECT_EQ(bytes.out, std::string("a\0b\xff\r\n\n\x1b[0mc\n", 13));
  const Result result =
      run(with_script({"--nproc-per-node", "2"}, "head -c 5000000 /dev/zero | tr '\\0' $RANK; echo; echo after"));
  const std::vector<std::string> lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 4u);
  for (char rank : {'0', '1'}) {
    const std::string wanted = std::string("[rank ") + rank + "] " + std::string(5'000'000, rank);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), wanted), 1);
  }
}

TEST(LauncherOutput, AFloodOfOneDoesNotSilenceTheOthers) {
  Launched flood(
      with_script({"--nproc-per-node", "2"},
                  "if [ $RANK = 0 ]; then yes 0123456789012345678901234567890123456789; fi; sleep 0.3; echo I am heard;"
                  "exit 5"));
  const Result result = flood.wait();
  EXPECT_EQ(result.status, 5);
  EXPECT_EQ(count(result.out, "[rank 1] I am heard\n"), 1);
  EXPECT_GT(result.out.size(), 1'000'000u);
  EXPECT_EQ(count(result.err, "rank 1 (pid "), 1) << result.err;
}

TEST(LauncherOutput, AReaderWhoLeavesDoesNotEndTheRun) {
  const Folder folder;
  const Result result =
      Launched({"bash", "-c",
                std::string(CRESSET_RUN_PROGRAM) + " bash -c 'for i in {1..2000}; do echo $i; done; echo whole >" +
                    folder.path + "/end' | head -n 1"})
          .wait();
  EXPECT_EQ(count(result.out, "[rank 0] 1\n"), 1) << result.out;
  std::string text;
  std::ifstream(folder.path + "/end") >> text;
  EXPECT_EQ(text, "whole");
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(LauncherLogs, HoldEveryStreamOfEveryRankAndStart) {
  const Folder folder;
  const Result result = run(with_script(
      {"--nproc-per-node", "2", "--log-dir", folder.path, "--rdzv-id", "x", "--tee", "0:1,1:2", "--max-restarts", "1"},
      "echo out-$RANK-$CRESSET_GENERATION; echo err-$RANK >&2;"
      "[ $CRESSET_GENERATION = 1 ] && exit 0; said=" +
          folder.path + "/said; [ $RANK = 1 ] && touch $said; until [ -e $said ]; do sleep 0.02; done;" +
          "[ $RANK = 0 ] && exit 3; sleep 60"));
  EXPECT_EQ(result.status, 0) << result.err;
  for (int rank = 0; rank < 2; rank++)
    for (int start = 0; start < 2; start++) {
      const std::string r = std::to_string(rank), g = std::to_string(start);
      const std::string at = folder.path + "/x/attempt_" + g + "/" + r;
      EXPECT_EQ(content(at + "/stdout.log"), "out-" + r + "-" + g + "\n");
      EXPECT_EQ(content(at + "/stderr.log"), "err-" + r + "\n");
    }
  EXPECT_EQ(count(result.out, "[rank 0] out-0-1\n"), 1) << result.out;
  EXPECT_EQ(count(result.out, "rank 1"), 0) << result.out;
  EXPECT_EQ(count(result.err, "[rank 1] err-1\n"), 2) << result.err;
  EXPECT_EQ(count(result.err, "[rank 0] err"), 0) << result.err;
  EXPECT_EQ(count(result.err, "[cresset-run] logs: " + folder.path + "/x\n"), 1) << result.err;
}

TEST(LauncherLogs, RedirectsAndFiltersHideFromTheConsole) {
  const Folder folder;
  const Result redirected = run(
      with_script({"--nproc-per-node", "2", "--log-dir", folder.path, "--redirects", "1:3"}, "echo out; echo err >&2"));
  EXPECT_EQ(redirected.out, "[rank 0] out\n");
  EXPECT_EQ(count(redirected.err, "[rank 0] err\n"), 1);
  EXPECT_EQ(count(redirected.err, "[rank 1]"), 0);
  const Result filtered = run(with_script({"--nproc-per-node", "3", "--local_ranks_filter=1"}, "echo out"));
  EXPECT_EQ(filtered.out, "[rank 1] out\n");
}

}  // namespace
}  // namespace cresset::test
