// Sends and receives: any number under way at once, and what a rank hears when the other side never comes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

size_t threads_of_this_process() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) count++;
  return count;
}

TEST(PointToPoint, ManyReceivesBeforeAnySendNeedNoThreadEach) {
  const auto outcome = run_ranks(2, [](int rank) {
    constexpr int kMany = 400;
    init_process_group();
    std::vector<Work> works;
    std::vector<Tensor> received;
    barrier();
    const size_t before = threads_of_this_process();
    if (rank == 0) {
      for (int i = 0; i < kMany; i++) {
        received.push_back(zeros({100}));
        works.push_back(irecv(received.back(), 1, i % 7));
      }
      EXPECT_LE(threads_of_this_process(), before + 8);
      barrier();
    } else {
      barrier();
      for (int i = 0; i < kMany; i++) works.push_back(isend(full({100}, static_cast<float>(i)), 0, i % 7));
      EXPECT_LE(threads_of_this_process(), before + 8);
    }
    for (Work& work : works) work.wait();
    // Those with one tag are in order.
    for (int i = 0; rank == 0 && i < kMany; i++) EXPECT_EQ(received[static_cast<size_t>(i)][99].item<float>(), i);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, ManySendsBeforeAnyReceive) {
  const auto outcome = run_ranks(3, [](int rank) {
    constexpr int kMany = 200;
    init_process_group();
    std::vector<Work> works;
    if (rank > 0) {
      for (int i = 0; i < kMany; i++) works.push_back(isend(full({i % 3 * 5000}, static_cast<float>(i)), 0, i));
      barrier();
    } else {
      barrier();
      // In the opposite order; the first half says from whom.
      for (int i = kMany - 1; i >= 0; i--) {
        for (const int from : {2, 1}) {
          Tensor x = zeros({i % 3 * 5000});
          const int found = recv(x, i < kMany / 2 ? std::optional<int>(from) : std::nullopt, i);
          EXPECT_TRUE(i >= kMany / 2 || found == from);
          EXPECT_TRUE(x.numel() == 0 || x[x.numel() - 1].item<float>() == static_cast<float>(i));
        }
      }
    }
    for (Work& work : works) work.wait();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, SmallAndLargeOnesOfOneTagKeepTheirOrder) {
  const auto outcome = run_ranks(2, [](int rank) {
    constexpr int kMany = 600;
    const auto length = [](int i) { return i % 50 == 7 ? 40'000 : i % 9 == 0 ? 0 : 1 + i; };
    init_process_group();
    std::vector<Work> works;
    std::vector<Tensor> received;
    for (int i = 0; i < kMany; i++) {
      if (rank == 0) {
        works.push_back(isend(full({length(i)}, static_cast<float>(i)), 1));
      } else {
        if (i == kMany / 2) pause_for(200);  // so that some of them come before they are asked for
        received.push_back(zeros({length(i)}));
        works.push_back(irecv(received.back(), i % 2 ? std::optional<int>(0) : std::nullopt));
      }
    }
    destroy_process_group();  // which waits for all that is under way
    for (Work& work : works) EXPECT_TRUE(work.is_success());
    for (size_t i = 0; i < received.size(); i++)
      EXPECT_TRUE(received[i].numel() == 0 || received[i].mean().item<float>() == static_cast<float>(i)) << i;
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(PointToPoint, WhatNobodyTakesFillsNeitherSidesMemory) {
  const auto outcome = run_ranks(2, [](int rank) {
    constexpr int kMany = 3000;  // 48 MB in all
    init_process_group();
    Tensor data = arange(4096, kFloat32);
    std::vector<Work> works;
    Tensor other = zeros({1});
    const Work open = rank == 1 ? irecv(other, 0, 9) : Work();  // from now on offers are heard
    barrier();
    const int64_t before = resident_bytes();
    for (int i = 0; i < kMany && rank == 0; i++) works.push_back(isend(data, 1));
    if (rank == 0) pause_for(500);
    barrier();
    [[maybe_unused]] const int64_t grown = resident_bytes() - before;
#ifndef __SANITIZE_ADDRESS__  // which pads and keeps what is freed
    EXPECT_LT(grown, 16 << 20);
#endif
    for (int i = 0; i < kMany && rank == 1; i++) {
      Tensor x = zeros({4096});
      recv(x, 0);
      EXPECT_TRUE((i % 100 > 0 && i < kMany - 1) || equal(x, data)) << i;
    }
    for (Work& work : works) work.wait();
    if (rank == 0) send(ones({1}), 1, 9);
    destroy_process_group();
    EXPECT_TRUE(open.is_success());
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, ADifferenceInAStreamIsToldOnBothSidesAndNothingIsWritten) {
  const auto outcome = run_ranks(2, [](int rank) {
    constexpr int kMany = 100, kOther = 60;
    init_process_group();
    std::vector<Tensor> received;
    // Told by the message's own wait, or by the next call where the other side was quicker.
    say(message_when([&] {
      std::vector<Work> works;
      for (int i = 0; i < kMany; i++) {
        received.push_back(zeros({8}, rank == 1 && i == kOther ? kInt32 : kFloat32));
        works.push_back(rank == 0 ? isend(ones({8}), 1, 2) : irecv(received.back(), 0, 2));
      }
      works[kOther].wait();
    }));
    EXPECT_EQ(received[kOther].sum().item<int64_t>(), 0);
    EXPECT_EQ(received[kOther - 1].sum().item<float>(), rank == 1 ? 8 : 0);
  });
  for (const size_t rank : {0, 1})
    EXPECT_EQ(outcome[rank],
              "recv of rank 1 from rank 0 (tag 2, group default): rank 0 sent float32[8], rank 1 expects int32[8]");
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, TheRecorderHasEveryMessageOfAStream) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    std::vector<Work> works;
    for (int i = 0; i < 50; i++) works.push_back(rank == 0 ? isend(ones({4}), 1) : irecv(zeros({4}), 0));
    for (Work& work : works) work.wait();
    const auto entries = default_group()->recorder().entries();
    ASSERT_EQ(entries.size(), 50u);
    for (size_t i = 0; i < entries.size(); i++) {
      EXPECT_EQ(entries[i].op, rank == 0 ? "send" : "recv");
      EXPECT_EQ(entries[i].sequence, i + 1);
      EXPECT_EQ(entries[i].state, FlightRecorder::State::done);
      EXPECT_LE(entries[i].started, entries[i].ended);
    }
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, EverybodyWithEverybodyInAnyOrder) {
  const auto outcome = run_ranks(4, [](int rank) {
    constexpr int kMany = 60;
    init_process_group();
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<std::function<void()>> calls;
    std::vector<Work> works;
    std::vector<std::pair<Tensor, float>> received;
    for (int peer = 0; peer < 4; peer++) {
      for (int i = 0; i < kMany && peer != rank; i++) {
        const int64_t length = i % 10 == 0 ? 100'000 : 10 + i;
        calls.push_back([&, peer, i, length] {
          works.push_back(isend(full({length}, static_cast<float>(1000 * rank + i)), peer, i));
        });
        calls.push_back([&, peer, i, length] {
          received.emplace_back(zeros({length}), static_cast<float>(1000 * peer + i));
          works.push_back(irecv(received.back().first, peer, i));
        });
      }
    }
    std::shuffle(calls.begin(), calls.end(), random);
    for (const auto& call : calls) call();
    // Collectives go their own way meanwhile.
    Tensor one = ones({1});
    all_reduce(one);
    for (Work& work : works) work.wait();
    for (auto& [tensor, value] : received) {
      EXPECT_EQ(tensor.min().item<float>(), value);
      EXPECT_EQ(tensor.max().item<float>(), value);
    }
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, FromAnyRankFailsAtOnceWhenAllOthersHaveLeft) {
  Processes processes(3, [](int rank) {
    init_process_group();  // whose timeout is longer than this test may take
    barrier();
    if (rank == 1) return destroy_process_group();
    if (rank == 2) return;
    say(message_when([] { recv(ones({1})); }));
  });
  const Outcome outcome = processes.wait(std::chrono::seconds(20));
  EXPECT_EQ(outcome[0], "recv from any rank (float32[1], tag 0, group default) failed: " + who(processes, 1) +
                            " left the group (destroy_process_group), " + who(processes, 2) +
                            " exited with status 0 before the others were done");
}

TEST(PointToPoint, FromAnyRankGoesOnWhileOneIsLeft) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    Tensor x = zeros({1});
    if (rank == 0) {
      // The one that leaves has sent before.
      EXPECT_EQ(recv(x), 2);
      Work any = irecv(x);
      EXPECT_FALSE(any.wait(std::chrono::milliseconds(300)));
      tell("waited");
      any.wait();
      EXPECT_EQ(any.source_rank(), 1);
      EXPECT_EQ(x.item<float>(), 7);
      EXPECT_EQ(recv(x), 1);
    }
    if (rank == 2) send(x, 0);
    if (rank == 1) {
      wait_until("waited");
      send(full({1}, 7.0f), 0);
      send(full({1}, 8.0f), 0);
    }
    if (rank == 2) return;
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// The receipt and the end of the connection arrive together, and the first counts.
TEST(PointToPoint, WhatWasTakenIsSentThoughTheReceiverLeavesAtOnce) {
  const auto outcome = run_ranks(3, [](int rank) {
    for (int round = 0; round < 20; round++) {
      init_process_group();
      Tensor x = zeros({100});
      if (rank == 0) {
        std::vector<Work> works;
        for (int i = 0; i < 6; i++) works.push_back(isend(ones({100}), 1 + i % 2));
        for (Work& work : works) work.wait();
      } else {
        for (int i = 0; i < 3; i++) recv(x, 0);
      }
      destroy_process_group();
    }
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// A connection that is closed loses what the other side has not read: the store has the last receipts as well.
TEST(PointToPoint, AReceiptThatWasLostWithTheConnectionIsReadInTheStore) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    if (rank == 1) {
      recv(zeros({4}), 0);
      wait_until("the receipt was lost");
      return destroy_process_group();
    }
    TcpStoreOptions options;
    options.port = static_cast<uint16_t>(std::atoi(std::getenv("MASTER_PORT")));
    TcpStore store(options);
    const std::string taken = "0/took/default/1/0";
    send(ones({4}), 1);
    Work second = isend(ones({4}), 1, 7);
    EXPECT_FALSE(second.wait(std::chrono::milliseconds(100)));
    store.set(taken, "2 ");  // as if rank 1 had taken the second and left
    EXPECT_TRUE(second.wait(kDeadline));
    tell("the receipt was lost");
    while (store.get(taken) != "1 ") pause_for(5);  // as it does when it leaves
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, WithOneWhoHasLeftFailsAtOnce) {
  Processes processes(3, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 0) return destroy_process_group();  // it keeps the store, and its connections, a while longer
    const auto start = std::chrono::steady_clock::now();
    say(message_when([&] { rank == 1 ? void(recv(ones({1}), 0, 4)) : send(ones({1}), 0, 4); }));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // of the 5 minutes it has
  });
  const Outcome outcome = processes.wait(kDeadline);
  const std::string cause =
      " (float32[1], tag 4, group default) failed: " + who(processes, 0) + " left the group (destroy_process_group)";
  EXPECT_EQ(outcome[1], "recv from rank 0" + cause);
  EXPECT_EQ(outcome[2], "send to rank 0" + cause);
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, AReceiveThatWaitsInVainListsWhatWasSentInstead) {
  Processes processes(3, [](int rank) {
    meet(rank == 0 ? 1500 : kPatience);
    barrier();
    std::vector<Work> works;
    for (int i = 0; i < 2 && rank == 1; i++) works.push_back(isend(ones({3}, kInt64), 0, 5 + i));
    if (rank == 0) say(message_when([] { recv(ones({3}, kInt64), 1, 4); }));
    wait_for_the_end();
  });
  const Outcome outcome = processes.wait(kDeadline);
  const std::string& text = outcome[0];
  EXPECT_EQ(text.find("recv of rank 0 from rank 1 (int64[3], tag 4, group default) did not finish within 1500 ms: " +
                      who(processes, 1) + " is alive"),
            0u)
      << text;
  EXPECT_NE(text.find("; sent and not received: int64[3] with tag 5 from rank 1, int64[3] with tag 6 from rank 1"),
            std::string::npos)
      << text;
}

TEST(PointToPoint, AReceiveThatWaitsInVainSaysThatNothingWasSent) {
  const auto outcome = run_ranks(2, [](int rank) {
    meet(800);
    if (rank == 0) say(message_when([] { recv(ones({1})); }));
    wait_for_the_end();
  });
  EXPECT_EQ(outcome[0],
            "recv of rank 0 from any rank (float32[1], tag 0, group default) did not finish within 800 ms: nothing was "
            "sent");
}

// All ranks read the one sentence, so it says whose it is, and the tags of both sides.
TEST(PointToPoint, ASendThatWaitsInVainIsToldToAllWithWhatIsWaitedForInstead) {
  Processes processes(3, [](int rank) {
    meet(rank == 0 ? 1500 : kPatience);
    say(message_when([&] {
      Work other;
      if (rank == 1) {
        other = irecv(ones({10}), 0, 4);
        tell("posted");
      }
      wait_until("posted");
      if (rank == 0) send(ones({10}), 1, 5);
      if (rank == 1) other.wait();
      if (rank == 2) barrier();
    }));
  });
  const Outcome outcome = processes.wait(kDeadline);
  for (size_t rank = 0; rank < 3; rank++) {
    const std::string& text = outcome[rank];
    EXPECT_EQ(text.find("send of rank 0 to rank 1 (float32[10], tag 5, group default) did not finish within 1500 ms: " +
                        who(processes, 1) + " is alive"),
              0u)
        << text;
    EXPECT_TRUE(text.ends_with("; rank 1 waits for float32[10] with tag 4")) << text;
  }
}

// A warning long before the timeout; the words are the same on both, whoever came first.
TEST(PointToPoint, TwoThatOnlySendToEachOtherAreToldSo) {
  const auto outcome = run_ranks(2, [](int rank) {
    ::testing::internal::CaptureStderr();
    meet(2000);
    if (rank == 0) wait_until("the other sends");
    if (rank == 1) tell("the other sends");
    const Work before = isend(ones({2}), 1 - rank, 9);
    const std::string error = message_when([&] { send(ones({10}), 1 - rank, 5 + rank); });
    say(error + "\n" + ::testing::internal::GetCapturedStderr());
  });
  const std::string circle =
      "rank 0 waits in send of float32[2] with tag 9, float32[10] with tag 5 to rank 1, rank 1 waits in send of "
      "float32[2] with tag 9, float32[10] with tag 6 to rank 0, and neither has posted a receive (one of the two must "
      "receive first, or use isend)";
  for (const int rank : {0, 1})
    EXPECT_EQ(outcome[static_cast<size_t>(rank)],
              "send between ranks 0 and 1 (group default) did not finish within 2000 ms: " + circle + "\ncresset: " +
                  circle + "; this ends 2000 ms after it began (rank " + std::to_string(rank) + ", group default)\n");
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, SendsThatNobodyWaitsInAreNoReasonForAWarning) {
  const auto outcome = run_ranks(2, [](int rank) {
    ::testing::internal::CaptureStderr();
    meet(2400);
    // One waits in its send, the other is about to receive it.
    Work own = isend(ones({10}), 1 - rank, 5);
    if (rank == 0) own.wait();
    pause_for(rank == 1 ? 1400 : 0);
    recv(ones({10}), 1 - rank, 5);
    own.wait();
    say(::testing::internal::GetCapturedStderr());
    destroy_process_group();
  });
  for (const size_t rank : {0, 1}) EXPECT_EQ(outcome[rank], "");
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, WhatIsWaitedForInsteadIsOfNow) {
  Processes processes(2, [](int rank) {
    meet(rank == 0 ? 1500 : kPatience);
    barrier();
    Work other;
    if (rank == 0) {
      other = isend(ones({10}), 1, 5);
      pause_for(300);
      send(ones({2}), 1, 4);  // which takes away what was told
      say(message_when([&] { other.wait(); }));
    } else {
      recv(ones({2}), 0, 4);
      say(message_when([] { barrier(); }));
    }
  });
  const Outcome outcome = processes.wait(kDeadline);
  for (const size_t rank : {0, 1}) {
    const std::string& text = outcome[rank];
    EXPECT_EQ(text.find("send of rank 0 to rank 1 (float32[10], tag 5, group default) did not finish within 1500 ms"),
              0u)
        << text;
    EXPECT_EQ(text.find("waits for"), std::string::npos) << text;
  }
}

TEST(PointToPoint, WhatWasWaitedForOnceIsForgottenWhenAllIsReceived) {
  Processes processes(2, [](int rank) {
    meet(rank == 0 ? 1500 : kPatience);
    if (rank == 0) {
      Work other = isend(ones({10}), 1, 5);
      pause_for(300);
      send(ones({2}), 1, 4);
      other.wait();
      pause_for(600);
      say(message_when([] { send(ones({10}), 1, 6); }));
    } else {
      recv(ones({2}), 0, 4);  // rank 0 is told that this waits
      recv(ones({10}), 0, 5);
      pause_for(400);  // so that what it told before is taken back
      raise(SIGSTOP);  // so that it does not hear of the third
    }
  });
  ASSERT_TRUE(processes.wait_for(0, "did not finish"));
  processes.signal(1, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[0].find("send of rank 0 to rank 1 (float32[10], tag 6, group default) did not finish within"), 0u)
      << outcome[0];
  EXPECT_EQ(outcome[0].find("waits for"), std::string::npos) << outcome[0];
}

TEST(PointToPoint, OutstandingOnesFailWithTheGroup) {
  Processes processes(3, [](int rank) {
    init_process_group();
    std::vector<Work> works;
    for (int i = 0; i < 50; i++) works.push_back(rank == 0 ? irecv(zeros({10}), 1, i) : isend(ones({10}), 0, 100 + i));
    say("ready;");
    if (rank == 2) pause_for(60'000);
    for (Work& work : works) {
      const std::string error = message_when([&] { work.wait(); });
      if (error.find(" lost its connection") == std::string::npos) say(error);
    }
    say("done");
  });
  for (int rank = 0; rank < 3; rank++) ASSERT_TRUE(processes.wait_for(rank, "ready;"));
  processes.signal(2, SIGKILL);
  const Outcome outcome = processes.wait(kDeadline);
  EXPECT_EQ(outcome[0], "ready;done");
  EXPECT_EQ(outcome[1], "ready;done");
}

}  // namespace
}  // namespace cresset::distributed
