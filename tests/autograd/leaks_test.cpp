// Everything goes when its handles go: graphs, saved tensors, hooks, also where tensors and nodes refer to each other.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

// Runs the code and expects the memory in use to be what it was.
template <class Code>
void expect_no_leak(Code code) {
  code();  // what is made once (pools, tables) is made now
  int64_t before = memory_stats().allocated_bytes;
  for (int i = 0; i < 5; i++) code();
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

TEST(Leaks, AGraphThatIsNeverRun) {
  expect_no_leak([] { Tensor y = (leaf_of({1, 2}) * 2).exp().relu().sum(); });
}

TEST(Leaks, AGraphThatIsRunAndRetained) {
  expect_no_leak([] {
    Tensor x = leaf_of({1, 2});
    Tensor y = (x * x).exp().sum();
    y.backward({}, true);
    y.backward({}, true);
  });
}

TEST(Leaks, ATensorChangedInPlaceByWhatSavedIt) {
  expect_no_leak([] {
    Tensor w = leaf_of({2, 3}), h = w * 1;
    for (int i = 0; i < 4; i++) h.add_(h * w);
  });
  expect_no_leak([] {
    Tensor w = leaf_of({2, 3}), h = w * 1;
    h.mul_(h);
    h.mul_(w);
    h.exp_();
    h.sum().backward();
  });
}

TEST(Leaks, SavedOutputsChangedInPlaceAndThroughViews) {
  expect_no_leak([] {
    Tensor h = leaf_of({2, 3}).exp();
    h.mul_(2);
  });
  expect_no_leak([] {
    Tensor h = leaf_of({2, 3}) * 1;
    Tensor v = h.select(0, 0);
    v.exp_();
    v.mul_(h.select(0, 1));
    h.sum();
  });
}

TEST(Leaks, ViewsAndTheirBases) {
  expect_no_leak([] {
    Tensor h = leaf_of({2, 3, 4, 5}, {2, 2}) * 1;
    Tensor a = h.t(), b = a.select(0, 0), c = h.view({4});
    b.mul_(2);
    c.add_(1);
    (a * a).sum().backward();
  });
}

TEST(Leaks, RetainedGradients) {
  expect_no_leak([] {
    Tensor h = leaf_of({2, 3}) * 2;
    h.retain_grad();
    h.mul_(3);
    (h * h).sum().backward();
  });
}

TEST(Leaks, HooksThatCaptureOtherTensors) {
  expect_no_leak([] {
    Tensor x = leaf_of({2, 3}), w = leaf_of({1, 1});
    Tensor h = x * w;
    h.register_hook([w](const Tensor& g) { return g * w.detach(); });
    x.register_hook([w](const Tensor& g) { return g; });
    h.sum().backward();
  });
}

TEST(Leaks, SecondDerivatives) {
  expect_no_leak([] {
    Tensor x = leaf_of({2, 3});
    Tensor g = grad({(x.exp() * x).sum()}, {x}, {}, std::nullopt, true)[0];
    grad({(g * g).sum()}, {x}, {}, true);
    g.sum().backward();
  });
}

TEST(Leaks, CreateGraphIntoALeafEndsWhenItsGradIsReset) {
  expect_no_leak([] {
    Tensor x = leaf_of({2, 3});
    (x * x).sum().backward({}, std::nullopt, true);
    x.mutable_grad().reset();  // the leaf holds its gradient, whose graph holds the leaf: as in PyTorch
  });
}

TEST(Leaks, UsersFunctionsThatSaveTheirOutputs) {
  struct Inside : Function<Inside> {
    static Tensor forward(AutogradContext* ctx, Tensor x) {
      ctx->mark_dirty({x});
      x.mul_(2);
      ctx->save_for_backward({x});
      return x;
    }
    static variable_list backward(AutogradContext* ctx, variable_list g) {
      return {g[0] * 2 + ctx->get_saved_variables()[0] * 0};
    }
  };
  expect_no_leak([] {
    Tensor h = leaf_of({2, 3}) * 1;
    Inside::apply(h);
    Tensor k = leaf_of({2, 3}) * 1;
    Inside::apply(k.select(0, 0));  // the node now stands behind the view's base
  });
}

TEST(Leaks, CheckpointsRunAndNotRun) {
  expect_no_leak([] {
    Tensor x = leaf_of({2, 3});
    auto f = [](const Tensor& t) { return (t * t).exp(); };
    Tensor y = checkpoint(f, x);
    Tensor z = checkpoint([&](const Tensor& t) { return checkpoint(f, t * 0.1) * t; }, x);
    z.sum().backward();
  });
}

TEST(Leaks, AnomalyMode) {
  expect_no_leak([] {
    DetectAnomalyGuard anomaly;
    Tensor x = leaf_of({2, 3});
    (x * x).sum().backward();
  });
}

}  // namespace
}  // namespace cresset
