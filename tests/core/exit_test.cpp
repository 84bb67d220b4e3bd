// Tensors that are globals: they outlive main, thread-local state and other globals, and must be freed without harm.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cresset
