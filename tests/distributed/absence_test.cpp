// Faults: processes that come late, end early or never come. Those who wait name the right one.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using namespace cresset::testing;
using cresset::test::message_when;

InitOptions within(int milliseconds) {
  InitOptions options;
  options.timeout = std::chrono::milliseconds(milliseconds);
  return options;
}

TEST(Late, IsNamedAsAliveWithWhatItDoes) {
  Processes processes(2, [](int rank) {
    meet(1500);
    barrier();
    if (rank == 1) wait_for_the_end();
    say(message_when([&] { barrier(); }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  const std::string sentence =
      "barrier #2 (group default) did not finish within 1500 ms: rank 0 arrived; missing: rank 1 (host " + host() +
      ", pid " + std::to_string(processes.pid(1)) + ", alive; last operation: barrier #1)";
  EXPECT_EQ(outcome[0], sentence);
  EXPECT_EQ(outcome[1], sentence);
}

TEST(Late, WhatItDidLastIsNotASecondOld) {
  Processes processes(2, [](int rank) {
    meet(900);
    barrier();
    if (rank == 1) wait_for_the_end();
    say(message_when([&] { all_reduce(ones({4})); }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_NE(outcome[0].find("alive; last operation: barrier #1)"), std::string::npos) << outcome.summary();
}

TEST(Late, InAnotherGroup) {
  Processes processes(2, [](int rank) {
    meet(rank == 0 ? 1500 : kPatience);
    const Group other = new_group({0, 1});
    // Only rank 0 gives up: it must not hear first that the other has ended.
    if (rank == 0) say(message_when([&] { all_reduce(ones({4})); }));
    if (rank == 1) all_reduce(ones({4}), CollectiveOptions::async(ReduceOp::SUM, other));
    wait_for_the_end();
  });
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_NE(outcome[0].find("missing: rank 1 (host " + host() + ", pid " + std::to_string(processes.pid(1)) +
                            ", alive; last operation: all_reduce #1 of group 1)"),
            std::string::npos)
      << outcome.summary();
}

TEST(Late, NobodySendsWhatIsWaitedFor) {
  Processes processes(2, [](int rank) {
    meet(1000);
    if (rank == 1) wait_for_the_end();
    if (rank == 0) say(message_when([&] { recv(ones({3}), 1, 4); }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_NE(
      outcome[0].find("recv of rank 0 from rank 1 (float32[3], tag 4, group default) did not finish within 1000 ms: " +
                      who(processes, 1) + " is alive"),
      std::string::npos)
      << outcome[0];
}

TEST(Gone, WithStatusZeroBeforeTheOthersWereDone) {
  Processes processes(3, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 1) return;
    say(message_when([&] { all_reduce(ones({10})); }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 2})
    EXPECT_EQ(outcome[rank],
              "all_reduce #2 failed: " + who(processes, 1) + " exited with status 0 before the others were done");
}

TEST(Gone, WithAnException) {
  Processes processes(3, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 1) throw std::runtime_error("no more data");
    say(message_when([&] { all_reduce(ones({10})); }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[1], "threw: no more data");
  for (const size_t rank : {0, 2})
    EXPECT_EQ(outcome[rank],
              "all_reduce #2 failed: " + who(processes, 1) + " exited with status 1 before the others were done");
}

TEST(Gone, AfterDestroyWhileOthersStillWork) {
  Processes processes(3, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 1) return destroy_process_group();
    say(message_when([&] { all_reduce(ones({10})); }));
    destroy_process_group();
  });
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 2})
    EXPECT_EQ(outcome[rank], "all_reduce #2 failed: " + who(processes, 1) +
                                 " left the group (destroy_process_group) while others were in all_reduce #2");
}

TEST(Gone, WithOperationsStillUnderWay) {
  // exit while the group's thread waits for the other rank: it must not hang.
  const Outcome outcome = run_ranks(2, [](int rank) {
    init_process_group();
    if (rank == 1) pause_for(500);
    if (rank == 0) {
      static Tensor x = ones({100000});
      all_reduce(x, CollectiveOptions::async());
      irecv(x, 1);
    }
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Absent, RanksThatNeverComeAreNamed) {
  // Kept by the test, as the launcher does, so that rank 1 can come first.
  TcpStoreOptions kept;
  kept.is_server = true;
  const TcpStore store(kept);
  const Outcome outcome = run_ranks(2, [&](int rank) {
    setenv("CRESSET_AGENT_STORE", "1", 1);
    setenv("MASTER_PORT", std::to_string(store.port()).c_str(), 1);
    InitOptions options = within(1000);
    options.world_size = 4;
    options.rank = rank;
    if (rank == 0) wait_for_member(store.port(), 1);
    say(message_when([&] { init_process_group(options); }));
  });
  for (const size_t rank : {0, 1})
    EXPECT_EQ(outcome[rank], "init_process_group: ranks 2, 3 did not join within 1000 ms (world size 4)");
}

TEST(Absent, ARankThatComesTwice) {
  Processes processes(2, [](int rank) {
    if (rank == 1) {
      wait_for_member(static_cast<uint16_t>(std::atoi(std::getenv("MASTER_PORT"))), 0);
      setenv("CRESSET_AGENT_STORE", "1", 1);  // else it would try to keep the store as well
    }
    InitOptions options;
    options.rank = 0;
    say(message_when([&] { init_process_group(options); }) + ";");
  });
  ASSERT_TRUE(processes.wait_for(1, ";"));
  processes.signal(0, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[1].find("init_process_group: rank 0 is taken by another process (host "), 0u) << outcome[1];
}

TEST(Absent, WorldSizesThatDifferAreToldToAllAtOnce) {
  Processes processes(3, [](int rank) {
    InitOptions options;  // whose timeout is longer than this test may take
    options.rank = rank;
    options.world_size = rank == 1 ? 4 : 3;
    say(message_when([&] { init_process_group(options); }));
  });
  const Outcome outcome = processes.wait(std::chrono::seconds(20));
  for (size_t rank = 0; rank < 3; rank++) {
    EXPECT_EQ(outcome[rank].find("init_process_group: ranks disagree about the world size: "), 0u) << outcome.summary();
    EXPECT_NE(outcome[rank].find(who(processes, 1) + " has 4"), std::string::npos) << outcome.summary();
    EXPECT_NE(outcome[rank].find(" has 3"), std::string::npos) << outcome.summary();
  }
}

// At once on the one that has the wrong one. For the others it might be a stranger, who must not be able to end their
// meeting by a greeting: they read of it when they have waited in vain.
TEST(Absent, TokensThatDifferAreNamedByAll) {
  struct Case {
    const char *first, *second, *words, *own;
  };
  for (const Case& tokens : {Case{"a", "b", "came with another token", "refused the token"},
                             Case{"a", "", "came without a token", "asks for a token (found none"},
                             Case{"", "b", "came with a token, and this rank has none", "asks for no token"}}) {
    Processes processes(3, [&](int rank) {
      InitOptions options;
      options.token = rank == 1 ? tokens.second : tokens.first;
      options.timeout = std::chrono::milliseconds(rank == 1 ? kPatience : 3000);
      say(message_when([&] { init_process_group(options); }));
    });
    const Outcome outcome = processes.wait(kDeadline);
    for (const size_t rank : {0, 2})
      EXPECT_EQ(outcome[rank], "init_process_group: rank 1 did not join within 3000 ms (world size 3); " +
                                   who(processes, 1) + " " + tokens.words + "; the store is kept by " +
                                   who(processes, 0));
    EXPECT_NE(outcome[1].find(tokens.own), std::string::npos) << outcome[1];
  }
}

TEST(Absent, AFileThatAnEarlierRunLeftIsNamed) {
  const std::string path = "/tmp/cresset_stale_" + std::to_string(getpid());
  const auto meet = [&](int rank, int size) {
    InitOptions options = within(5000);
    options.init_method = "file://" + path;
    options.rank = rank;
    options.world_size = size;
    init_process_group(options);
  };
  Processes killed(2, [&](int rank) {
    meet(rank, 2);
    say("ready;");
    pause_for(60'000);
  });
  for (int rank = 0; rank < 2; rank++) ASSERT_TRUE(killed.wait_for(rank, "ready;"));
  for (int rank = 0; rank < 2; rank++) killed.signal(rank, SIGKILL);
  killed.wait(kDeadline);
  const Outcome outcome = run_ranks(3, [&](int rank) { say(message_when([&] { meet(rank, 3); })); });
  for (const size_t rank : {0, 1})
    EXPECT_NE(outcome[rank].find("two processes have the same rank, or the store file://" + path +
                                 " was used before (remove the file)"),
              std::string::npos)
        << outcome.summary();
  EXPECT_NE(outcome[2].find(path), std::string::npos) << outcome[2];
  std::filesystem::remove_all(path);
  std::filesystem::remove_all(path + ".wills");
}

TEST(Absent, APortThatIsTakenIsNamed) {
  const uint16_t port = cresset::testing::free_port();
  TcpStoreOptions taken;
  taken.port = port;
  taken.is_server = true;
  const Outcome outcome = run_ranks(1, [&](int) {
    const TcpStore first(taken);
    InitOptions options = within(1500);
    options.init_method = "tcp://127.0.0.1:" + std::to_string(port);
    say(message_when([&] { init_process_group(options); }));
  });
  EXPECT_NE(outcome[0].find("port " + std::to_string(port) + " of 127.0.0.1 is in use already"), std::string::npos)
      << outcome[0];
}

TEST(MonitoredBarrier, NamesWhoDidNotCome) {
  Processes processes(4, [](int rank) {
    init_process_group();
    monitored_barrier();
    const bool all = rank == 0;
    if (rank == 1 || rank == 3) wait_until("given up");
    say(message_when([&] { monitored_barrier(nullptr, std::chrono::milliseconds(rank == 0 ? 700 : kPatience), all); }));
    if (rank == 0) tell("given up");
    // The group itself goes on.
    barrier();
    destroy_process_group();
  });
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[0], "monitored_barrier #2 (group default): " + who(processes, 1) +
                            " (alive; last operation: none), " + who(processes, 3) +
                            " (alive; last operation: none) did not come within 700 ms");
  for (const size_t rank : {1, 2, 3}) EXPECT_EQ(outcome[rank], outcome[0]);
}

}  // namespace
}  // namespace cresset::distributed
