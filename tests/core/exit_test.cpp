// The end of the process: tensors that are globals outlive main, thread-local state and other globals, and threads that
// nobody waits for may compute until the last instruction.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cresset/cresset.h"

namespace cresset {
namespace {

// Runs in a child that ends by exit(), so that destructors of statics run there.
[[noreturn]] void exit_with_static_tensors() {
  static Tensor small = ones({8});
  static Tensor large = zeros({1 << 20});
  static Tensor graph = (ones({8}, requires_grad(true)) * 2).sum();
  static std::vector<Tensor> views = {small.view({2, 4}), large.view({1 << 10, 1 << 10})};
  static thread_local Tensor of_this_thread = ones({16});
  std::thread([] { views.push_back(ones({32}) + ones({32})); }).join();  // freed on another thread than made
  std::exit(of_this_thread.numel() == 16 && graph.requires_grad() ? 0 : 1);
}

TEST(Exit, GlobalTensorsSurviveTheEndOfMain) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_static_tensors(), ::testing::ExitedWithCode(0), "");
}

// An object made before any tensor is destroyed after them, and still finds the allocator and the op registry alive.
struct WorksInItsDestructor {
  ~WorksInItsDestructor() {
    Tensor x = ones({64}) + 1;
    if (x.sum().item<float>() != 128) std::_Exit(3);
  }
};
[[noreturn]] void exit_using_ops_late() {
  static WorksInItsDestructor late;
  Tensor x = ones({4});
  std::exit(0);
}
TEST(Exit, OpsStillWorkInDestructorsOfGlobals) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_using_ops_late(), ::testing::ExitedWithCode(0), "");
}

std::atomic<int> rounds{0};

[[noreturn]] void compute_without_end() {
  while (true) {
    const Tensor x = ones({300, 300}), y = mm(x, x);
    const Tensor z = mm(ones({120, 120}, kDouble), ones({120, 120}, kDouble));
    const Tensor image = conv2d(ones({2, 16, 20, 20}), ones({16, 16, 3, 3}));
    const Tensor inverse = linalg_inv(eye(50));
    Tensor leaf = ones({64, 64}, requires_grad(true));
    mm(leaf, leaf).sum().backward();
    if (y.select(0, 0).max().item<float>() != 300 || z.max().item<double>() != 120) std::_Exit(4);
    if (image.max().item<float>() != 144 || leaf.grad().max().item<float>() != 128) std::_Exit(5);
    rounds++;
  }
}

enum class EndedBy { main, another_thread };

[[noreturn]] void exit_while_threads_compute(EndedBy who) {
  alarm(60);  // the deadline
  // Registered before the libraries are loaded, so that it runs after their destructors: the threads go on meanwhile.
  std::atexit([] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); });
  for (int i = 0; i < 3; i++) std::thread(compute_without_end).detach();
  while (rounds < 6) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (who == EndedBy::main) std::exit(0);
  std::thread([] { std::exit(0); }).detach();
  while (true) pause();
}

TEST(Exit, ThreadsThatNobodyWaitsForMayCompute) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int run = 0; run < 3; run++)
    EXPECT_EXIT(exit_while_threads_compute(EndedBy::main), ::testing::ExitedWithCode(0), "") << run;
  for (int run = 0; run < 2; run++)
    EXPECT_EXIT(exit_while_threads_compute(EndedBy::another_thread), ::testing::ExitedWithCode(0), "") << run;
}

}  // namespace
}  // namespace cresset
