// Gradients off, inference mode, detaching and exchanging data.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

TEST(GradMode, GuardsNestAndEndWithTheirScope) {
  Tensor x = leaf_of({1});
  {
    NoGradGuard off;
    EXPECT_FALSE((x * 2).requires_grad());
    {
      AutoGradMode on(true);
      EXPECT_TRUE((x * 2).requires_grad());
    }
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(GradMode, IsOffInBackwardAndOnWithCreateGraph) {
  Tensor x = leaf_of({1});
  std::vector<bool> seen;
  x.register_hook([&](const Tensor&) { seen.push_back(GradMode::is_enabled()); });
  (x * x).sum().backward();
  (x * x).sum().backward({}, std::nullopt, true);
  EXPECT_EQ(seen, std::vector<bool>({false, true}));
  EXPECT_TRUE(GradMode::is_enabled());
  x.mutable_grad().reset();
}

TEST(InferenceModeTensors, HaveNoVersionAndNoGraph) {
  Tensor x = leaf_of({1}), made;
  {
    InferenceMode inference;
    EXPECT_TRUE(InferenceMode::is_enabled());
    made = x * 2;
    EXPECT_FALSE(made.requires_grad());
    made.add_(1);
  }
  EXPECT_TRUE(made.is_inference());
  EXPECT_ERROR(AutogradError, made._version(), "do not track version counter");
  EXPECT_ERROR(AutogradError, made.add_(1), "Inplace update to inference tensor outside InferenceMode");
  EXPECT_ERROR(AutogradError, x * made, "cannot be saved for backward");
  EXPECT_ERROR(AutogradError, made.requires_grad_(), "Setting requires_grad=True on inference tensor");
  (x + made).sum().backward();  // nothing is saved
  EXPECT_EQ(values_of(x.grad()), Numbers({1}));
  Tensor normal = made.clone();
  EXPECT_FALSE(normal.is_inference());
  EXPECT_TRUE((normal * x).requires_grad());
}

TEST(Detach, CutsTheGraphAndSharesTheData) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2, d = h.detach();
  EXPECT_FALSE(d.requires_grad());
  EXPECT_TRUE(d.is_leaf());
  EXPECT_FALSE(d.is_view());
  EXPECT_EQ(d.data_ptr(), h.data_ptr());
  h.detach_();
  EXPECT_TRUE(h.is_leaf());
  EXPECT_FALSE(h.requires_grad());
  EXPECT_ERROR(AutogradError, (x * 1).select(0, 0).detach_(), "Can't detach views in-place");
}

TEST(Detach, InPlaceForgetsAKeptGradient) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 2, y = h.sum();
  h.retain_grad();
  h.detach_();
  y.backward();
  EXPECT_FALSE(h.retains_grad());
  EXPECT_FALSE(h.grad().defined());
}

TEST(SetData, ExchangesDataAndKeepsTheLeaf) {
  Tensor x = leaf_of({1, 2});
  x.set_data(tensor_of({3, 4, 5}, {3}));
  EXPECT_TRUE(x.requires_grad());
  (x * x).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 8, 10}));
  EXPECT_ERROR(TypeError, x.set_data(zeros({1}, kLong)), "wants a floating point or complex dtype");
  EXPECT_ERROR(Error, x.set_data(Tensor()), "undefined tensor");
  EXPECT_ERROR(Error, Tensor().set_data(x), "undefined tensor");
}

TEST(RequiresGrad, BelongsToFloatingAndComplexLeaves) {
  EXPECT_ERROR(AutogradError, zeros({1}, kLong).requires_grad_(), "floating point and complex");
  Tensor x = leaf_of({1});
  EXPECT_ERROR(AutogradError, (x * 1).requires_grad_(false), "leaf variables");
  x.requires_grad_(false);
  EXPECT_FALSE((x * 1).requires_grad());
}

TEST(OutForms, DoNotRecord) {
  Tensor x = leaf_of({1}), out = empty({1});
  EXPECT_ERROR(AutogradError, add_out(out, x, x), "don't support automatic differentiation");
  NoGradGuard off;
  add_out(out, x, x);
  EXPECT_EQ(values_of(out), Numbers({2}));
}

TEST(Undefined, TensorsAreRefusedKindly) {
  Tensor none;
  EXPECT_ERROR(Error, none.backward(), "output 0 is undefined");
  EXPECT_ERROR(Error, none.grad(), "undefined tensor");
  EXPECT_ERROR(Error, none.retain_grad(), "undefined tensor");
  EXPECT_ERROR(Error, none.name(), "undefined tensor");
  EXPECT_ERROR(Error, none.detach(), "undefined tensor");
  EXPECT_ERROR(Error, none.requires_grad_(), "undefined tensor");
  EXPECT_ERROR(Error, none.is_leaf(), "undefined tensor");
}

}  // namespace
}  // namespace cresset
