// Users' own functions: libtorch's API, what they may return, and what is refused.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

struct Square : Function<Square> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    EXPECT_FALSE(GradMode::is_enabled());
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0] * 2};
  }
};

TEST(Function, GivesTheGradientOfItsBackward) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor y = Square::apply(x);
  EXPECT_NE(y.grad_fn()->name().find("Square"), std::string::npos);
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 4, 6}));
}

TEST(Function, CanBeDifferentiatedTwice) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor g = grad({Square::apply(x).sum()}, {x}, {}, std::nullopt, /*create_graph=*/true)[0];
  EXPECT_EQ(values_of(grad({(g * g).sum()}, {x})[0]), Numbers({8, 16, 24}));
}

TEST(Function, PassesGradcheck) {
  auto square = [](const Tensor& x) { return Square::apply(x); };
  EXPECT_TRUE(gradcheck(square, leaf_of({1, -2, 3}, kDouble)));
  EXPECT_TRUE(gradgradcheck(square, leaf_of({1, -2, 3}, kDouble)));
}

TEST(Function, RecordsNothingWithoutNeed) {
  EXPECT_FALSE(Square::apply(tensor_of({1}, {1})).requires_grad());
  NoGradGuard no_grad;
  EXPECT_FALSE(Square::apply(leaf_of({1})).requires_grad());
}

TEST(Function, SecondBackwardIsRefusedUnlessRetained) {
  Tensor x = leaf_of({1, 2});
  Tensor y = Square::apply(x).sum();
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({4, 8}));
  EXPECT_ERROR(AutogradError, y.backward(), "second time");
}

TEST(Function, NoticesThatASavedTensorWasChanged) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 1;
  Tensor y = Square::apply(h);
  h.mul_(2);
  EXPECT_ERROR(AutogradError, y.sum().backward(), "inplace operation");
}

struct SavesOutput : Function<SavesOutput> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->get_saved_variables()[0]};
  }
};

TEST(Function, MaySaveItsOutputAndDoesNotLeak) {
  int64_t before = memory_stats().allocated_bytes;
  {
    Tensor x = leaf_of({0.5, -1}, kDouble);
    Tensor y = SavesOutput::apply(x);  // never run backward: nothing else frees the saved output
    EXPECT_TRUE(gradgradcheck([](const Tensor& t) { return SavesOutput::apply(t); }, x));
  }
  EXPECT_EQ(memory_stats().allocated_bytes, before);
}

struct Everything : Function<Everything> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double scale, int64_t times, bool flip, std::string name,
                        std::optional<Tensor> bias) {
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["times"] = times;
    ctx->saved_data["flip"] = flip;
    ctx->saved_data["name"] = name;
    ctx->saved_data["mask"] = x.detach().relu();
    ctx->saved_data["sizes"] = std::vector<int64_t>{1, 2};
    ctx->saved_data["bias"] = bias.has_value();
    Tensor y = x * (scale * static_cast<double>(times));
    return bias ? y + *bias : y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    EXPECT_TRUE(ctx->saved_data["flip"].toBool());
    EXPECT_EQ(ctx->saved_data["name"].toStringRef(), "n");
    EXPECT_EQ(ctx->saved_data["mask"].toTensor().numel(), 2);
    EXPECT_EQ(ctx->saved_data["sizes"].toIntVector()[1], 2);
    EXPECT_TRUE(ctx->saved_data["none"].isNone());
    double factor = ctx->saved_data["scale"].toDouble() * static_cast<double>(ctx->saved_data["times"].toInt());
    return {g[0] * factor, Tensor(), Tensor(), Tensor(), Tensor(), ctx->saved_data["bias"].toBool() ? g[0] : Tensor()};
  }
};

TEST(Function, KeepsPlainDataAndTakesOptionalTensors) {
  Tensor x = leaf_of({1, 2}), b = leaf_of({1, 1});
  Everything::apply(x, 2.0, int64_t{3}, true, std::string("n"), std::optional<Tensor>(b)).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 6}));
  EXPECT_EQ(values_of(b.grad()), Numbers({1, 1}));
  Everything::apply(x, 2.0, int64_t{3}, true, std::string("n"), std::optional<Tensor>()).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({12, 12}));
}

TEST(Function, PlainDataOfAnotherTypeIsRefused) {
  IValue value(2.5);
  EXPECT_ERROR(TypeError, value.toInt(), "found double (expected int)");
  EXPECT_ERROR(TypeError, IValue().toTensor(), "found none (expected Tensor)");
  EXPECT_EQ(IValue(Scalar(3)).toScalar().toLong(), 3);
}

struct TwoOutputs : Function<TwoOutputs> {
  static inline bool materialize = true;
  static variable_list forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    ctx->set_materialize_grads(materialize);
    return {a + b, a * 2};
  }
  static variable_list backward(AutogradContext*, variable_list g) {
    EXPECT_EQ(g.size(), 2u);
    EXPECT_EQ(g[1].defined(), materialize);
    if (!g[1].defined()) return {g[0], g[0]};
    return {g[0] + g[1] * 2, g[0]};
  }
};

TEST(Function, UnusedOutputsGiveZerosOrUndefinedGradients) {
  for (bool materialize : {true, false}) {
    TwoOutputs::materialize = materialize;
    Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4});
    TwoOutputs::apply(a, b)[0].sum().backward();
    EXPECT_EQ(values_of(a.grad()), Numbers({1, 1}));
    EXPECT_EQ(values_of(b.grad()), Numbers({1, 1}));
  }
}

struct OneUseless : Function<OneUseless> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x) {
    Tensor useless = x.detach() * 0;
    ctx->mark_non_differentiable({useless});
    return {x * 2, useless};
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};

TEST(Function, MarkedOutputsStayOutOfTheGraph) {
  Tensor x = leaf_of({1});
  variable_list y = OneUseless::apply(x);
  EXPECT_TRUE(y[0].requires_grad());
  EXPECT_FALSE(y[1].requires_grad());
  y[0].sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2}));
}

struct DoubleInPlace : Function<DoubleInPlace> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    return x.mul_(2);
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 2}; }
};

TEST(Function, ChangesInPlaceWhatItMarksDirty) {
  Tensor x = leaf_of({1, 2});
  Tensor h = x * 3;
  Tensor y = DoubleInPlace::apply(h);
  EXPECT_TRUE(y.is_same(h));
  EXPECT_EQ(values_of(h), Numbers({6, 12}));
  h.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 6}));
}

TEST(Function, ChangesAViewInPlaceAndItsBaseKnows) {
  Tensor x = leaf_of({1, 2, 3});
  Tensor h = x * 1;
  Tensor v = h.slice(0, 0, 2);
  DoubleInPlace::apply(v);
  EXPECT_EQ(values_of(h), Numbers({2, 4, 3}));
  EXPECT_EQ(h.grad_fn()->name(), "CopySlices");
  h.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({2, 2, 1}));
}

TEST(Function, DirtyLeavesAndViewsOfLeavesAreRefused) {
  Tensor x = leaf_of({1, 2});
  EXPECT_ERROR(AutogradError, DoubleInPlace::apply(x), "leaf Variable");
  EXPECT_ERROR(AutogradError, DoubleInPlace::apply(x.slice(0, 0, 1)), "view of a leaf");
}

struct DirtyNotReturned : Function<DirtyNotReturned> {
  static Tensor forward(AutogradContext* ctx, Tensor x) {
    ctx->mark_dirty({x});
    x.mul_(2);
    return x.clone();
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};

TEST(Function, DirtyInputsMustBeReturned) {
  Tensor h = leaf_of({1}) * 1;
  EXPECT_ERROR(AutogradError, DirtyNotReturned::apply(h), "must all be outputs");
}

struct Identity : Function<Identity> {
  static Tensor forward(AutogradContext*, Tensor x) { return x; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0] * 10}; }
};

TEST(Function, AnInputReturnedAsItIsBecomesAView) {
  Tensor x = leaf_of({1, 2});
  Tensor y = Identity::apply(x);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(x.is_leaf());
  EXPECT_EQ(y.data_ptr(), x.data_ptr());
  y.sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({10, 10}));
  Tensor h = x * 1;
  EXPECT_ERROR(AutogradError, Identity::apply(h).mul_(2), "custom Function");
}

struct ReturnsView : Function<ReturnsView> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->saved_data["n"] = x.numel();
    return x.slice(0, 0, 1);
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0].expand({ctx->saved_data["n"].toInt()})};
  }
};

TEST(Function, AViewFromInsideIsNotChangedInPlace) {
  Tensor h = leaf_of({1, 2}) * 1;
  Tensor v = ReturnsView::apply(h);
  EXPECT_TRUE(v.is_view());
  EXPECT_ERROR(AutogradError, v.mul_(2), "custom Function");
}

template <int Which>
struct Wrong : Function<Wrong<Which>> {
  static Tensor forward(AutogradContext*, const Tensor& x, double) { return x * 2; }
  static variable_list backward(AutogradContext*, variable_list g) {
    switch (Which) {
      case 0:
        return {g[0]};
      case 1:
        return {g[0], g[0]};
      case 2:
        return {g[0].new_ones({5}), Tensor()};
      case 3:
        return {g[0], Tensor(), Tensor(), Tensor()};  // too many, but empty
      case 4:
        return {g[0].expand({3, 4, 2}), Tensor()};  // expanded: summed
      case 5:
        return {g[0].to(kDouble), Tensor()};
      case 6:
        return {g[0].to(kComplexFloat), Tensor()};
      default:
        return {Tensor(), Tensor()};
    }
  }
};

TEST(Function, RefusesGradientsThatDoNotFitAndFitsThoseThatCan) {
  auto run = [](auto which) {
    Tensor x = leaf_of({1, 2});
    Wrong<decltype(which)::value>::apply(x, 1.0).sum().backward();
    return x.grad();
  };
  EXPECT_ERROR(AutogradError, run(std::integral_constant<int, 0>{}),
               "incorrect number of gradients (expected 2, got 1)");
  EXPECT_ERROR(AutogradError, run(std::integral_constant<int, 1>{}), "was not a Variable");
  EXPECT_ERROR(AutogradError, run(std::integral_constant<int, 2>{}), "got [5] but expected shape compatible with [2]");
  EXPECT_EQ(values_of(run(std::integral_constant<int, 3>{})), Numbers({1, 1}));
  EXPECT_EQ(values_of(run(std::integral_constant<int, 4>{})), Numbers({12, 12}));
  EXPECT_EQ(run(std::integral_constant<int, 5>{}).dtype(), kFloat);
  EXPECT_ERROR(AutogradError, run(std::integral_constant<int, 6>{}), "expected a real dtype");
  EXPECT_FALSE(run(std::integral_constant<int, 7>{}).defined());
}

struct AsksWhatIsNeeded : Function<AsksWhatIsNeeded> {
  static inline std::vector<bool> needed;
  static Tensor forward(AutogradContext*, const Tensor& a, double, const Tensor& b) { return a + b; }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    needed = {ctx->needs_input_grad(0), ctx->needs_input_grad(1)};
    EXPECT_ERROR(IndexError, ctx->needs_input_grad(2), "out of range");
    return {g[0], Tensor(), g[0]};
  }
};

TEST(Function, KnowsWhichGradientsAreNeeded) {
  Tensor a = leaf_of({1}), b = leaf_of({1});
  AsksWhatIsNeeded::apply(a, 1.0, b.detach()).sum().backward();
  EXPECT_EQ(AsksWhatIsNeeded::needed, std::vector<bool>({true, false}));
  grad({AsksWhatIsNeeded::apply(a, 1.0, b).sum()}, {b});  // a wants one, but not in this run
  EXPECT_EQ(AsksWhatIsNeeded::needed, std::vector<bool>({false, true}));
}

struct RunsBackwardInside : Function<RunsBackwardInside> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    AutoGradMode on(true);
    Tensor x = ctx->get_saved_variables()[0].detach().requires_grad_();
    (x * x).sum().backward();
    return {x.grad() * g[0]};
  }
};

TEST(Function, MayRunBackwardInsideBackward) {
  Tensor x = leaf_of({1, 2});
  (RunsBackwardInside::apply(x) * 3).sum().backward();
  EXPECT_EQ(values_of(x.grad()), Numbers({6, 12}));
}

}  // namespace
}  // namespace cresset
