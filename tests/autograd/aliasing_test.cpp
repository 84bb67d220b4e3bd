// Gradients belong to one tensor each: changing one in place changes no other, nor what the user gave.
#include "expect.h"

namespace cresset {
namespace {

using namespace autograd;

// Runs, then overwrites each gradient in turn and looks at the others.
void expect_apart(const std::vector<Tensor>& leaves) {
  NoGradGuard no_grad;
  for (size_t i = 0; i < leaves.size(); i++) {
    std::vector<Numbers> before;
    for (const Tensor& leaf : leaves) before.push_back(values_of(leaf.grad()));
    leaves[i].mutable_grad().fill_(100 + static_cast<double>(i));
    for (size_t j = 0; j < leaves.size(); j++)
      EXPECT_TRUE(j == i || values_of(leaves[j].grad()) == before[j]) << "leaf " << j << " after changing " << i;
  }
}

TEST(Aliasing, OfTheSummandsOfAnAddition) {
  Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4});
  (a + b).sum().backward();
  EXPECT_EQ(values_of(a.grad()), Numbers({1, 1}));
  EXPECT_NE(a.grad().data_ptr(), b.grad().data_ptr());
  expect_apart({a, b});
}

TEST(Aliasing, OfManyThatShareOneGradient) {
  Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4}), c = leaf_of({5, 6}), d = leaf_of({5, 6});
  Tensor h = a + b;
  ((h + c) + (h + d)).sum().backward();
  EXPECT_EQ(values_of(a.grad()), Numbers({2, 2}));
  expect_apart({a, b, c, d});
}

TEST(Aliasing, OfViewsExpandedAndDetachedGradients) {
  Tensor a = leaf_of({1, 2, 3, 4}, {2, 2}), b = leaf_of({3, 4}), c = leaf_of({1}, IntArrayRef{});
  (a.t() + b + c).sum().backward();
  EXPECT_EQ(values_of(b.grad()), Numbers({2, 2}));
  EXPECT_EQ(values_of(c.grad()), Numbers({4}));
  expect_apart({a, b, c});
  EXPECT_EQ(a.grad().strides(), a.strides());  // not the transposed gradient's
}

TEST(Aliasing, OfTheGradientTheUserGave) {
  Tensor a = leaf_of({1, 2}), given = tensor_of({5, 6}, {2});
  a.backward(given);
  (a + 0).backward(given);
  EXPECT_EQ(values_of(given), Numbers({5, 6}));
  expect_apart({a});
  EXPECT_EQ(values_of(given), Numbers({5, 6}));
  a.mutable_grad().reset();
  (a + 0).backward(given);
  given.fill_(0);
  EXPECT_EQ(values_of(a.grad()), Numbers({5, 6}));
}

TEST(Aliasing, OfWhatGradReturns) {
  Tensor a = leaf_of({1, 2}), b = leaf_of({3, 4}), given = ones({2});
  Tensor h = a + b;
  variable_list g = grad({h}, {a, b}, {given}, /*retain_graph=*/true);  // may be one tensor, as in PyTorch
  h.backward(given);
  g[0].fill_(9);  // but never a leaf's
  EXPECT_EQ(values_of(a.grad()), Numbers({1, 1}));
  expect_apart({a, b});
}

TEST(Aliasing, OfSavedTensors) {
  Tensor a = leaf_of({1, 2}), w = tensor_of({3, 4}, {2});
  (a * w).backward(ones({2}));
  a.mutable_grad().fill_(0);
  EXPECT_EQ(values_of(w), Numbers({3, 4}));
  Tensor one = ones({2});
  (a * one).backward(one);
  a.mutable_grad().mul_(3);
  EXPECT_EQ(values_of(one), Numbers({1, 1}));
}

TEST(Aliasing, OfGradientsKeptByHooks) {
  Tensor a = leaf_of({1, 2});
  Tensor kept;
  a.register_hook([&](const Tensor& g) { kept = g; });
  (a * 2).sum().backward();
  kept.fill_(50);
  EXPECT_EQ(values_of(a.grad()), Numbers({2, 2}));
  (a * 2).sum().backward();
  EXPECT_EQ(values_of(a.grad()), Numbers({4, 4}));
  EXPECT_EQ(values_of(kept), Numbers({2, 2}));
}

TEST(Aliasing, OfSiblingsInTheAccumulationOfANode) {
  Tensor a = leaf_of({1, 2});
  Tensor h = a * 1;
  Tensor left = h + 0, right = h + 0;
  Tensor seen;
  left.register_hook([&](const Tensor& g) { seen = g; });  // the same tensor goes on to h, where right's is added
  (left + right).sum().backward();
  EXPECT_EQ(values_of(seen), Numbers({1, 1}));
  EXPECT_EQ(values_of(a.grad()), Numbers({2, 2}));
}

TEST(Aliasing, OfGradientsAccumulatedOverRuns) {
  Tensor a = leaf_of({1, 2});
  (a * 2).sum().backward();
  Tensor first = a.grad();
  (a * 2).sum().backward();
  EXPECT_TRUE(first.is_same(a.grad()));  // added in place, as in PyTorch
  (a * a).sum().backward({}, std::nullopt, /*create_graph=*/true);
  EXPECT_FALSE(first.is_same(a.grad()));  // with a graph never in place
  EXPECT_EQ(values_of(first), Numbers({4, 4}));
  a.mutable_grad().reset();
}

TEST(Aliasing, OfTheSameLeafTwice) {
  Tensor a = leaf_of({1, 2});
  (a + a).sum().backward();
  EXPECT_EQ(values_of(a.grad()), Numbers({2, 2}));
  Tensor b = leaf_of({1, 2});
  (b * b + b).sum().backward();
  EXPECT_EQ(values_of(b.grad()), Numbers({3, 5}));
}

}  // namespace
}  // namespace cresset
