// In-place changes and views: PyTorch's rules, beyond what the parity table compares.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

TEST(Views, AChangeThroughAViewReachesTheBase) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor y = x * 1;
  Tensor v = y.select(0, 0);
  v.mul_(5);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({5, 1, 1}));
}

TEST(Views, SiblingsSeeTheChangeInTheirGradient) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor y = x * 1;
  Tensor a = y.slice(0, 0, 2), b = y.slice(0, 1, 3);
  a.mul_(10);
  EXPECT_EQ(b.grad_fn()->name(), "AsStridedBackward0");
  b.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({0, 10, 1}));
}

TEST(Views, AViewOfAViewChangesTheRoot) {
  Tensor x = leaf_of({1, 2, 3, 4}, {2, 2});
  Tensor y = x * 1;
  Tensor row = y.select(0, 1), element = row.select(0, 0);
  element.mul_(7);
  EXPECT_TRUE(row._base().is_same(y));
  (y * y).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 4, 2 * 3 * 49, 8}));
}

TEST(Views, AFillThroughAViewCutsTheGradient) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor y = x * 2;
  y.select(0, 1).fill_(9);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 0, 2}));
}

TEST(Views, ACopyIntoAViewGivesTheSourceItsGradient) {
  Tensor x = leaf_of({1, 2, 3}), w = leaf_of({5});
  Tensor y = x * 2;
  y.slice(0, 0, 2).copy_(w);  // broadcast
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({0, 0, 2}));
  EXPECT_EQ(values_of(w.grad()), Numbers({2}));
}

TEST(Views, ABaseWithoutHistoryGetsOne) {
  Tensor base = tensor_of({1, 2, 3}, {3}), w = leaf_of({4});
  Tensor v = base.slice(0, 0, 1);
  v.mul_(w);
  EXPECT_TRUE(base.requires_grad());
  EXPECT_FALSE(base.is_leaf());
  base.sum().backward();
  EXPECT_EQ(values_of(w.grad()), Numbers({1}));
}

TEST(Views, ATransposedBaseKeepsItsElementsApart) {
  Tensor x = leaf_of({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor y = (x * 1).t();  // strided base: a view itself, so the root is x * 1
  y.select(0, 0).mul_(3);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({3, 1, 1, 3, 1, 1}));
}

TEST(Views, ABaseWithHolesKeepsItsElementsApart) {
  Tensor memory = tensor_of({1, 2, 3, 4, 5, 6}, {6}, kDouble);
  auto changed = [&](const Tensor& w) {
    Tensor base = memory.clone().as_strided({2, 2}, {3, 2}, 0).detach();  // 1 3 / 4 6
    base.select(1, 0).mul_(w);
    base.select(0, 1).exp_();
    return base * base;
  };
  Tensor w = leaf_of({0.5, 0.25}, kDouble);
  EXPECT_TRUE(gradcheck(changed, w));
  EXPECT_TRUE(gradgradcheck(changed, w));
}

TEST(Views, AChangedViewHasSecondDerivatives) {
  auto changed = [](const Tensor& x) {
    Tensor y = x * x;
    y.slice(0, 0, 2).mul_(y.slice(0, 1, 3).clone());
    y.select(0, 2).exp_();
    return y * y;
  };
  Tensor x = leaf_of({0.5, -1.5, 0.8}, kDouble);
  EXPECT_TRUE(gradcheck(changed, x));
  EXPECT_TRUE(gradgradcheck(changed, x));
}

TEST(Views, EveryViewOpHasSecondDerivatives) {
  Tensor x = leaf_of({0.5, -1.5, 0.8, 1.2, 0.3, -0.7}, {2, 3}, kDouble);
  std::vector<std::function<Tensor(const Tensor&)>> views = {
      [](const Tensor& t) {
        return t.view({3, 2});
      },
      [](const Tensor& t) { return t.transpose(0, 1); },
      [](const Tensor& t) {
        return t.permute({1, 0});
      },
      [](const Tensor& t) { return t.select(1, 2); },
      [](const Tensor& t) { return t.slice(1, 0, 3, 2); },
      [](const Tensor& t) {
        return t.unsqueeze(0).expand({2, 2, 3});
      },
      [](const Tensor& t) { return t.unsqueeze(1).squeeze(1); },
      [](const Tensor& t) { return t.split(2, 1)[0]; },
      [](const Tensor& t) { return t.unbind(0)[1]; },
      [](const Tensor& t) {
        return t.as_strided({2, 2}, {3, 1}, 1);
      },
      [](const Tensor& t) {
        return t.as_strided({2, 2}, {1, 1}, 0);
      },  // overlapping
      [](const Tensor& t) { return t.t().reshape({6}); },
  };
  for (auto& view : views) {
    auto f = [&](const Tensor& t) { return view(t * t).exp(); };
    EXPECT_TRUE(gradcheck(f, x));
    EXPECT_TRUE(gradgradcheck(f, x));
  }
}

TEST(Views, InPlaceOnASecondOutputKeepsItsPlace) {
  // The tensor that is changed was output 1 of its node; the new node has output 0 only.
  struct Two : Function<Two> {
    static variable_list forward(AutogradContext*, const Tensor& x) { return {x * 2, x * 3}; }
    static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2 + g[1] * 3}; }
  };
  Tensor x = leaf_of({0.5}, kDouble);
  Tensor y = Two::apply(x)[1];
  y.exp_();
  Tensor g = grad({y.sum()}, {x}, {}, std::nullopt, true)[0];  // 3 e^(3x)
  EXPECT_NEAR(g.item<double>(), 3 * std::exp(1.5), 1e-12);
  EXPECT_NEAR(grad({g.sum()}, {x})[0].item<double>(), 9 * std::exp(1.5), 1e-12);
}

TEST(Views, RefusalsNameTheirReason) {
  Tensor x = leaf_of({1, 2, 3});
  EXPECT_ERROR(AutogradError, x.mul_(2), "a leaf Variable that requires grad is being used in an in-place operation");
  EXPECT_ERROR(AutogradError, x.select(0, 0).mul_(2), "a view of a leaf Variable that requires grad");
  Tensor y = x * 1;
  EXPECT_ERROR(AutogradError, y.unbind()[0].mul_(2), "returns multiple views");
  EXPECT_ERROR(AutogradError, y.split(2)[0].mul_(2), "returns multiple views");
  EXPECT_ERROR(Error, y.expand({2, 3}).mul_(2), "more than one element");
  Tensor quiet;
  {
    NoGradGuard no_grad;
    quiet = y.select(0, 0);
  }
  EXPECT_ERROR(AutogradError, quiet.mul_(2), "A view was created in no_grad mode");
  {
    InferenceMode inference;
    quiet = y.select(0, 0);
  }
  EXPECT_ERROR(AutogradError, quiet.mul_(2), "A view was created in inference mode");
  EXPECT_EQ(y._version(), 0u);  // nothing was written
}

TEST(Views, AChangedBaseIsRefusedToViewsThatCannotFollow) {
  Tensor y = leaf_of({1, 2, 3}) * 1;
  Tensor part = y.unbind()[0];
  y.mul_(2);
  EXPECT_FALSE(part.is_leaf());
  EXPECT_ERROR(AutogradError, part.grad_fn(), "its base or another view of its base has been modified inplace");
  EXPECT_ERROR(AutogradError, part * 2, "its base or another view of its base has been modified inplace");
}

TEST(Views, ASavedTensorThatWasChangedIsNoticed) {
  Tensor x = leaf_of({1, 2, 3});
  {
    Tensor h = x * 1, y = h.exp();
    y.mul_(2);  // exp saved its output
    EXPECT_ERROR(AutogradError, y.sum().backward(), "modified by an inplace operation");
  }
  {
    Tensor h = x * 1, y = h * h;
    h.add_(1);
    EXPECT_ERROR(AutogradError, y.sum().backward(), "is at version 1 (expected version 0)");
  }
  {
    Tensor h = x * 1, y = h * h;
    h.select(0, 0).add_(1);  // through a view
    EXPECT_ERROR(AutogradError, y.sum().backward(), "modified by an inplace operation");
  }
  {
    Tensor h = x * 1, y = h * h;
    h.detach().add_(1);  // detach shares the version
    EXPECT_ERROR(AutogradError, y.sum().backward(), "modified by an inplace operation");
  }
  {
    Tensor h = x * 1, y = h * h;
    h.data().fill_(0);  // .data does not: the gradient is silently that of the new values
    y.sum().backward();
    EXPECT_EQ(values_of(x.grad()), Numbers({0, 0, 0}));
  }
}

TEST(Views, InPlaceOnWhatIsNotSavedIsFine) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor h = x * 2;
  Tensor y = h + 1;
  h.mul_(3);  // add saves nothing
  (y + h).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({8, 8, 8}));
}

TEST(Views, ATensorMultipliedByItselfInPlace) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor y = x * 1;
  y.mul_(y);  // PyTorch refuses this in backward
  Tensor z = x * 1;
  z.slice(0, 0, 1).mul_(z.slice(0, 1, 2));  // and this, though it is another element
  (y + z).sum().backward();                 // x^2, and x0 x1 + x1 + x2
  EXPECT_EQ(values_of(x.grad()), Numbers({2 + 2, 4 + 2, 6 + 1}));
}

TEST(Views, ChainsOfInPlaceOpsOnOneTensor) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 1;
  for (int i = 0; i < 10; i++) h.mul_(2).add_(x);
  h.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({1024 + 1023, 1024 + 1023}));
}

}  // namespace
}  // namespace cresset
