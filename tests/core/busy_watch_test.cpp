// When loops stop being split and when they are split again, with a clock and a kernel of the test's own.
#include "cresset/core/busy_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cresset::detail {
namespace {

int64_t watch_clock = 0, watch_delay = 0;
constexpr BusyProbe kFakeProbe{[] { return watch_clock; }, [] { return watch_delay; }};
constexpr int64_t kMicrosecond = 1000, kMillisecond = 1'000'000;

class Watch : public ::testing::Test {
 protected:
  void SetUp() override { watch_clock = watch_delay = 1; }

  bool pays() { return watch_.threads_pay(kFakeProbe); }

  // A loop of two parts, one by the caller and one by a worker for which it then waits.
  void loop(int64_t own, int64_t others, int64_t waited) {
    SplitCost cost;
    cost.begin = watch_clock;
    watch_clock += own + waited;
    cost.end = watch_clock;
    cost.own = own;
    cost.others = others;
    cost.other_parts = 1;
    watch_.add(cost, kFakeProbe);
  }
  void smooth(int64_t time) {
    for (const int64_t end = watch_clock + time; watch_clock < end;)
      loop(50 * kMicrosecond, 50 * kMicrosecond, kMicrosecond);
  }
  // The worker loses its core for a time slice.
  void held_up() { loop(50 * kMicrosecond, 3 * kMillisecond + 50 * kMicrosecond, 3 * kMillisecond); }
  void until_pause() {
    while (pays()) held_up();
  }
  int64_t pause() {
    const int64_t begin = watch_clock;
    while (!pays()) watch_clock += kMillisecond;
    return watch_clock - begin;
  }

  BusyWatch watch_;
};

TEST_F(Watch, OnAnIdleMachineThreadsAreUsed) {
  for (int i = 0; i < 100; i++) {
    smooth(10 * kMillisecond);
    ASSERT_TRUE(pays());
  }
}

TEST_F(Watch, WorkersThatAreHeldUpPause) {
  smooth(20 * kMillisecond);
  for (int i = 0; i < 4; i++) held_up();  // a window or two
  EXPECT_FALSE(pays());
}

TEST_F(Watch, ACallerWithoutACorePausesItsThreadsTooThoughItNeverWaits) {
  for (int i = 0; i < 200 && pays(); i++) {
    loop(100 * kMicrosecond, 30 * kMicrosecond, 0);
    watch_delay += 40 * kMicrosecond;
  }
  EXPECT_FALSE(pays());
}

TEST_F(Watch, ALongerPartOfAWorkerIsWorkNotDelay) {
  for (int i = 0; i < 200; i++) {
    loop(50 * kMicrosecond, 150 * kMicrosecond, 100 * kMicrosecond);
    ASSERT_TRUE(pays());
  }
}

TEST_F(Watch, PausesGrowWhileTrialsFailAndShrinkWhenTheyDoNot) {
  until_pause();
  int64_t before = pause();
  EXPECT_GE(before, BusyWatch::kShortestPause - kMillisecond);
  EXPECT_LE(before, BusyWatch::kShortestPause + kMillisecond);
  for (int i = 0; i < 12; i++) {
    until_pause();
    const int64_t now = pause();
    EXPECT_GE(now, std::min(2 * before - 3 * kMillisecond, BusyWatch::kLongestPause - kMillisecond));
    EXPECT_LE(now, BusyWatch::kLongestPause + kMillisecond);
    before = now;
  }
  EXPECT_GE(before, BusyWatch::kLongestPause - kMillisecond);
  smooth(20 * BusyWatch::kWindow);
  until_pause();
  EXPECT_LE(pause(), 2 * BusyWatch::kShortestPause);
}

TEST_F(Watch, WorkersThatNeverComePauseToo) {
  for (int i = 0; i < 100; i++) loop(100 * kMicrosecond, 0, 0);
  EXPECT_FALSE(pays());
}

// They may have woken on the caller's core, and the kernel needs some time to move them.
TEST_F(Watch, AfterTheLongestPauseThreadsThatAreOnlySlowGetMoreTime) {
  const auto slow = [&] { loop(90 * kMicrosecond, 0, 10 * kMicrosecond); };
  while (pause() < BusyWatch::kLongestPause - kMillisecond)
    while (pays()) slow();
  for (const int64_t end = watch_clock + 10 * BusyWatch::kWindow; watch_clock < end;) {
    slow();
    ASSERT_TRUE(pays());
  }
  while (pays()) slow();
  EXPECT_GE(pause(), BusyWatch::kLongestPause - kMillisecond);
  until_pause();  // held up for a time slice: hopeless
  pause();
  const int64_t begin = watch_clock;
  until_pause();
  EXPECT_LE(watch_clock - begin, 3 * BusyWatch::kWindow);
}

TEST(RunDelay, IsReadFromTheKernelAndOnlyGrows) {
  const int64_t before = kernel_run_delay();
  EXPECT_GE(before, 0);
  EXPECT_GE(kernel_run_delay(), before);
}

}  // namespace
}  // namespace cresset::detail
