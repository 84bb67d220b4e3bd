// Wrong use: arguments are refused before anything is sent; ranks that disagree all get the same sentence, with both
// sides. Never an abort, a hang or a wrong number.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using namespace cresset::testing;
using cresset::test::message_when;

using Bodies = std::vector<std::function<void()>>;

// Runs one body per rank; all must fail with this sentence.
void expect_disagreement(const Bodies& bodies, const std::string& sentence) {
  const auto outcome = run_ranks(static_cast<int>(bodies.size()), [&](int rank) {
    init_process_group();
    barrier();
    say(message_when(bodies[static_cast<size_t>(rank)]));
    // The group is dead, and says why again.
    EXPECT_EQ(message_when([] { barrier(); }), sentence);
    EXPECT_NE(default_group()->error(), nullptr);
    destroy_process_group();
  });
  for (size_t rank = 0; rank < bodies.size(); rank++) EXPECT_EQ(outcome[rank], sentence) << "on rank " << rank;
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

void add_up(const Tensor& tensor, const CollectiveOptions& options = {}) { all_reduce(tensor, options); }

TEST(Mismatch, OfTheDtype) {
  expect_disagreement(
      {[] { add_up(ones({1000})); }, [] { add_up(ones({1000}, kFloat64)); }, [] { add_up(ones({1000})); }},
      "all_reduce #2 (group default): ranks disagree: ranks 0, 2 called all_reduce(SUM) of "
      "float32[1000], rank 1 called all_reduce(SUM) of float64[1000]");
}

TEST(Mismatch, OfTheSize) {
  expect_disagreement({[] { add_up(ones({100000})); }, [] { add_up(ones({99999})); }},
                      "all_reduce #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of "
                      "float32[100000], rank 1 called all_reduce(SUM) of float32[99999]");
}

TEST(Mismatch, OfNothingAndSomething) {
  expect_disagreement({[] { add_up(ones({0})); }, [] { add_up(ones({5})); }},
                      "all_reduce #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of float32[0], "
                      "rank 1 called all_reduce(SUM) of float32[5]");
}

TEST(Mismatch, OfTheReduction) {
  expect_disagreement({[] { add_up(ones({10})); }, [] { add_up(ones({10}), ReduceOp::MAX); }},
                      "all_reduce #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of float32[10], "
                      "rank 1 called all_reduce(MAX) of float32[10]");
}

TEST(Mismatch, OfTheOperation) {
  expect_disagreement({[] { add_up(ones({10})); }, [] { barrier(); }, [] { add_up(ones({10})); }},
                      "operation #2 (group default): ranks disagree: ranks 0, 2 called all_reduce(SUM) of "
                      "float32[10], rank 1 called barrier");
}

TEST(Mismatch, OfTheRoot) {
  expect_disagreement({[] { broadcast(ones({10}), 0); }, [] { broadcast(ones({10}), 1); }},
                      "broadcast #2 (group default): ranks disagree: rank 0 called broadcast from rank 0 of "
                      "float32[10], rank 1 called broadcast from rank 1 of float32[10]");
}

// The third rank is done with what it agreed about, and its connections close before anybody has waited long.
TEST(Mismatch, OfTheRootWithOneWhoWasDoneAndHasLeft) {
  struct Case {
    std::function<void(int root)> body;
    std::string op, words;
  };
  const Case cases[] = {
      {[](int root) { broadcast(ones({10}), root); }, "broadcast", "broadcast from rank "},
      {[](int root) { reduce(ones({10}), root); }, "reduce", "reduce(SUM) to rank "},
      {[](int root) {
         gather(ones({10}), get_rank() == root ? Tensors{ones({10}), ones({10}), ones({10})} : Tensors{}, root);
       },
       "gather", "gather to rank "}};
  for (const Case& tried : cases) {
    for (const bool destroys : {true, false}) {
      const auto outcome = run_ranks(3, [&](int rank) {
        init_process_group();
        barrier();
        say(message_when([&] { tried.body(rank == 1 ? 1 : 0); }));
        if (destroys) destroy_process_group();
      });
      const std::string sentence = tried.op + " #2 (group default): ranks disagree: ranks 0, 2 called " + tried.words +
                                   "0 of float32[10], rank 1 called " + tried.words + "1 of float32[10]";
      EXPECT_EQ(outcome[0], sentence);
      EXPECT_EQ(outcome[1], sentence);
      EXPECT_EQ(outcome[2], "no error");
    }
  }
}

TEST(Mismatch, WithOneWhoLeftLongBeforeTheOtherCame) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(700));
    say(message_when([&] { broadcast(ones({10}), rank == 1 ? 1 : 0); }));
    destroy_process_group();
  });
  for (const size_t rank : {0, 1})
    EXPECT_EQ(outcome[rank],
              "broadcast #2 (group default): ranks disagree: ranks 0, 2 called broadcast from rank 0 of float32[10], "
              "rank 1 called broadcast from rank 1 of float32[10]");
}

TEST(Mismatch, WithOneWhoHasDestroyedOnlyThisGroup) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    const Group group = new_group({0, 1, 2});
    say(message_when([&] { broadcast(ones({10}), rank == 1 ? 1 : 0, group); }));
    destroy_process_group(group);
    barrier();  // the world goes on
    destroy_process_group();
  });
  for (const size_t rank : {0, 1})
    EXPECT_EQ(outcome[rank],
              "broadcast #1 (group 1): ranks disagree: ranks 0, 2 called broadcast from rank 0 of float32[10], rank 1 "
              "called broadcast from rank 1 of float32[10]");
  EXPECT_EQ(outcome[2], "no error");
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Mismatch, ABrokenConnectionIsToldWithoutTheTransportsOwnFiles) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    const Group group = new_group({0, 1});
    barrier();
    if (rank == 1) destroy_process_group(group);
    if (rank == 0) say(message_when([&] { all_reduce(ones({10}), group); }));
    barrier();
    destroy_process_group();
  });
  EXPECT_EQ(outcome[0].find("all_reduce #1 failed: the connection to rank 1 (host "), 0u) << outcome[0];
  EXPECT_EQ(outcome[0].find("gloo/"), std::string::npos) << outcome[0];
}

TEST(Mismatch, OfTheOrder) {
  const auto first = [] { add_up(ones({10})); };
  const auto second = [] { broadcast(ones({20}), 0); };
  expect_disagreement(
      {[=] { first(), second(); }, [=] { second(), first(); }},
      "operation #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of float32[10], rank 1 called "
      "broadcast from rank 0 of float32[20]");
}

TEST(Mismatch, OfThePartsOfAnAllToAll) {
  const auto exchange = [](int64_t to_first, int64_t to_second, int64_t from_first, int64_t from_second) {
    return [=] { all_to_all({ones({from_first}), ones({from_second})}, {ones({to_first}), ones({to_second})}); };
  };
  expect_disagreement({exchange(1, 3, 1, 2), exchange(2, 1, 4, 1)},
                      "all_to_all #2 (group default): rank 0 sends 3 elements to rank 1, which expects 4");
  expect_disagreement({exchange(1, 0, 1, 2), exchange(2, 1, 4, 1)},
                      "all_to_all #2 (group default): rank 0 sends 0 elements to rank 1, which expects 4");
}

TEST(Mismatch, OfThePlan) {
  expect_disagreement(
      {[] { default_group()->follow_plan(5), add_up(ones({10})); },
       [] { default_group()->follow_plan(6), add_up(ones({10})); }},
      "all_reduce #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of float32[10] (plan 5), rank 1 "
      "called all_reduce(SUM) of float32[10] (plan 6)");
}

TEST(Mismatch, IsFoundInAsynchronousOperationsToo) {
  expect_disagreement(
      {[] { all_reduce(ones({10}), CollectiveOptions::async()).wait(); }, [] { add_up(ones({11})); }},
      "all_reduce #2 (group default): ranks disagree: rank 0 called all_reduce(SUM) of float32[10], rank 1 called "
      "all_reduce(SUM) of float32[11]");
}

TEST(Mismatch, OfASendAndItsReceive) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    say(message_when([&] {
      if (rank == 0) send(ones({10}), 1, 3);
      if (rank == 1) recv(ones({10}, kFloat64), 0, 3);
    }));
    destroy_process_group();
  });
  for (size_t rank = 0; rank < 2; rank++)
    EXPECT_EQ(outcome[rank],
              "recv of rank 1 from rank 0 (tag 3, group default): rank 0 sent float32[10], rank 1 expects float64[10]");
}

// Every rank makes its groups, member or not; all must fail with this sentence, and the world goes on.
void expect_disagreement_about_groups(const std::vector<std::vector<std::vector<int>>>& groups_of,
                                      const std::string& sentence) {
  const auto outcome = run_ranks(static_cast<int>(groups_of.size()), [&](int rank) {
    init_process_group();
    say(message_when([&] {
      for (const auto& ranks : groups_of[static_cast<size_t>(rank)]) new_group(ranks);
    }));
    barrier();
    destroy_process_group();
  });
  for (size_t rank = 0; rank < groups_of.size(); rank++) EXPECT_EQ(outcome[rank], sentence) << "on rank " << rank;
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Mismatch, OfTheRanksOfANewGroup) {
  expect_disagreement_about_groups(
      {{{0, 1, 2}}, {{0, 1, 2}}, {{1, 2}}},
      "new_group: ranks disagree about group 1: ranks 0, 1 gave ranks 0, 1, 2; rank 2 gave ranks 1, 2");
}

TEST(Mismatch, OfANewGroupWithOneWhoMeansAnother) {
  expect_disagreement_about_groups(
      {{{0, 1}}, {{1, 2}}, {{1, 2}}},
      "new_group: ranks disagree about group 1: rank 0 gave ranks 0, 1; ranks 1, 2 gave ranks 1, 2");
}

TEST(Mismatch, OfNewGroupsIsToldToThoseWhoAreNoMembersOfAny) {
  expect_disagreement_about_groups(
      {{{0, 1}}, {{0, 1}}, {{0, 1}}, {{0, 2}}},
      "new_group: ranks disagree about group 1: ranks 0, 1, 2 gave ranks 0, 1; rank 3 gave ranks 0, 2");
}

TEST(Mismatch, OfTheOrderOfNewGroups) {
  expect_disagreement_about_groups(
      {{{0, 1}, {2, 3}}, {{0, 1}, {2, 3}}, {{2, 3}, {0, 1}}, {{2, 3}, {0, 1}}},
      "new_group: ranks disagree about group 1: ranks 0, 1 gave ranks 0, 1; ranks 2, 3 gave ranks 2, 3");
}

TEST(Mismatch, WithARankThatMakesNoGroupIsToldWhenItIsLate) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    if (rank != 2) say(message_when([] { new_group({0, 1}, std::chrono::milliseconds(1000)); }));
    if (rank != 2) tell("given up by " + std::to_string(rank));
    if (rank == 2)
      for (const char* other : {"0", "1"}) wait_until(std::string("given up by ") + other);
    destroy_process_group();
  });
  for (const size_t rank : {0, 1}) {
    EXPECT_EQ(outcome[rank].find("new_group: rank 2 (host "), 0u) << outcome.summary();
    EXPECT_NE(
        outcome[rank].find("(alive; last operation: none) did not call it for group 1 (ranks 0, 1) within 1000 ms"),
        std::string::npos)
        << outcome.summary();
  }
}

TEST(Mismatch, WithARankThatReceivesInsteadOfMakingAGroupSaysSo) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    barrier();
    if (rank == 0) {
      say(message_when([] { new_group({0, 1}, std::chrono::milliseconds(1500)); }));
      send(ones({1}), 1);
    } else {
      recv(zeros({1}), 0);
    }
    destroy_process_group();
  });
  EXPECT_NE(outcome[0].find("(alive; last operation: recv #1) did not call it for group 1 (ranks 0, 1) within 1500 ms"),
            std::string::npos)
      << outcome.summary();
}

TEST(Mismatch, OfTheBackendOfANewGroup) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    EXPECT_EQ(message_when([] {
                new_group({0, 1}, {}, "nccl");
              }),
              "new_group: found backend nccl (expected gloo or mpi)");
    const Group same = new_group({0, 1}, {}, "gloo");
    EXPECT_EQ(get_backend(same), "gloo");
    say(message_when([&] { new_group({0, 1}, {}, rank == 0 ? "" : "mpi"); }));
    destroy_process_group();
  });
  for (const size_t rank : {0, 1})
    EXPECT_EQ(outcome[rank],
              "new_group: ranks disagree about group 2: rank 0 gave ranks 0, 1; rank 1 gave ranks 0, 1 over mpi");
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Mismatch, NamesWhatTheUserCalled) {
  expect_disagreement({[] { all_gather_object("x"); }, [] { barrier(); }},
                      "operation #2 (group default): ranks disagree: rank 0 called all_gather_object, rank 1 called "
                      "barrier");
  // It begins with the lengths, which must not be taken for somebody's number.
  expect_disagreement({[] { all_gather_object("x"); },
                       [] {
                         all_gather({zeros({1}, kInt64), zeros({1}, kInt64)}, zeros({1}, kInt64));
                       }},
                      "operation #2 (group default): ranks disagree: rank 0 called all_gather_object, rank 1 called "
                      "all_gather of int64[1]");
  expect_disagreement({[] {
                         std::vector<std::string> list{"a", "b"};
                         broadcast_object_list(list);
                       },
                       [] {
                         std::vector<std::string> list{"a"};
                         broadcast_object_list(list);
                       }},
                      "broadcast_object_list #2 (group default): ranks disagree: rank 0 called broadcast_object_list "
                      "from rank 0 of 2 objects, rank 1 called broadcast_object_list from rank 0 of 1 objects");
  expect_disagreement({[] {
                         all_reduce_coalesced({ones({2}), ones({3})});
                       },
                       [] { all_reduce_coalesced({ones({2})}); }},
                      "all_reduce_coalesced #2 (group default): ranks disagree: rank 0 called "
                      "all_reduce_coalesced(SUM) of float32[5], rank 1 called all_reduce_coalesced(SUM) of float32[2]");
  expect_disagreement({[] {
                         reduce_metrics({{"loss", {}}});
                       },
                       [] { barrier(); }},
                      "operation #2 (group default): ranks disagree: rank 0 called reduce_metrics(SUM) of float64[4], "
                      "rank 1 called barrier");
}

// Without the launcher rank 0 keeps the store. Whoever hears of the error ends at once, without a word: the others must
// have read it by then.
TEST(Mismatch, ReachesAllBeforeTheStoreIsGone) {
  const char* more = std::getenv("CRESSET_TEST_LONG");
  for (int round = 0; round < (more && *more ? 100 : 12) && !::testing::Test::HasFailure(); round++) {
    const auto outcome = run_ranks(3, [&](int rank) {
      init_process_group();
      barrier();
      const int odd = round % 3;
      say(message_when([&] {
        if (round % 4 == 0) all_reduce(ones({rank == odd ? 10 : 11}));
        if (round % 4 == 1) rank == odd ? barrier() : all_reduce(ones({10}));
        if (round % 4 == 2) new_group(rank == odd ? std::vector<int>{0, 1} : std::vector<int>{0, 2});
        // A send on rank 0 is not waited for in the group's own thread.
        if (round % 4 == 3 && rank < 2) rank == 0 ? isend(ones({10}), 1).wait() : void(recv(ones({9}), 0));
        if (round % 4 == 3) barrier();
      }));
      _exit(0);
    });
    for (size_t rank = 0; rank < 3; rank++)
      EXPECT_TRUE(outcome[rank].find("ranks disagree") != std::string::npos ||
                  outcome[rank].find("rank 0 sent float32[10], rank 1 expects float32[9]") != std::string::npos)
          << "round " << round << ", rank " << rank << ":\n"
          << outcome.summary();
  }
}

TEST(Arguments, AreRefusedBeforeAnythingIsSent) {
  const auto outcome = run_ranks(2, [](int rank) {
    EXPECT_EQ(message_when([] { barrier(); }), "barrier: there is no process group (call init_process_group first)");
    init_process_group();
    const Tensor x = ones({4}), whole = ones({4}, kInt64);
    EXPECT_EQ(message_when([] { all_reduce(Tensor()); }),
              "all_reduce: tensor is an undefined tensor (expected a defined one)");
    EXPECT_EQ(message_when([] { all_reduce(empty({2}, TensorOptions(kMeta))); }),
              "all_reduce: found a tensor on meta (the gloo backend exchanges CPU tensors)");
    EXPECT_EQ(message_when([&] { all_reduce(whole, ReduceOp::AVG); }),
              "all_reduce: AVG of int64 (expected floating-point or complex numbers)");
    EXPECT_EQ(message_when([&] { all_reduce(x, ReduceOp::BXOR); }),
              "all_reduce: BXOR of float32 (expected integers or bool)");
    EXPECT_EQ(message_when([&] { all_reduce(ones({2}, kComplexFloat), ReduceOp::MAX); }),
              "all_reduce: MAX of complex64 (expected numbers that have an order)");
    EXPECT_EQ(message_when([&] {
                all_reduce_coalesced({x, whole});
              }),
              "all_reduce_coalesced: found a tensor of int64 after one of float32 (expected one dtype)");
    EXPECT_EQ(message_when([] { all_reduce_coalesced({}); }),
              "all_reduce_coalesced: found no tensors (expected at least one)");
    EXPECT_EQ(message_when([&] { all_reduce(ones({1}).expand({4})); }),
              "all_reduce: tensor is expanded: its elements share memory (expected one that can be written to)");
    EXPECT_EQ(message_when([&] { broadcast(x, 2); }), "broadcast: rank 2 is not a member of group default");
    EXPECT_EQ(message_when([&] { all_gather({x}, x); }), "all_gather: found 1 outputs (expected 2)");
    EXPECT_EQ(message_when([&] {
                all_gather({x, ones({3})}, x);
              }),
              "all_gather: outputs[1] has 3 elements (expected 4)");
    EXPECT_EQ(message_when([&] { all_gather({whole, x}, x); }), "all_gather: outputs[0] is int64 (expected float32)");
    EXPECT_EQ(message_when([&] {
                gather(x, rank == 0 ? Tensors() : Tensors{x, x}, 0);
              }),
              rank == 0 ? "gather: found 0 outputs (expected 2)"
                        : "gather: found 2 outputs on a rank that is not the destination (expected 0)");
    EXPECT_EQ(message_when([&] { all_gather_into_tensor(ones({7}), x); }),
              "all_gather_into_tensor: the output has 7 elements (expected a multiple of the group's 2 ranks)");
    EXPECT_EQ(message_when([&] {
                all_to_all_single(ones({4}), x, {1, 2}, {2, 2});
              }),
              "all_to_all_single: the split sizes of the output add up to 3 (expected 4)");
    EXPECT_EQ(message_when([&] { send(x, rank); }),
              "send: found rank " + std::to_string(rank) + " (expected another rank of the group, 0 to 1)");
    EXPECT_EQ(message_when([&] { recv(x, 1 - rank, -1); }), "recv: found tag -1 (expected 0 or more)");
    EXPECT_EQ(message_when([] { new_group({0, 0}); }), "new_group: found rank 0 twice");
    EXPECT_EQ(message_when([] { new_group({0, 5}); }), "new_group: found rank 5 (expected 0 to 1)");
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: called twice (destroy_process_group comes first)");
    // After all that the group is as good as new.
    Tensor y = ones({4});
    all_reduce(y);
    EXPECT_EQ(y[0].item<float>(), 2);
    destroy_process_group();
    EXPECT_EQ(message_when([] { init_process_group("smoke"); }),
              "init_process_group: found backend smoke (expected gloo or mpi)");
    InitOptions options;
    options.init_method = "http://x";
    EXPECT_EQ(message_when([&] { init_process_group(options); }),
              "init_process_group: found init_method http://x (expected env://, tcp://HOST:PORT or file:///PATH)");
    options.init_method = "tcp://localhost:99999";
    EXPECT_EQ(message_when([&] { init_process_group(options); }),
              "init_process_group: found tcp://localhost:99999 (expected tcp://HOST:PORT with a port from 1 to 65535)");
    setenv("RANK", "two", 1);
    EXPECT_EQ(message_when([] { init_process_group(); }), "RANK: found \"two\" (expected a whole number)");
    unsetenv("RANK");
    EXPECT_EQ(message_when([] { init_process_group(); }),
              "init_process_group: RANK is not known: start the program with cresset-run (or mpirun, srun), set the "
              "environment variable RANK, or give it in InitOptions");
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
