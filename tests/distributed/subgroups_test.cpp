// Who is in a group, many groups at once, batches of messages and byte strings between two ranks.
#include "cresset/distributed/subgroups.h"

#include <gtest/gtest.h>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using cresset::test::message_when;
using testing::run_ranks;

TEST(Subgroups, MembersAreToldInAndOutsideOfAGroup) {
  const auto outcome = run_ranks(3, [](int) {
    init_process_group();
    const Group pair = new_group({2, 0});
    EXPECT_EQ(get_process_group_ranks(), (std::vector<int>{0, 1, 2}));
    const std::vector<int> members = get_process_group_ranks(pair);
    EXPECT_EQ(std::set<int>(members.begin(), members.end()), (std::set<int>{0, 2}));
    for (int i = 0; i < 2; i++) {
      EXPECT_EQ(get_global_rank(pair, i), members[static_cast<size_t>(i)]);
      EXPECT_EQ(get_group_rank(pair, members[static_cast<size_t>(i)]), i);
    }
    EXPECT_EQ(message_when([&] { get_global_rank(pair, 2); }), "get_global_rank: found group rank 2 (expected 0 to 1)");
    EXPECT_NE(message_when([&] {
                get_group_rank(pair, 1);
              }).find("get_group_rank: rank 1 is not in the group, whose ranks are ["),
              std::string::npos);
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Subgroups, EachRankAddsUpWithinItsOwn) {
  const auto outcome = run_ranks(4, [](int rank) {
    init_process_group();
    const Subgroups halves = new_subgroups(2);
    EXPECT_EQ(halves.all.size(), 2U);
    const Tensor x = full({1}, rank, kFloat);
    all_reduce(x, {halves.own});
    EXPECT_EQ(x.item<float>(), rank < 2 ? 1.F : 5.F);
    const Subgroups crossed = new_subgroups_by_enumeration({{0, 2}, {1}});
    EXPECT_EQ(crossed.own == nullptr, rank == 3);
    EXPECT_EQ(get_rank(crossed.all[0]), rank == 0 ? 0 : rank == 2 ? 1 : -1);
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Subgroups, SizesAndListsThatMakeNoSenseAreRefusedEverywhere) {
  const auto outcome = run_ranks(2, [](int) {
    init_process_group();
    EXPECT_EQ(message_when([] { new_subgroups(3); }),
              "new_subgroups: found groups of 3 (expected a size that divides the world's 2)");
    EXPECT_EQ(message_when([] {
                new_subgroups_by_enumeration({{0, 1}, {1}});
              }),
              "new_subgroups_by_enumeration: rank 1 is in two groups (expected one at most)");
    EXPECT_EQ(message_when([] {
                new_subgroups_by_enumeration({{0}, {}});
              }),
              "new_subgroups_by_enumeration: found a group without ranks");
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Messages, ABatchAroundARingEndsHoweverItIsListed) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    const Tensor given = full({5}, rank, kFloat), taken = zeros({5});
    const P2POp to{P2POp::Kind::send, given, (rank + 1) % 3}, from{P2POp::Kind::recv, taken, (rank + 2) % 3};
    for (Work& work : batch_isend_irecv(rank == 1 ? std::vector{to, from} : std::vector{from, to})) work.wait();
    EXPECT_EQ(taken[4].item<float>(), static_cast<float>((rank + 2) % 3));
    EXPECT_EQ(message_when([] { batch_isend_irecv({}); }),
              "batch_isend_irecv: found no operations (expected one or more)");
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Messages, ObjectsArriveWhole) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    const std::vector<std::string> sent = {"one", "", std::string("a\0b", 3), std::string(100'000, 'x')};
    if (rank == 0) {
      send_object_list(sent, 1);
      send_object_list({"", ""}, 1);
    } else {
      std::vector<std::string> taken(4), nothing(2, "old");
      EXPECT_EQ(recv_object_list(taken), 0);
      EXPECT_EQ(taken, sent);
      EXPECT_EQ(recv_object_list(nothing, 0), 0);
      EXPECT_EQ(nothing, (std::vector<std::string>(2)));
    }
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
