// parallel_for: every index once, errors reach the caller, and threads that must stay serial do.
#include "cresset/core/parallel.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cresset/core/backend_loader.h"
#include "cresset/core/error.h"
#include "cresset/core/library_threads.h"
#include "cresset/core/parallel_probe.h"
#include "tests/support/child_process.h"

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

// libcresset_dnn.so registers the same when it is loaded.
constexpr detail::LibraryThreads kOpenMp{omp_get_max_threads, omp_set_num_threads,
                                         [] { return omp_in_parallel() != 0; }, omp_get_thread_num};

class Parallel : public ::testing::Test {
 protected:
  // The clock stands still, so that threads are used however busy the machine is.
  void SetUp() override {
    set_num_threads(4);
    detail::register_library_threads(&kOpenMp);
    probe_ = detail::set_busy_probe({[]() -> int64_t { return 0; }, []() -> int64_t { return 0; }});
  }
  void TearDown() override {
    set_num_threads(original_);
    detail::set_busy_probe(probe_);
  }

 private:
  int original_ = get_num_threads();
  detail::BusyProbe probe_{};
};

// Waits for what another thread does, but not for ever.
template <class Done>
bool comes_true(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

// Whether `threads` threads are in the parts of one loop at the same time.
bool all_meet(int threads) {
  std::atomic<int> there{0};
  std::atomic<bool> met{true};
  parallel_for(0, threads, 1, [&](int64_t, int64_t) {
    ++there;
    if (!comes_true([&] { return there == threads; })) met = false;
  });
  return met;
}

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

TEST_F(Parallel, EveryThreadTakesAPart) {
  for (const int threads : {2, 4, 7}) {
    set_num_threads(threads);
    EXPECT_TRUE(all_meet(threads)) << threads;
  }
}

TEST_F(Parallel, WorkersBlockAllSignals) {
  std::mutex mutex;
  std::set<std::thread::id> open;  // threads that a signal may reach
  std::atomic<int> there{0};
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    for (const int number : {SIGALRM, SIGPROF, SIGUSR1, SIGTERM, SIGINT, SIGRTMIN + 3}) {
      std::lock_guard lock(mutex);
      if (!sigismember(&mask, number)) open.insert(std::this_thread::get_id());
    }
    ++there;
    EXPECT_TRUE(comes_true([&] { return there == 4; }));
  });
  EXPECT_EQ(open, std::set<std::thread::id>{std::this_thread::get_id()});
}

// All workers stand in another caller's loop, as they do when other programs have taken their cores.
TEST_F(Parallel, ACallerNeedsNoWorkerToFinish) {
  constexpr int kThreads = 8;  // no test here has more
  set_num_threads(kThreads);
  std::atomic<int> held{0};
  std::atomic<bool> released{false};
  std::thread holder([&] {
    parallel_for(0, kThreads, 1, [&](int64_t, int64_t) {
      ++held;
      EXPECT_TRUE(comes_true([&] { return released.load(); }));
    });
  });
  EXPECT_TRUE(comes_true([&] { return held == kThreads; }));
  std::set<std::thread::id> threads;
  int parts = 0;
  parallel_for(0, kThreads, 1, [&](int64_t, int64_t) {
    threads.insert(std::this_thread::get_id());
    ++parts;
  });
  EXPECT_FALSE(released);
  EXPECT_EQ(parts, kThreads);
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
  released = true;
  holder.join();
}

TEST_F(Parallel, MoreCallersThanThePoolServesAtOnceAllFinish) {
  constexpr int kCallers = 20;
  std::atomic<int> inside{0};
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      bool first = true;
      for (int round = 0; round < 20; ++round) {
        parallel_for(0, 40, 1, [&](int64_t begin, int64_t end) {
          sum += end - begin;
          if (begin != 0 || !std::exchange(first, false)) return;
          ++inside;  // the caller's own part: all of them are in a loop at once
          EXPECT_TRUE(comes_true([&] { return inside == kCallers; }));
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, kCallers * 20 * 40);
}

std::atomic<int64_t> fake_now{0}, fake_delay{0};
thread_local bool sees_fake_clock = false;

// Reads the environment all the time, as threads of a program may.
TEST(BackendLoader, LeavesTheEnvironmentAsItWas) {
  char** const before = environ;
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop) wrong += path != (std::getenv("PATH") ? std::getenv("PATH") : "");
  });
  load_backend(kCPU);
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_STREQ(backend_load_error(kCPU), "");
  EXPECT_EQ(environ, before);
}

// The caller is ready to run for 5 ms without getting a core.
TEST_F(Parallel, WhileOthersHoldTheCoresTheCallerRunsAllPartsItself) {
  sees_fake_clock = true;
  fake_now = fake_delay = 0;
  detail::set_busy_probe({[]() -> int64_t { return sees_fake_clock ? fake_now.load() : 0; },
                          []() -> int64_t { return fake_delay.load(); }});
  const std::thread::id me = std::this_thread::get_id();
  parallel_for(0, 4, 1, [](int64_t, int64_t) {});  // from here on its delays are counted
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    if (std::this_thread::get_id() != me) return;
    fake_now += 5'000'000;
    fake_delay += 5'000'000;
  });
  std::mutex mutex;
  std::vector<Part> parts;
  std::set<std::thread::id> threads;
  parallel_for(0, 10, 1, [&](int64_t first, int64_t last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // a worker that was woken would come in this time
    std::lock_guard lock(mutex);
    EXPECT_TRUE(in_parallel_region());
    parts.emplace_back(first, last);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(parts, (std::vector<Part>{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(threads, std::set<std::thread::id>{me});
  EXPECT_EQ(get_num_threads(), 4);

  fake_now += 2 * detail::BusyWatch::kShortestPause;
  EXPECT_TRUE(all_meet(4));
  sees_fake_clock = false;
}

TEST_F(Parallel, TheProcessMayExitWhileThreadsCompute) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static std::atomic<int> loops{0};
        for (int i = 0; i < 3; ++i)
          std::thread([] {
            while (true) parallel_for(0, 4, 1, [](int64_t, int64_t) { ++loops; });
          }).detach();
        comes_true([] { return loops > 1000; });
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

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

TEST_F(Parallel, LibrariesAreSerialInsidePartsAndGetBackWhatTheyHad) {
  omp_set_num_threads(3);  // the program's own
  std::atomic<int> most{0};
  parallel_for(0, 4, 1, [&](int64_t, int64_t) {
    align_library_threads();
    most = std::max(most.load(), omp_get_max_threads());
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(omp_get_max_threads(), 3);
  {
    const detail::SerialLibraries serial;
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 3);
}

}  // namespace
}  // namespace cresset
