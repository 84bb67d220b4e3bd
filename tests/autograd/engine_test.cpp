// The engine: what backward and grad accept, how a run ends, deep graphs, runs inside runs.
#include "expect.h"
#include "tests/support/small_stack.h"

namespace cresset {
namespace {

using namespace autograd;

TEST(Backward, AddsIntoTheLeaves) {
  Tensor x = leaf_of({1, 2});
  (x * 3).sum().backward();
  (x * 4).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({7, 7}));
}

TEST(Backward, WantsAScalarOrAGradient) {
  Tensor x = leaf_of({1, 2});
  EXPECT_ERROR(AutogradError, (x * 1).backward(), "scalar outputs, found shape [2]");
  EXPECT_ERROR(ShapeError, (x * 1).backward(ones({3})), "found a gradient of shape [3] (expected the output's, [2])");
  EXPECT_ERROR(AutogradError, x.detach().sum().backward(), "does not require grad");
  EXPECT_ERROR(AutogradError, backward({x.sum()}, {Tensor(), Tensor()}), "found 2 gradients");
  EXPECT_ERROR(AutogradError, backward({Tensor()}), "is undefined");
  Tensor z = x.to(kComplexFloat).sum();
  EXPECT_ERROR(AutogradError, z.backward(), "only for real scalar outputs");
  EXPECT_ERROR(TypeError, (x * 1).backward(ones({2}, kComplexFloat)), "found a gradient of dtype");
  (x * 3).backward(ones({2}, kDouble));  // converted
  EXPECT_EQ(x.grad().dtype(), kFloat);
  EXPECT_EQ(values_of(x.grad()), Numbers({3, 3}));
}

TEST(Backward, TakesSeveralRoots) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2;
  backward({h.sum(), h, h}, {Tensor(), ones({2}), ones({2})});
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 6}));
}

TEST(Backward, OfALeafIsItsGradient) {
  Tensor x = leaf_of({1, 2});
  x.backward(tensor_of({5, 6}, {2}));
  EXPECT_EQ(values_of(x.grad()), Numbers({5, 6}));
}

TEST(Backward, IntoSomeInputsOnly) {
  Tensor a = leaf_of({1}), b = leaf_of({2}), c = leaf_of({3});
  Tensor h = a * b;
  std::vector<Tensor> some{b, h};
  (h * c).sum().backward({}, std::nullopt, false, some);
  EXPECT_FALSE(a.grad().defined());
  EXPECT_FALSE(c.grad().defined());
  EXPECT_EQ(values_of(b.grad()), Numbers({3}));
  EXPECT_EQ(values_of(h.grad()), Numbers({3}));  // no leaf, but asked for
  std::vector<Tensor> wrong{a.detach()};
  EXPECT_ERROR(AutogradError, (a * b).sum().backward({}, std::nullopt, false, wrong), "does not require grad");
}

TEST(Backward, SecondTimeIsRefused) {
  Tensor x = leaf_of({1, 2});
  Tensor y = (x * x).sum();
  y.backward();
  EXPECT_ERROR(AutogradError, y.backward(), "second time");
  Tensor z = (x + x).sum();  // saves nothing, so PyTorch and we allow it
  z.backward();
  z.backward();
  Tensor h = x * 1;
  h.select(0, 0).mul_(x.select(0, 1));
  Tensor w = h.sum();
  w.backward();
  EXPECT_ERROR(AutogradError, w.backward(), "second time");
}

TEST(Backward, FreesWhatWasSavedAsItGoes) {
  Tensor x = zeros({1 << 16}).requires_grad_();
  Tensor y = (x * x).sum();
  int64_t before = memory_stats().allocated_bytes;
  Tensor h = x;
  for (int i = 0; i < 10; i++) h = h.exp();
  Tensor z = h.sum();
  h.reset();
  int64_t held = memory_stats().allocated_bytes - before;
  EXPECT_GT(held, 10 * (int64_t{1} << 18));
  z.backward();
  EXPECT_LT(memory_stats().allocated_bytes - before, 2 * (int64_t{1} << 18));  // x.grad
}

TEST(Grad, ReturnsGradientsAndAccumulatesNothing) {
  Tensor x = leaf_of({1, 2}), h = x * 2;
  variable_list g = grad({(h * h).sum()}, {x, h});
  EXPECT_EQ(values_of(g[0]), Numbers({8, 16}));
  EXPECT_EQ(values_of(g[1]), Numbers({4, 8}));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(h.grad().defined());
}

TEST(Grad, OfATensorByItself) {
  Tensor x = leaf_of({3});
  EXPECT_EQ(values_of(grad({x}, {x}, {tensor_of({4}, {1})})[0]), Numbers({4}));
}

TEST(Grad, SaysWhichInputWasNotUsed) {
  Tensor x = leaf_of({1}), unused = leaf_of({1, 2});
  EXPECT_ERROR(AutogradError, grad({x.sum()}, {x, unused}), "(input 1, shape [2])");
  variable_list g = grad({x.sum()}, {x, unused}, {}, std::nullopt, false, /*allow_unused=*/true);
  EXPECT_FALSE(g[1].defined());
  EXPECT_ERROR(AutogradError, grad({x.sum()}, {}), "non-empty inputs");
  EXPECT_ERROR(AutogradError, grad({x.sum()}, {x.detach()}), "input 0 does not require grad");
}

TEST(Grad, DoesNotComputeWhatNobodyAskedFor) {
  struct Loud : Function<Loud> {
    static Tensor forward(AutogradContext*, const Tensor& x) { return x * 1; }
    static variable_list backward(AutogradContext*, variable_list) { throw std::runtime_error("nobody asked"); }
  };
  Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4});
  EXPECT_EQ(values_of(grad({(a * Loud::apply(b)).sum()}, {a})[0]), Numbers({3, 4}));
}

TEST(Grad, CreateGraphGivesHigherDerivatives) {
  Tensor x = leaf_of({2}, kDouble);
  Tensor g = x * x * x * x;
  for (double wanted : {32.0, 48.0, 48.0, 24.0}) {
    g = grad({g.sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
    EXPECT_EQ(values_of(g), Numbers({wanted}));
  }
}

TEST(Grad, ThroughViewsAsInputs) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor h = x * 2, v = h.slice(0, 1, 3);
  EXPECT_EQ(values_of(grad({(v * v).sum()}, {v})[0]), Numbers({8, 12}));
}

TEST(Throwing, LeavesNothingBehind) {
  Tensor x = leaf_of({1, 2}), w = leaf_of({5, 5});
  Tensor a = x * 2, b = a * w, y = (b + a).sum();
  int failures = 1;
  a.register_hook([&](const Tensor& g) {
    if (failures-- > 0) throw std::runtime_error("once");
    return g;
  });
  EXPECT_THROW(y.backward({}, /*retain_graph=*/true), std::runtime_error);
  EXPECT_EQ(current_node(), nullptr);
  x.mutable_grad().reset();
  w.mutable_grad().reset();
  y.backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({12, 12}));  // not twice
  EXPECT_EQ(values_of(w.grad()), Numbers({2, 4}));
}

TEST(Throwing, ABrokenHalfOfTheGraphDoesNotSpoilTheOther) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 3;
  Tensor good = h.sum(), bad = h * 1;
  bad.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("always"); });
  for (int i = 0; i < 3; i++) EXPECT_THROW(bad.sum().backward({}, true), std::runtime_error);
  good.backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({3, 3}));
}

TEST(Throwing, GivesItsGradientsBack) {
  Tensor x = leaf_of({1, 2});
  int64_t before = memory_stats().allocated_bytes;
  {
    Tensor h = x * 3;
    h.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("always"); });
    Tensor y = (h * 2).sum();
    EXPECT_THROW(y.backward(), std::runtime_error);
  }
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

TEST(Reentrant, BackwardInsideAHookOfTheSameGraph) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 3, y = (h * h).sum();
  h.register_hook([&, once = true](const Tensor& g) mutable {
    if (!once) return g;
    once = false;
    y.backward({}, /*retain_graph=*/true);  // through nodes that the outer run holds
    return g;
  });
  y.backward({}, true);
  EXPECT_EQ(values_of(x.grad()), Numbers({36, 72}));
}

TEST(Reentrant, ManyLevels) {
  Tensor x = leaf_of({1});
  std::function<void(int)> level = [&](int depth) {
    AutoGradMode on(true);  // backward runs with gradients off
    Tensor h = x * 1;
    h.register_hook([&, depth](const Tensor&) {
      if (depth > 0) level(depth - 1);
    });
    h.sum().backward();
  };
  level(50);
  EXPECT_EQ(values_of(x.grad()), Numbers({51}));
}

TEST(Reentrant, GradInsideBackwardSeesItsOwnTargetsOnly) {
  Tensor a = leaf_of({2}), b = leaf_of({3});
  Tensor h = a * b;
  h.register_hook([&](const Tensor&) {
    AutoGradMode on(true);
    EXPECT_EQ(values_of(grad({(a * b).sum()}, {a})[0]), Numbers({3}));
  });
  h.sum().backward({}, true);
  EXPECT_EQ(values_of(b.grad()), Numbers({2}));
  EXPECT_EQ(values_of(grad({h.sum()}, {b}, {}, true)[0]), Numbers({2}));
}

TEST(Depth, AMillionNodesAreBuiltRunAndFreed) {
  int64_t before = memory_stats().allocated_bytes;
  {
    Tensor x = leaf_of({1, 1}), h = x;
    for (int i = 0; i < 1000000; i++) h = h + 1;
    h.sum().backward();
    EXPECT_EQ(values_of(x.grad()), Numbers({1, 1}));
    EXPECT_EQ(values_of(grad({h.sum()}, {x})[0]), Numbers({1, 1}));
  }
  {
    Tensor x = leaf_of({1}), h = x;  // never run: freed by the tensor's going
    for (int i = 0; i < 1000000; i++) h = h * x;
  }
  {
    Tensor h = leaf_of({1, 1}) * 1;  // every change through a view puts a node on the base
    for (int i = 0; i < 20000; i++) h.select(0, 0).add_(1);
    h.sum().backward();
  }
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

TEST(Width, ATensorUsedAMillionTimes) {
  Tensor x = leaf_of({1});
  Tensor h = x * 1, sum = h;
  for (int i = 1; i < 100000; i++) sum = sum + h;
  sum.backward(ones({1}));
  EXPECT_EQ(values_of(x.grad()), Numbers({100000}));
}

TEST(Order, YoungerNodesRunFirstAndLeavesAtOnce) {
  Tensor x = leaf_of({1}), w = leaf_of({1});
  std::vector<int> order;
  Tensor a = x * 1, b = a * w, c = b * 1;
  a.register_hook([&](const Tensor&) { order.push_back(1); });
  b.register_hook([&](const Tensor&) { order.push_back(2); });
  w.register_hook([&](const Tensor&) { order.push_back(3); });
  c.sum().backward();
  EXPECT_EQ(order, std::vector<int>({2, 3, 1}));
}

TEST(CurrentNode, IsTheOneThatRuns) {
  Tensor x = leaf_of({1});
  Tensor h = x * 2;
  std::string name;
  x.register_hook([&](const Tensor&) { name = current_node()->name(); });
  h.sum().backward();
  EXPECT_EQ(name, "AccumulateGrad");
  EXPECT_EQ(current_node(), nullptr);
}

// Parts of one tensor: what arrives for the whole is added to in place, part by part.
TEST(Parts, SelectedAndSlicedOverlappingOnesAddUp) {
  Tensor x = leaf_of({1, 2, 3, 4});
  Tensor h = x * 1;
  (h.select(0, 1) * 10 + h.slice(0, 1, 4, 2).sum() + h.slice(0, 0, 2).sum() * 2 + h.sum() * 100).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({102, 113, 100, 101}));
}

TEST(Parts, TheirGradientLiesAsTheWholeDoes) {
  Tensor x = ones({4, 6}).requires_grad_();
  Tensor h = (x * 1).t();
  std::vector<int64_t> strides;
  h.register_hook([&](const Tensor& g) { strides.assign(g.strides().begin(), g.strides().end()); });
  (h.select(0, 2).sum() + h.select(0, 3).sum()).backward();
  EXPECT_EQ(strides, std::vector<int64_t>({1, 6}));
}

TEST(Parts, AGradientThatSomebodyHoldsIsNotWrittenTo) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 1, g = ones({2});
  backward({h, h.select(0, 0)}, {g, ones({})});
  EXPECT_EQ(values_of(g), Numbers({1, 1}));
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 1}));
}

TEST(Parts, HooksOfAPartAndSecondDerivativesStay) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * x, a = h.select(0, 0), b = h.select(0, 1);
  a.register_hook([](const Tensor& g) { return g * 5; });
  Tensor first = grad({a * 2 + b}, {x}, {}, true, true)[0];
  EXPECT_EQ(values_of(first), Numbers({20, 4}));
  first.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({20, 2}));
}

// A backward that starts another, so many times in each other.
struct Nesting : Function<Nesting> {
  static inline thread_local int left = 0;
  static Tensor forward(AutogradContext*, const Tensor& x) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list g) {
    if (left-- > 0) {
      AutoGradMode enable(true);
      Nesting::apply(leaf_of({1})).sum().backward();
    }
    return g;
  }
};
void nest_backwards(int count) {
  Nesting::left = count;
  Tensor x = leaf_of({1});
  Nesting::apply(x).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({1}));
}

TEST(Backward, InsideBackwardIsRefusedBeforeTheStackEnds) {
  for (const size_t kibibytes : {256, 1024})
    test::on_stack_of(kibibytes, [] {
      nest_backwards(20);
      EXPECT_ERROR(AutogradError, nest_backwards(100'000), "backward: calls inside each other are nested too deep");
      EXPECT_ERROR(AutogradError, nest_backwards(100'000), "KiB of this thread's stack of");
      nest_backwards(20);
    });
}

}  // namespace
}  // namespace cresset
