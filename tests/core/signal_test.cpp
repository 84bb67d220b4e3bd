// Signals and libraries whose code keeps no stack in the stack pointer: handlers run, but never on top of such code.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "cresset/core/signal_guard.h"
#include "cresset/cresset.h"

namespace cresset {
namespace {

std::atomic<int> handled{0};
void count_signal(int) { handled++; }

void handle(int number) {
  handled = 0;
  struct sigaction action {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

bool is_blocked(int number) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, number) == 1;
}

TEST(SignalGuard, HoldsSignalsBackUntilTheOutermostEnds) {
  handle(SIGUSR2);
  ASSERT_FALSE(is_blocked(SIGUSR2));
  {
    const SignalGuard outer;
    raise(SIGUSR2);
    {
      const SignalGuard inner;
      EXPECT_TRUE(is_blocked(SIGUSR2));
    }
    EXPECT_TRUE(is_blocked(SIGUSR2));
    EXPECT_EQ(handled, 0);
  }
  EXPECT_EQ(handled, 1);
  EXPECT_FALSE(is_blocked(SIGUSR2));
  signal(SIGUSR2, SIG_DFL);
}

TEST(SignalGuard, LeavesWhatCodeItselfCauses) {
  const SignalGuard guard;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    EXPECT_FALSE(is_blocked(number)) << number;
  for (const int number : {SIGPROF, SIGALRM, SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) EXPECT_TRUE(is_blocked(number));
}

TEST(SignalGuard, GivesTheMaskBackAfterAnException) {
  EXPECT_THROW(
      {
        const SignalGuard guard;
        throw std::runtime_error("inside");
      },
      std::runtime_error);
  EXPECT_FALSE(is_blocked(SIGUSR2));
  // A mask of the program's own stays as it was.
  sigset_t mine, before;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &mine, &before);
  { const SignalGuard guard; }
  EXPECT_TRUE(is_blocked(SIGUSR1));
  EXPECT_FALSE(is_blocked(SIGUSR2));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(SignalGuard, AThreadThatRefusesSignalsStaysSo) {
  std::thread([] {
    refuse_signals_for_good();
    { const SignalGuard guard; }
    EXPECT_TRUE(is_blocked(SIGUSR2));
    EXPECT_FALSE(is_blocked(SIGSEGV));
  }).join();
}

// What a sampling profiler does: a signal to every thread, some 2,000 times a second.
[[noreturn]] void sample_threads() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  while (true) {
    if (DIR* tasks = opendir("/proc/self/task")) {
      while (const dirent* entry = readdir(tasks))
        if (const int task = std::atoi(entry->d_name); task > 0 && task != self)
          syscall(SYS_tgkill, getpid(), task, SIGPROF);
      closedir(tasks);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

void start_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  timer_t timer{};
  itimerspec every{};
  every.it_value.tv_nsec = every.it_interval.tv_nsec = 500'000;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &every, nullptr) != 0) _exit(10);
}

bool all_are(const Tensor& x, double value) { return (x == value).all().item<bool>(); }

// Everything that goes to oneDNN, with results that are known. Plain allocations lie where frames would be written.
void compute_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const Tensor image = ones({2, 16, 40, 40}), kernel = ones({16, 16, 3, 3});
  for (int64_t n = 256; std::chrono::steady_clock::now() < end; n = n < 600 ? n + 43 : 256) {
    char* blocks[16];
    for (char*& block : blocks) block = static_cast<char*>(std::malloc(2000));
    const Tensor x = ones({n, n}), y = mm(x, x.t());
    if (!all_are(y, static_cast<double>(n))) _exit(11);
    if (!all_are(bmm(ones({4, 96, 96}), ones({4, 96, 96})), 96)) _exit(12);
    const Tensor z = conv2d(image, kernel);
    if (!all_are(z, 144)) _exit(13);
    for (char* block : blocks) std::free(block);
  }
}

// Ends with 0, with the number of a check that failed, or by the signal that a broken heap brings.
[[noreturn]] void products_under_signals() {
  alarm(60);  // the deadline
  set_num_threads(2);
  handle(SIGPROF);
  // Workers that are there before the first product have the program's own mask.
  if (!all_are(ones({1 << 22}) + 1, 2)) _exit(14);
  std::thread(sample_threads).detach();
  start_timer();
  compute_for(std::chrono::milliseconds(1000));
  if (handled == 0) _exit(15);
  if (is_blocked(SIGPROF)) _exit(16);
  std::printf("%d signals\n", handled.load());
  _exit(0);
}

TEST(Signals, AProfilersTimerLeavesTheHeapWhole) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(products_under_signals(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cresset
