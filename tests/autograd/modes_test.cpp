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
  EXPECT_ERROR(AutogradError, "do not track version counter", made._version());
  EXPECT_ERROR(AutogradError, "Inplace update to inference tensor outside InferenceMode", made.add_(1));
  EXPECT_ERROR(AutogradError, "cannot be saved for backward", x * made);
  EXPECT_ERROR(AutogradError, "Setting requires_grad=True on inference tensor", made.requires_grad_());
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
  EXPECT_ERROR(AutogradError, "can't detach views in-place", (x * 1).select(0, 0).detach_());
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
  EXPECT_ERROR(TypeError, "wants a floating point or complex dtype", x.set_data(zeros({1}, kLong)));
  EXPECT_ERROR(Error, "undefined tensor", x.set_data(Tensor()));
  EXPECT_ERROR(Error, "undefined tensor", Tensor().set_data(x));
}

TEST(RequiresGrad, BelongsToFloatingAndComplexLeaves) {
  EXPECT_ERROR(AutogradError, "floating point and complex", zeros({1}, kLong).requires_grad_());
  Tensor x = leaf_of({1});
  EXPECT_ERROR(AutogradError, "leaf variables", (x * 1).requires_grad_(false));
  x.requires_grad_(false);
  EXPECT_FALSE((x * 1).requires_grad());
}

TEST(OutForms, DoNotRecord) {
  Tensor x = leaf_of({1}), out = empty({1});
  EXPECT_ERROR(AutogradError, "don't support automatic differentiation", add_out(out, x, x));
  NoGradGuard off;
  add_out(out, x, x);
  EXPECT_EQ(values_of(out), Numbers({2}));
}

TEST(Undefined, TensorsAreRefusedKindly) {
  Tensor none;
  EXPECT_ERROR(Error, "output 0 is undefined", none.backward());
  EXPECT_ERROR(Error, "undefined tensor", none.grad());
  EXPECT_ERROR(Error, "undefined tensor", none.retain_grad());
  EXPECT_ERROR(Error, "undefined tensor", none.name());
  EXPECT_ERROR(Error, "undefined tensor", none.detach());
  EXPECT_ERROR(Error, "undefined tensor", none.requires_grad_());
  EXPECT_ERROR(Error, "undefined tensor", none.is_leaf());
}

}  // namespace
}  // namespace cresset
