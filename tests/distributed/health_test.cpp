// Faults: processes that are killed or stopped. Every survivor names the right one.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <thread>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using namespace cresset::testing;
using cresset::test::message_when;

bool all_say(Processes& processes, int count, const std::string& text) {
  for (int rank = 0; rank < count; rank++)
    if (!processes.wait_for(rank, text)) return false;
  return true;
}

TEST(Killed, InACollectiveIsNamedByEverySurvivor) {
  // Rank 2 has sent a part of a ring; ranks 0 and 3 wait for neighbours that are innocent.
  Processes processes(4, [](int rank) {
    init_process_group();
    Tensor x = ones({2'000'000});
    barrier();
    say("ready;");
    if (rank == 2) pause_for(60'000);
    say(message_when([&] {
      while (true) all_reduce(x, ReduceOp::MAX);
    }));
  });
  ASSERT_TRUE(all_say(processes, 4, "ready;"));
  pause_for(100);
  processes.signal(2, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 1, 3})
    EXPECT_EQ(outcome[rank], "ready;all_reduce #2 failed: " + who(processes, 2) +
                                 " lost its connection (the process is gone or its machine is)");
  EXPECT_EQ(outcome.ranks[2].signal, SIGKILL);
}

TEST(Killed, UnderALauncherIsNamedWithItsSignal) {
  Processes processes(3, [](int) {
    init_process_group();
    Tensor x = ones({100});
    say("ready;");
    say(message_when([&] {
      while (true) all_reduce(x, ReduceOp::MAX);
    }));
  });
  ASSERT_TRUE(all_say(processes, 3, "ready;"));
  TcpStoreOptions options;
  options.port = processes.port();
  TcpStore store(options);
  pause_for(100);
  processes.signal(1, SIGKILL);
  store.set("0/exit/1", "killed by SIGKILL");  // as the launcher does
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 2})
    EXPECT_NE(outcome[rank].find(" failed: " + who(processes, 1) + " was killed by SIGKILL"), std::string::npos)
        << outcome.summary();
}

TEST(Killed, WhileOthersOnlyComputeIsKnownAtTheNextCall) {
  Processes processes(2, [](int rank) {
    init_process_group();
    barrier();
    say("ready;");
    if (rank == 1) pause_for(60'000);
    while (!default_group()->error()) pause_for(10);
    say(message_when([] { barrier(); }) + ";" + message_when([] { send(ones({1}), 1); }));
  });
  ASSERT_TRUE(processes.wait_for(1, "ready;"));
  processes.signal(1, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  const std::string cause =
      " failed: " + who(processes, 1) + " lost its connection (the process is gone or its machine is)";
  EXPECT_EQ(outcome[0], "ready;barrier" + cause + ";send" + cause);
}

TEST(Killed, DuringTheRendezvousIsNamedByThoseWhoWait) {
  Processes processes(4, [](int rank) {
    if (rank == 3) pause_for(60'000);  // whom all wait for
    say("joins;");
    say(message_when([] { init_process_group(); }));
  });
  ASSERT_TRUE(processes.wait_for(1, "joins;"));
  wait_for_member(processes.port(), 1);
  pause_for(300);  // its will follows
  processes.signal(1, SIGKILL);
  ASSERT_TRUE(processes.wait_for(0, "failed"));
  processes.signal(3, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 2})
    EXPECT_EQ(outcome[rank], "joins;init_process_group failed: " + who(processes, 1) +
                                 " lost its connection (the process is gone or its machine is)");
}

TEST(Killed, WhoeverKeepsTheStore) {
  Processes processes(3, [](int rank) {
    init_process_group();
    Tensor x = ones({100});
    say("ready;");
    if (rank == 0) pause_for(60'000);
    say(message_when([&] { all_reduce(x); }));
  });
  ASSERT_TRUE(all_say(processes, 3, "ready;"));
  pause_for(200);
  processes.signal(0, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {1, 2})
    EXPECT_EQ(outcome[rank], "ready;all_reduce #1 failed: lost the store at tcp://127.0.0.1:" +
                                 std::to_string(processes.port()) + ": " + who(processes, 0) + " is gone");
}

TEST(Killed, InAReceiveFromAnySource) {
  Processes processes(3, [](int rank) {
    init_process_group();
    say("ready;");
    if (rank == 2) pause_for(60'000);
    say(message_when([&] { rank == 0 ? void(recv(ones({1}))) : send(ones({1}), 2); }));
  });
  ASSERT_TRUE(all_say(processes, 3, "ready;"));
  pause_for(200);
  processes.signal(2, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 1})
    EXPECT_NE(outcome[rank].find(who(processes, 2) + " lost its connection"), std::string::npos) << outcome.summary();
}

TEST(Killed, AtAnyMomentTheRightRankIsNamed) {
  const char* more = std::getenv("CRESSET_TEST_LONG");
  std::mt19937 random(7);
  for (int kill = 0; kill < (more && *more ? 200 : 8); kill++) {
    Processes processes(4, [](int rank) {
      init_process_group();
      const Group halves[] = {new_group({0, 1}), new_group({2, 3})};
      Tensor small = ones({10}), large = ones({400'000});
      say("ready;");
      say(message_when([&] {
        while (true) {
          all_reduce(small, ReduceOp::MAX);
          Work work = all_reduce(large, CollectiveOptions::async(ReduceOp::MAX));
          if (rank % 2 == 0) send(small, rank + 1);
          if (rank % 2 == 1) recv(small, rank - 1);
          work.wait();
          broadcast(large, 3);
          all_reduce(small, {ReduceOp::MAX, halves[rank / 2]});
        }
      }));
    });
    const int victim = 1 + static_cast<int>(random() % 3);  // rank 0 keeps the store: that is another sentence
    for (int rank = 0; rank < 4; rank++) ASSERT_TRUE(processes.wait_for(rank, "ready;"));
    pause_for(static_cast<int>(random() % 60));
    processes.signal(victim, SIGKILL);
    const Outcome outcome = processes.wait(kDeadline);
    for (int rank = 0; rank < 4; rank++) {
      if (rank == victim) continue;
      const std::string& text = outcome[static_cast<size_t>(rank)];
      EXPECT_NE(text.find(" failed: " + who(processes, victim) + " lost its connection"), std::string::npos)
          << "kill " << kill << " of rank " << victim << "\n"
          << outcome.summary();
    }
    if (HasFailure()) return;
  }
}

TEST(Stopped, ForLessThanTheTimeoutNothingHappens) {
  Processes processes(3, [](int) {
    meet(30'000);
    Tensor x = ones({1000});
    say("ready;");
    for (int i = 0; i < 300; i++) all_reduce(x, ReduceOp::MAX);
    destroy_process_group();
  });
  ASSERT_TRUE(processes.wait_for(1, "ready;"));
  processes.signal(1, SIGSTOP);
  pause_for(700);
  processes.signal(1, SIGCONT);
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Stopped, ForLongerThanTheTimeoutIsNamedWithItsLastOperation) {
  Processes processes(3, [](int rank) {
    meet(rank == 1 ? kPatience : 3500);
    Tensor x = ones({1000});
    broadcast(x, 0);
    pause_for(1500);  // a heart beats
    say("ready;");
    if (rank == 1) raise(SIGSTOP);
    say(message_when([&] { all_reduce(x); }));
  });
  ASSERT_TRUE(processes.wait_for(0, "did not finish"));
  ASSERT_TRUE(processes.wait_for(2, "did not finish"));
  processes.signal(1, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[0], outcome[2]);
  EXPECT_EQ(outcome[0].substr(0, outcome[0].find("silent")),
            "ready;all_reduce #2 (float32[1000], group default) did not finish within 3500 ms: ranks 0, 2 arrived; "
            "missing: rank 1 (host " +
                host() + ", pid " + std::to_string(processes.pid(1)) + ", ");
  EXPECT_NE(outcome[0].find(" s; last operation: broadcast #1)"), std::string::npos) << outcome[0];
}

TEST(Stopped, WhoeverKeepsTheStoreDoesNotHoldUpTheTimeout) {
  Processes processes(3, [](int rank) {
    meet(1500);
    pause_for(200);
    say("ready;");
    if (rank == 0) raise(SIGSTOP);
    say(message_when([&] { barrier(); }));
    say(";ends");
  });
  ASSERT_TRUE(processes.wait_for(1, ";ends"));
  ASSERT_TRUE(processes.wait_for(2, ";ends"));
  pause_for(100);
  processes.signal(0, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {1, 2}) {
    EXPECT_NE(outcome[rank].find("barrier #1 (group default) did not finish within 1500 ms"), std::string::npos)
        << outcome.summary();
    EXPECT_NE(outcome[rank].find("rank 0 (host"), std::string::npos) << outcome.summary();
  }
}

}  // namespace
}  // namespace cresset::distributed
