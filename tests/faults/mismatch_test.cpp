// Ranks that disagree about what they do together: each gets an error that says so, and no process hangs or dies.
#include <gtest/gtest.h>

#include "trial.h"

using namespace faults;

namespace {

struct Case {
  const char* how;
  const char* pattern;  // of the error on every rank
};

class Mismatch : public ::testing::TestWithParam<Case> {};

}  // namespace

TEST_P(Mismatch, IsToldToEveryRank) {
  Trial trial;
  trial.launch(3, {}, {program("mismatch"), GetParam().how, "5000"});
  EXPECT_EQ(trial.finish("run"), 0) << trial.everything();
  for (int rank = 0; rank < 3; rank++) {
    const Words errors = errors_in(trial.said_by(rank));
    ASSERT_EQ(errors.size(), 1u) << trial.everything();
    EXPECT_TRUE(matches(errors[0], GetParam().pattern)) << "rank " << rank << ": " << errors[0];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, Mismatch,
    ::testing::Values(
        Case{"op", "ranks disagree: ranks 0, 2 called all_reduce.*rank 1 called broadcast"},
        Case{"size", "all_reduce #.*ranks disagree: ranks 0, 2 called .*1000.*rank 1 called .*999"},
        Case{"large size", "all_reduce #.*ranks disagree: ranks 0, 2 called .*3000000.*rank 1 called .*3000001"},
        Case{"dtype", "all_reduce #.*ranks disagree: ranks 0, 2 called .*float32.*rank 1 called .*int32"},
        Case{"reduction", "all_reduce #.*ranks disagree: ranks 0, 2 called .*SUM.*rank 1 called .*MAX"},
        Case{"root", "broadcast #.*ranks disagree"},
        Case{"order", "all_reduce #.*ranks disagree.*1000.*rank 1 called .*10"},
        // The first to give up ends, and those who wait elsewhere may hear of that first.
        Case{"group",
             "all_reduce #[12] (\\(float32\\[1000\\], group (default|1)\\) did not finish within 5000 ms: "
             ".*missing: rank|failed: rank [0-2] \\(host [^,]+, pid [0-9]+\\) exited with status 0)"},
        Case{"members",
             "new_group: ranks disagree about group 1: ranks 0, 2 gave ranks 0, 1, 2; rank 1 gave ranks 0, 1"},
        Case{"one more", "ranks disagree: ranks 0, 2 called barrier.*rank 1 called all_reduce"}),
    [](const auto& info) {
      std::string name = info.param.how;
      for (char& c : name)
        if (c == ' ') c = '_';
      return name;
    });
