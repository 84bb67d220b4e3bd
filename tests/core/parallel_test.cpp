// parallel_for: every index once, errors reach the caller, and threads that must stay serial do.
#include "cresset/core/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cresset/core/error.h"
#include "tests/support/child_process.h"

#if !CRESSET_PLAIN_POOL
#include <omp.h>
#endif

namespace cresset {
namespace {

using Part = std::pair<int64_t, int64_t>;

std::vector<Part> parts_of(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  std::vector<Part> parts;
  parallel_for(begin, end, grain, [&](int64_t first, int64_t last) {
    std::lock_guard lock(mutex);
    parts.emplace_back(first, last);
  });
  std::sort(parts.begin(), parts.end());
  return parts;
}

class Parallel : public ::testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(original_); }

 private:
  int original_ = get_num_threads();
};

TEST_F(Parallel, EveryIndexIsVisitedOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (const int64_t size : {0, 1, 2, 7, 8, 9, 1000, 1001}) {
      for (const int64_t grain : {-1, 0, 1, 3, 500, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(size));
        parallel_for(5, 5 + size, grain, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) ++visits[static_cast<size_t>(i - 5)];
        });
        for (const auto& count : visits) ASSERT_EQ(count, 1) << threads << " threads, " << size << " by " << grain;
      }
    }
  }
}

TEST_F(Parallel, PartsAreAtMostOnePerThreadAndNoShorterThanTheGrain) {
  EXPECT_EQ(parts_of(0, 10, 1), (std::vector<Part>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(parts_of(0, 10, 5), (std::vector<Part>{{0, 5}, {5, 10}}));
  EXPECT_EQ(parts_of(0, 10, 6), (std::vector<Part>{{0, 10}}));
  EXPECT_EQ(parts_of(0, 10, 10), (std::vector<Part>{{0, 10}}));
  EXPECT_TRUE(parts_of(3, 3, 1).empty());
  EXPECT_TRUE(parts_of(3, 2, 1).empty());
}

TEST_F(Parallel, TheFirstExceptionReachesTheCallerAfterAllPartsEnded) {
  std::atomic<int> ended{0};
  try {
    parallel_for(0, 4, 1, [&](int64_t first, int64_t) {
      ++ended;
      if (first % 2 == 1) throw std::runtime_error("part");
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "part");
  }
  EXPECT_EQ(ended, 4);
  EXPECT_FALSE(in_parallel_region());
  EXPECT_EQ(parts_of(0, 4, 1).size(), 4U);
}

TEST_F(Parallel, NestedLoopsRunSerially) {
  EXPECT_FALSE(in_parallel_region());
  std::atomic<int> whole{0};
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(in_parallel_region());
    parallel_for(0, 100, 1, [&](int64_t first, int64_t last) { whole += first == 0 && last == 100; });
  });
  EXPECT_EQ(whole, 4);
  EXPECT_FALSE(in_parallel_region());
}

TEST_F(Parallel, ASerialScopeHoldsForItsThreadOnly) {
  {
    SerialScope outer;
    { SerialScope inner; }
    EXPECT_EQ(parts_of(0, 100, 1).size(), 1U);
    size_t elsewhere = 0;
    std::thread([&] { elsewhere = parts_of(0, 100, 1).size(); }).join();
    EXPECT_EQ(elsewhere, 4U);
  }
  EXPECT_EQ(parts_of(0, 100, 1).size(), 4U);
}

TEST_F(Parallel, TheThreadCountIsOneForAllThreads) {
  set_num_threads(3);
  std::thread([] {
    EXPECT_EQ(get_num_threads(), 3);
    EXPECT_EQ(parts_of(0, 100, 1).size(), 3U);
  }).join();
  for (const int bad : {0, -2}) {
    try {
      set_num_threads(bad);
      FAIL() << "no error for " << bad;
    } catch (const ValueError& error) {
      EXPECT_EQ(error.msg(), "set_num_threads: found " + std::to_string(bad) + " (expected at least 1)");
    }
  }
  EXPECT_EQ(get_num_threads(), 3);
}

TEST_F(Parallel, SeveralThreadsMaySplitAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(0, 100, 1, [&](int64_t first, int64_t last) { sum += last - first; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 3 * 50 * 100);
}

TEST_F(Parallel, AForkedChildRunsSerially) {
  EXPECT_EQ(parts_of(0, 100, 1).size(), 4U);
  const std::string outcome = testing::outcome_in_child([] {
    set_num_threads(4);
    return get_num_threads() == 1 && parts_of(0, 100, 1) == std::vector<Part>{{0, 100}} && !in_parallel_region();
  });
  EXPECT_EQ(outcome, "ok");
  EXPECT_EQ(parts_of(0, 100, 1).size(), 4U);
}

#if !CRESSET_PLAIN_POOL

int library_threads() {
  align_library_threads();
  int count = 0;
#pragma omp parallel
#pragma omp single
  count = omp_get_num_threads();
  return count;
}

TEST_F(Parallel, LibrariesGetTheThreadCountOfTheirCaller) {
  EXPECT_EQ(library_threads(), 4);
  set_num_threads(2);
  EXPECT_EQ(library_threads(), 2);
  std::thread([] {
    EXPECT_EQ(library_threads(), 2);
    SerialScope serial;
    EXPECT_EQ(library_threads(), 1);
  }).join();
}

TEST_F(Parallel, LibrariesRunSeriallyInAForkedChild) {
  EXPECT_EQ(library_threads(), 4);
  EXPECT_EQ(testing::outcome_in_child([] { return library_threads() == 1; }), "ok");
}

TEST_F(Parallel, AnOpenMpRegionOfTheProgramCountsAsParallel) {
  std::atomic<int> split{0};
#pragma omp parallel num_threads(2)
  split += parts_of(0, 100, 1).size() != 1 || !in_parallel_region();
  EXPECT_EQ(split, 0);
}

#endif

}  // namespace
}  // namespace cresset
