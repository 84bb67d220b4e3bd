// Ranks of one host that reach into each other's memory: the numbers are those of the messages, and so are the
// failures.
#include <gtest/gtest.h>
#include <unistd.h>

#include "ddp_support.h"
#include "groups.h"
#include "processes.h"

using namespace ddp_test;
using cresset::testing::run_ranks;

namespace {

Tensor values(int rank, int64_t count, cresset::DType dtype) {
  return ((cresset::arange(count) * 7 + rank * 13) % 31 - 15).to(dtype);
}

Tensor reference(int ranks, int64_t count, cresset::DType dtype, dist::ReduceOp op) {
  Tensor result = values(0, count, dtype).to(cresset::kDouble);
  for (int r = 1; r < ranks; r++) {
    const Tensor other = values(r, count, dtype).to(cresset::kDouble);
    result = op == dist::ReduceOp::MAX ? result.maximum(other) : result + other;
  }
  return op == dist::ReduceOp::AVG ? result / ranks : result;
}

void check_all_reduce(int ranks, int rank) {
  for (cresset::DType dtype : {cresset::kFloat, cresset::kDouble, cresset::kLong, cresset::kHalf, cresset::kBFloat16})
    for (dist::ReduceOp op : {dist::ReduceOp::SUM, dist::ReduceOp::AVG, dist::ReduceOp::MAX})
      for (int64_t count : {9001, 300007}) {
        if (dtype == cresset::kLong && op == dist::ReduceOp::AVG) continue;
        Tensor x = values(rank, count, dtype);
        dist::all_reduce(x, op);
        REQUIRE(relative_difference(x, reference(ranks, count, dtype, op)) <
                (dtype == cresset::kBFloat16 ? 1e-2 : 1e-3));
      }
}

}  // namespace

TEST(DirectMemory, GivesTheNumbersOfTheReferenceWithAndWithout) {
  for (int ranks : {2, 3, 4}) run(ranks, [&](int rank) { check_all_reduce(ranks, rank); });
  EXPECT_TRUE(run_ranks(2, [](int rank) {
                if (rank == 1) setenv("CRESSET_DIRECT_MEMORY", "0", 1);  // one is enough
                dist::init_process_group();
                check_all_reduce(2, rank);
                dist::destroy_process_group();
              }).succeeded());
}

TEST(DirectMemory, ARankThatIsLateIsWaitedForInTheTransport) {
  run(3, [](int rank) {
    for (int i = 0; i < 6; i++) {
      if (i % 3 == rank) usleep(60000);
      Tensor x = cresset::full({50000}, rank + 1.0);
      dist::all_reduce(x);
      REQUIRE(relative_difference(x, cresset::full({50000}, 6.0)) == 0);
    }
  });
}

TEST(DirectMemory, RanksThatDisagreeAreToldAndNothingIsTouched) {
  const auto errors = errors_of(2, [](int rank) {
    Tensor x = cresset::full({50000}, rank + 1.0);
    dist::all_reduce(x);
    Tensor y = cresset::full({rank == 0 ? 40000 : 60000}, 5.0);
    try {
      dist::all_reduce(y);
    } catch (const cresset::DistributedError&) {
      REQUIRE(same_bits(y, cresset::full({rank == 0 ? 40000 : 60000}, 5.0)));
      throw;
    }
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("40000"), std::string::npos) << error;
    EXPECT_NE(error.find("60000"), std::string::npos) << error;
  }
}

TEST(DirectMemory, ARankThatDiesIsNamed) {
  const auto outcome = run_ranks(3, [](int rank) {
    dist::init_process_group();
    Tensor x = cresset::ones({50000});
    dist::all_reduce(x);
    if (rank == 2) _exit(3);
    cresset::testing::say(cresset::test::message_when([&] { dist::all_reduce(x); }));
    // Rank 0 keeps the store.
    if (rank == 1) cresset::testing::tell("said");
    if (rank == 0) cresset::testing::wait_until("said");
  });
  for (size_t rank : {0, 1}) EXPECT_NE(outcome[rank].find("rank 2"), std::string::npos) << outcome[rank];
}
