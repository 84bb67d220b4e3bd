// Backward on several threads: through one retained graph, from separate graphs into shared leaves, and with views,
// hooks and accumulators that are made and dropped meanwhile. Runs under the thread sanitizer as well.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cresset/cresset.h"

namespace cresset {
namespace {

using namespace autograd;

void on_threads(int count, const std::function<void(int)>& work) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; t++)
    threads.emplace_back([&, t] {
      waiting--;
      while (waiting > 0) std::this_thread::yield();
      work(t);
    });
  for (std::thread& thread : threads) thread.join();
}

float first_of(const Tensor& x) { return x.data_ptr<float>()[0]; }

TEST(ConcurrentBackward, ThroughOneRetainedGraph) {
  constexpr int kThreads = 4, kRounds = 200;
  Tensor x = ones({8}).requires_grad_(), w = full({8}, 2.0).requires_grad_();
  Tensor h = x;
  for (int i = 0; i < 20; i++) h = (h * w).relu() * 0.5;
  Tensor y = h.sum();
  on_threads(kThreads, [&](int) {
    for (int i = 0; i < kRounds; i++) y.backward({}, /*retain_graph=*/true);
  });
  EXPECT_EQ(first_of(x.grad()), kThreads * kRounds);
  EXPECT_EQ(first_of(w.grad()), kThreads * kRounds * 10);
}

TEST(ConcurrentBackward, GradThroughOneGraphSeesOnlyItsOwn) {
  Tensor x = full({4}, 3.0).requires_grad_();
  Tensor y = (x * x).sum();
  std::atomic<int> wrong{0};
  on_threads(4, [&](int) {
    for (int i = 0; i < 200; i++) wrong += first_of(grad({y}, {x}, {}, true)[0]) != 6;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(x.grad().defined());
}

TEST(ConcurrentBackward, SeparateGraphsIntoSharedLeaves) {
  constexpr int kThreads = 4, kRounds = 300;
  Tensor x = ones({8}).requires_grad_(), w = ones({8}).requires_grad_();
  on_threads(kThreads, [&](int t) {
    for (int i = 0; i < kRounds; i++) {  // the accumulators come and go with the graphs
      Tensor h = x * w;
      if ((i + t) % 3 == 0) h = h + x;
      h.sum().backward();
      if ((i + t) % 5 == 0) Tensor unused = x * w;
    }
  });
  float x_grad = 0;
  for (int t = 0; t < kThreads; t++)
    for (int i = 0; i < kRounds; i++) x_grad += (i + t) % 3 == 0 ? 2 : 1;
  EXPECT_EQ(first_of(x.grad()), x_grad);
  EXPECT_EQ(first_of(w.grad()), kThreads * kRounds);
}

TEST(ConcurrentBackward, FirstUsesOfANewLeafMeet) {
  for (int round = 0; round < 100; round++) {
    Tensor x = ones({2}).requires_grad_();
    on_threads(3, [&](int) { (x * 2).sum().backward(); });
    EXPECT_EQ(first_of(x.grad()), 6);
  }
}

TEST(ConcurrentBackward, HooksAndPartialRunsSideBySide) {
  Tensor x = ones({4}).requires_grad_(), w = ones({4}).requires_grad_();
  std::atomic<int> calls{0};
  x.register_hook([&](const Tensor&) { calls++; });
  Tensor h = x * w;
  h.register_hook([&](const Tensor& g) { return g * 2; });
  Tensor y = (h * w).sum();
  on_threads(4, [&](int t) {
    for (int i = 0; i < 100; i++) {
      if (t % 2)
        y.backward({}, true);
      else
        EXPECT_EQ(first_of(grad({y}, {w}, {}, true)[0]), 3);
    }
  });
  EXPECT_EQ(calls, 200);
  EXPECT_EQ(first_of(x.grad()), 400);
}

TEST(ConcurrentBackward, OneThreadThrowsTheOtherGoesOn) {
  Tensor x = ones({4}).requires_grad_();
  Tensor h = x * 3, y = h.sum();
  on_threads(4, [&](int t) {
    for (int i = 0; i < 100; i++) {
      if (t % 2 == 0) {
        y.backward({}, true);
      } else {
        Tensor bad = h * 1;
        bad.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("always"); });
        EXPECT_THROW(bad.sum().backward({}, true), std::runtime_error);
      }
    }
  });
  EXPECT_EQ(first_of(x.grad()), 600);
}

TEST(ConcurrentBackward, ViewsOfOneBaseOnSeveralThreads) {
  Tensor x = ones({6}).requires_grad_();
  Tensor base = x * 1;
  Tensor part = base.slice(0, 0, 3);
  base.mul_(2);  // part's node is behind: the threads renew it at the same time
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; i++) (part * 1).sum().backward({}, true);
  });
  EXPECT_EQ(first_of(x.grad()), 400);
}

TEST(ConcurrentBackward, UsersFunctionsAndCheckpoints) {
  struct Square : Function<Square> {
    static Tensor forward(AutogradContext* ctx, const Tensor& x) {
      ctx->save_for_backward({x});
      return x * x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      return {g[0] * ctx->get_saved_variables()[0] * 2};
    }
  };
  Tensor x = ones({4}).requires_grad_();
  Tensor y = (Square::apply(x) + checkpoint([](const Tensor& t) { return (t * t).relu(); }, x)).sum();
  on_threads(4, [&](int) {
    for (int i = 0; i < 50; i++) y.backward({}, true);
  });
  EXPECT_EQ(first_of(x.grad()), 800);
}

TEST(ConcurrentBackward, AGraphBuiltHereIsRunAndFreedThere) {
  Tensor x = ones({4}).requires_grad_();
  for (int round = 0; round < 50; round++) {
    Tensor h = x;
    for (int i = 0; i < 50; i++) h = h * 1;
    std::thread([y = h.sum()]() mutable {
      y.backward();
      y.reset();
    }).join();
  }
  EXPECT_EQ(first_of(x.grad()), 50);
}

}  // namespace
}  // namespace cresset
