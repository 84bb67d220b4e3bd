// Several nodes: several launchers on loopback, which find each other by the endpoint alone.
#include <fstream>
#include <memory>

#include "runs.h"

namespace cresset::test {
namespace {

struct Nodes {
  explicit Nodes(const std::string& nnodes, std::vector<std::string> more = {}) {
    options = {"--nnodes", nnodes, "--rdzv-endpoint", "127.0.0.1:" + std::to_string(port), "--last-call", "30"};
    options.insert(options.end(), more.begin(), more.end());
  }
  // One more node.
  Launched& start(int workers, const std::string& script, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--nproc-per-node", std::to_string(workers)});
    all.insert(all.end(), more.begin(), more.end());
    launched.push_back(
        std::make_unique<Launched>(with_script(all, script), std::vector<std::string>{"OMP_NUM_THREADS=1"}));
    return *launched.back();
  }
  // The order of arrival is the order of the nodes.
  void wait_for_the_first() const { EXPECT_TRUE(listens(port)); }

  int port = free_port();
  std::vector<std::string> options;
  std::vector<std::unique_ptr<Launched>> launched;
};

const std::string kWho =
    "echo \"node=$GROUP_RANK/$GROUP_WORLD_SIZE local=$LOCAL_RANK/$LOCAL_WORLD_SIZE rank=$RANK/$WORLD_SIZE."
    " generation=$CRESSET_GENERATION.\"; ";

TEST(LauncherNodes, FormOneWorld) {
  Nodes nodes("2", {"--token", "secret"});
  Launched& first = nodes.start(2, kWho);
  nodes.wait_for_the_first();
  Launched& second = nodes.start(3, kWho);
  const Result a = first.wait(), b = second.wait();
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(b.status, 0) << b.err;
  const std::string all = a.out + b.out;
  for (const char* line :
       {"node=0/2 local=0/2 rank=0/5.", "node=0/2 local=1/2 rank=1/5.", "node=1/2 local=0/3 rank=2/5.",
        "node=1/2 local=1/3 rank=3/5.", "node=1/2 local=2/3 rank=4/5."})
    EXPECT_EQ(count(all, line), 1) << line << "\n" << all;
  EXPECT_TRUE(can_listen_on(nodes.port));
}

TEST(LauncherNodes, TakeThePlacesTheyAreGiven) {
  Nodes nodes("3");
  Launched& last = nodes.start(1, kWho, {"--node-rank", "2"});
  Launched& middle = nodes.start(1, kWho, {"--node-rank", "1"});
  Launched& first = nodes.start(1, kWho, {"--node-rank", "0"});
  EXPECT_EQ(count(first.wait().out, "node=0/3 local=0/1 rank=0/3."), 1);
  EXPECT_EQ(count(middle.wait().out, "node=1/3 local=0/1 rank=1/3."), 1);
  EXPECT_EQ(count(last.wait().out, "node=2/3 local=0/1 rank=2/3."), 1);
}

TEST(LauncherNodes, AFailureAnywhereStopsAllAndAllStartAgain) {
  Nodes nodes("2", {"--max-restarts", "1"});
  const std::string script = kWho + "[ $CRESSET_GENERATION = 1 ] && exit 0; [ $RANK = 3 ] && kill -9 $$; sleep 60";
  Launched& one = nodes.start(2, script);
  Launched& two = nodes.start(2, script);
  const Result a = one.wait(), b = two.wait();
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(b.status, 0) << b.err;
  EXPECT_EQ(count(a.out + b.out, "generation=1."), 4);
  EXPECT_EQ(count(a.err + b.err, "restart 1 of 1 (generation 1)"), 1) << a.err << b.err;
  for (const Result& result : {a, b})
    EXPECT_EQ(count(result.err, "[cresset-run]   generation 0: rank 3 (pid "), 1) << result.err;
}

TEST(LauncherNodes, TheFirstDeathIsNamedOnAllOfThem) {
  Nodes nodes("2");
  const std::string script = "[ $RANK = 0 ] && exit 42; sleep 60";
  Launched& one = nodes.start(1, script);
  Launched& two = nodes.start(1, script);
  for (const Result& result : {one.wait(), two.wait()}) {
    EXPECT_EQ(result.status, 42);
    EXPECT_EQ(count(result.err, "failed: rank 0 (pid "), 1) << result.err;
    EXPECT_EQ(count(result.err, "1 other worker ended because of it"), 1) << result.err;
  }
}

TEST(LauncherNodes, GoOnWithoutOneThatIsKilledIfEnoughAreLeft) {
  Nodes nodes("1:2");
  const std::string script = kWho + "[ $CRESSET_GENERATION = 1 ] && exit 0; sleep 60";
  Launched& first = nodes.start(2, script);
  nodes.wait_for_the_first();
  Launched& second = nodes.start(2, script);
  ASSERT_TRUE(second.prints("generation=0.", 2));
  second.signal(SIGKILL);
  EXPECT_EQ(second.wait().status, 128 + SIGKILL);
  const Result result = first.wait();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(count(result.out, "/4. generation=0."), 2) << result.out;
  EXPECT_EQ(count(result.out, "/2. generation=1."), 2) << result.out;
  EXPECT_GE(count(result.err, "node 1 ("), 1) << result.err;
  EXPECT_GE(count(result.err, "was lost: the connection to its launcher has ended"), 1) << result.err;
}

TEST(LauncherNodes, FailByNameOfTheLostOneIfTooFewAreLeft) {
  Nodes nodes("2", {"--max-restarts", "5"});
  Launched& first = nodes.start(1, kWho + "sleep 60");
  nodes.wait_for_the_first();
  Launched& second = nodes.start(1, kWho + "sleep 60");
  ASSERT_TRUE(second.prints("rank=1/2."));
  second.signal(SIGKILL);
  second.wait();
  const Result result = first.wait();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "node 1 ("), 1) << result.err;
  EXPECT_EQ(count(result.err, "1 node left of at least 2\n"), 1) << result.err;
}

TEST(LauncherNodes, OneThatIsStoppedByItsUserSaysSo) {
  Nodes nodes("2");
  Launched& first = nodes.start(1, kWho + "sleep 60");
  nodes.wait_for_the_first();
  Launched& second = nodes.start(1, kWho + "sleep 60");
  ASSERT_TRUE(second.prints("rank=1/2."));
  second.signal(SIGINT);
  EXPECT_EQ(second.wait().status, 128 + SIGINT);
  const Result result = first.wait();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "was stopped by SIGINT; 1 node left of at least 2"), 1) << result.err;
}

TEST(LauncherNodes, ALateOneJoinsWhileThereIsRoom) {
  Nodes nodes("1:2");
  nodes.options[5] = "0.1";  // no long last call
  const std::string script = kWho + "[ $CRESSET_GENERATION = 1 ] && exit 0; sleep 60";
  Launched& first = nodes.start(1, script);
  ASSERT_TRUE(first.prints("rank=0/1. generation=0."));
  Launched& second = nodes.start(1, script);
  const Result a = first.wait(), b = second.wait();
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_EQ(count(a.out, "rank=0/2. generation=1."), 1) << a.out;
  EXPECT_EQ(count(b.out, "rank=1/2. generation=1."), 1) << b.out;
  EXPECT_GE(count(a.err, " came: the group forms anew"), 1) << a.err;
}

TEST(LauncherNodes, WithoutTheOneThatKeepsTheStoreTheOthersEnd) {
  Nodes nodes("2");
  Launched& first = nodes.start(1, kWho + "sleep 60");
  nodes.wait_for_the_first();
  Launched& second = nodes.start(1, kWho + "sleep 60");
  ASSERT_TRUE(second.prints("rank=1/2."));
  first.signal(SIGKILL);
  first.wait();
  const Result result = second.wait();
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(count(result.err, "the store on 127.0.0.1, which the first node keeps, is gone"), 1) << result.err;
}

TEST(LauncherNodes, ThatDoNotComeAreWaitedForNoLongerThanTold) {
  Nodes nodes("2", {"--rdzv-timeout", "0.5"});
  const Result first = nodes.start(3, kWho).wait();
  EXPECT_EQ(first.status, 1);
  EXPECT_EQ(count(first.err, "rendezvous: 1 of at least 2 nodes came within 0.5 s: "), 1) << first.err;
  EXPECT_EQ(count(first.err, " (3 workers)\n"), 1) << first.err;
  const Result second = nodes.start(1, kWho, {"--node-rank", "1"}).wait();
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(count(second.err, "the first node keeps no store at 127.0.0.1:"), 1) << second.err;
}

TEST(LauncherNodes, OneThatIsSilentForTooLongIsGivenUp) {
  if (std::getenv("CRESSET_TEST_LONG") == nullptr) GTEST_SKIP() << "takes the 15 s of the limit (--long)";
  Nodes nodes("1:2");
  const std::string script = kWho + "[ $CRESSET_GENERATION = 1 ] && sleep 3 && exit 0; sleep 600";
  Launched& first = nodes.start(1, script);
  nodes.wait_for_the_first();
  Launched& second = nodes.start(1, script);
  ASSERT_TRUE(second.prints("rank=1/2."));
  second.signal(SIGSTOP);
  ASSERT_TRUE(first.prints("rank=0/1. generation=1."));
  second.signal(SIGCONT);
  const Result late = second.wait(), result = first.wait();
  EXPECT_EQ(late.status, 1);
  EXPECT_EQ(count(late.err, "the others have gone on without this node"), 1) << late.err;
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GE(count(result.err, "was lost: its launcher has been silent for 15 s"), 1) << result.err;
}

TEST(LauncherNodes, StrangersAreRefused) {
  Nodes nodes("2");
  Launched& first = nodes.start(1, kWho, {"--token", "right"});
  nodes.wait_for_the_first();
  const Result wrong_token = nodes.start(1, kWho, {"--token", "wrong", "--node-rank", "1"}).wait();
  EXPECT_EQ(wrong_token.status, 1);
  EXPECT_EQ(count(wrong_token.err, "refused the token"), 1) << wrong_token.err;
  const Result other_run = nodes.start(1, kWho, {"--token", "right", "--rdzv-id", "other"}).wait();
  EXPECT_EQ(other_run.status, 1);
  EXPECT_EQ(count(other_run.err, "refused: found --rdzv-id other (expected default)\n"), 1) << other_run.err;
  Launched& second = nodes.start(1, kWho, {"--token", "right"});
  EXPECT_EQ(first.wait().status, 0);
  EXPECT_EQ(second.wait().status, 0);
}

TEST(LauncherNodes, ThatDisagreeAboutTheirNumberAllEndAtOnce) {
  Nodes nodes("2");
  Launched& first = nodes.start(1, kWho);
  nodes.wait_for_the_first();
  Launched& second = nodes.start(1, kWho, {"--nnodes", "3"});
  for (const Result& result : {first.wait(), second.wait()}) {
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(count(result.err, "nodes disagree about --nnodes: 2 on the first node ("), 1) << result.err;
    EXPECT_EQ(count(result.err, "), 3 on "), 1) << result.err;
  }
}

TEST(LauncherNodes, OneThatComesToALoneOneIsRefused) {
  Nodes nodes("2", {"--rdzv-id", "x", "--token", "shared"});
  Launched& alone = nodes.start(1, kWho + "sleep 60", {"--nnodes", "1"});
  ASSERT_TRUE(alone.prints("rank=0/1."));
  const Result other = nodes.start(1, kWho).wait();
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(count(other.err, "this node was refused: found --nnodes 2 (expected 1)\n"), 1) << other.err;
  alone.signal(SIGTERM);
  EXPECT_EQ(alone.wait().status, 128 + SIGTERM);
}

TEST(LauncherNodes, AWellEndedWorkerOfAnotherNodeIsNamedOnAllOfThem) {
  Nodes nodes("2");
  const Folder folder;
  const std::string script = "ended=" + folder.path + "/ended; if [ $RANK = 1 ]; then touch $ended; exit 0; fi; " +
                             "until [ -e $ended ]; do sleep 0.05; done; sleep 0.3; exit 6";
  Launched& one = nodes.start(1, script);
  Launched& two = nodes.start(1, script);
  for (const Result& result : {one.wait(), two.wait()}) {
    EXPECT_EQ(result.status, 6);
    EXPECT_EQ(count(result.err, "[cresset-run]   rank 1 (pid "), 1) << result.err;
    EXPECT_EQ(count(result.err, ") had ended with status 0, "), 1) << result.err;
  }
}

TEST(LauncherNodes, AWaitingOneCanBeInterrupted) {
  Nodes nodes("2");
  Launched& alone = nodes.start(1, kWho, {"--node-rank", "1"});
  usleep(300'000);
  alone.signal(SIGINT);
  EXPECT_EQ(alone.wait().status, 128 + SIGINT);
}

TEST(LauncherNodes, ATakenPortIsNamed) {
  Nodes nodes("2");
  Launched& first = nodes.start(1, kWho, {"--node-rank", "0"});
  nodes.wait_for_the_first();
  const Result second = nodes.start(1, kWho, {"--node-rank", "0"}).wait();
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.err, "[cresset-run] the store cannot listen on 127.0.0.1:" + std::to_string(nodes.port) +
                            ": Address already in use (another node has --node-rank 0, or an earlier run is still "
                            "there)\n");
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status, 128 + SIGTERM);
}

// Two who wanted one run over two nodes and left out --nnodes.
TEST(LauncherNodes, ASecondRunAtATakenPortHearsWhatToDo) {
  Nodes nodes("1");
  Launched& first = nodes.start(1, "echo here; sleep 60");
  ASSERT_TRUE(first.prints("here"));
  const Result second = nodes.start(1, kWho).wait();
  EXPECT_EQ(second.status, 1);
  EXPECT_EQ(second.err, "[cresset-run] the store cannot listen on 127.0.0.1:" + std::to_string(nodes.port) +
                            ": Address already in use (perhaps another cresset-run is there: one run over several "
                            "nodes needs --nnodes N on each of them, a second run a port of its own)\n");
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().status, 128 + SIGTERM);
}

}  // namespace
}  // namespace cresset::test
