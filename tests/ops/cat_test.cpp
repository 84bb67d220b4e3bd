// cat, stack and chunk: shapes, promotion, layouts, gradients, errors.
#include "cresset/ops/cat.h"

#include <gtest/gtest.h>

#include "cresset/cresset.h"
#include "tests/support/message_when.h"

namespace cresset::cat_test {
namespace {

using test::expect_contains;
using test::message_when;
using Floats = std::vector<float>;

Tensor counting(IntArrayRef sizes, float from = 0) {
  Tensor y = empty(sizes);
  for (int64_t i = 0; i < y.numel(); i++) y.data_ptr<float>()[i] = from + static_cast<float>(i);
  return y;
}
Floats values_of(const Tensor& x) {
  Tensor dense = x.detach().to(kFloat).contiguous();
  const float* p = dense.data_ptr<float>();
  return {p, p + dense.numel()};
}

TEST(Cat, JoinsAlongEveryDimension) {
  Tensor a = counting({2, 2}), b = counting({2, 1}, 10), c = counting({1, 2}, 20);
  EXPECT_EQ(values_of(cat({a, b}, 1)), (Floats{0, 1, 10, 2, 3, 11}));
  EXPECT_EQ(values_of(cat({a, b}, -1)), (Floats{0, 1, 10, 2, 3, 11}));
  EXPECT_EQ(values_of(cat({a, c})), (Floats{0, 1, 2, 3, 20, 21}));
}

TEST(Cat, StridedInputsGiveWhatContiguousOnesGive) {
  Tensor a = counting({3, 4}).t(), b = counting({4, 5}).index({indexing::Slice(), indexing::Slice(0, 5, 2)});
  EXPECT_EQ(values_of(cat({a, b}, 1)), values_of(cat({a.contiguous(), b.contiguous()}, 1)));
}

TEST(Cat, PromotesDtypes) {
  Tensor ints = ones({2}, kInt), floats = counting({2});
  Tensor y = cat({ints, floats});
  EXPECT_EQ(y.dtype(), kFloat);
  EXPECT_EQ(values_of(y), (Floats{1, 1, 0, 1}));
}

TEST(Cat, SkipsTheLegacyEmptyTensor) {
  Tensor a = counting({2, 2});
  EXPECT_EQ(values_of(cat({empty({0}), a}, 1)), values_of(a));
  EXPECT_EQ(cat({empty({0}), empty({0})}, 1).sizes(), IntArrayRef({0}));
  EXPECT_EQ(cat({empty({0, 3}), empty({2, 3})}).sizes(), IntArrayRef({2, 3}));
}

TEST(Cat, IsChannelsLastOnlyIfEveryInputIs) {
  Tensor plain = counting({2, 3, 4, 5}), last = plain.contiguous(MemoryFormat::ChannelsLast);
  for (int64_t dim = 0; dim < 4; dim++) {
    Tensor y = cat({last, last}, dim);
    EXPECT_TRUE(y.is_contiguous(MemoryFormat::ChannelsLast));
    EXPECT_EQ(values_of(y), values_of(cat({plain, plain}, dim)));
  }
  EXPECT_TRUE(cat({last, plain}, 1).is_contiguous());
}

TEST(Cat, LargeResultsAreTheSameOnEveryThreadCount) {
  Tensor a = counting({300, 70}), b = counting({300, 1}, 5), c = counting({300, 333}, 9);
  const int before = get_num_threads();
  set_num_threads(1);
  Tensor one = cat({a, b, c}, 1);
  set_num_threads(4);
  EXPECT_EQ(values_of(cat({a, b, c}, 1)), values_of(one));
  set_num_threads(before);
  EXPECT_EQ(values_of(one[7].narrow(0, 70, 1)), values_of(b[7]));
}

TEST(Cat, OutFormWritesIntoTheGivenTensorAndConverts) {
  Tensor out = empty({4}, kDouble), a = counting({2});
  cat_out(out, {a, a});
  EXPECT_EQ(values_of(out), (Floats{0, 1, 0, 1}));
  expect_contains(message_when([&] {
                    Tensor ints = empty({4}, kLong);
                    cat_out(ints, {a, a});
                  }),
                  "can't be cast");
  expect_contains(message_when([&] {
                    Tensor room = counting({4}), part = room.narrow(0, 0, 2);
                    cat_out(room, {part, a});
                  }),
                  "single memory location");
}

TEST(Cat, GradientIsCutIntoParts) {
  Tensor a = counting({2, 2}).requires_grad_(), b = ones({2, 1}, kDouble).requires_grad_();
  Tensor skipped = empty({0}).requires_grad_();
  Tensor y = cat({a, skipped, b}, 1);
  EXPECT_EQ(y.grad_fn()->name(), "CatBackward0");
  y.backward(counting({2, 3}).to(kDouble));
  EXPECT_EQ(values_of(a.grad()), (Floats{0, 1, 3, 4}));
  EXPECT_EQ(values_of(b.grad()), (Floats{2, 5}));
  EXPECT_EQ(b.grad().dtype(), kDouble);
  EXPECT_EQ(skipped.grad().sizes(), IntArrayRef({0}));
}

TEST(Cat, GradientOfTheSameTensorTwiceAddsUp) {
  Tensor a = counting({2}).requires_grad_();
  cat({a, a, a, a, a, a, a, a}).backward(counting({16}));
  EXPECT_EQ(values_of(a.grad()), (Floats{56, 64}));
}

TEST(Cat, SecondDerivativeJoinsAgain) {
  Tensor a = counting({2}).requires_grad_(), g = counting({4}, 1).requires_grad_();
  Tensor da = autograd::grad({cat({a, a.detach()})}, {a}, {g}, true, true)[0];
  EXPECT_EQ(values_of(autograd::grad({da}, {g}, {counting({2}, 3)})[0]), (Floats{3, 4, 0, 0}));
}

TEST(Cat, RefusesWhatDoesNotFit) {
  expect_contains(message_when([] { cat({}); }), "expected a non-empty list of Tensors");
  expect_contains(message_when([] { cat({ones({})}); }),
                  "zero-dimensional tensor (at position 0) cannot be concatenated");
  expect_contains(message_when([] {
                    cat({ones({2, 3}), ones({2})});
                  }),
                  "must have same number of dimensions: got 2 and 1");
  expect_contains(message_when([] {
                    cat({ones({2, 3}), ones({2, 4})});
                  }),
                  "must match except in dimension 0. Expected size 3 but got size 4 for tensor number 1");
  expect_contains(message_when([] { cat({ones({2}), Tensor()}); }), "tensor 1 of the list is undefined");
  EXPECT_THROW(cat({ones({2})}, 1), IndexError);
}

TEST(Stack, MakesANewDimension) {
  Tensor a = counting({2}), b = counting({2}, 5);
  EXPECT_EQ(stack({a, b}).sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(values_of(stack({a, b}, -1)), (Floats{0, 5, 1, 6}));
  EXPECT_EQ(values_of(stack({ones({}), ones({})})), (Floats{1, 1}));
  expect_contains(message_when([] { stack({ones({2}), ones({3})}); }), "got [2] at entry 0 and [3] at entry 1");
  expect_contains(message_when([] { stack({}); }), "non-empty TensorList");
}

TEST(Chunk, GivesAtMostThatManyViews) {
  Tensor x = counting({7});
  std::vector<Tensor> three = x.chunk(3), five = x.chunk(5);
  EXPECT_EQ(three.size(), 3u);
  EXPECT_EQ(values_of(three[2]), (Floats{6}));
  EXPECT_EQ(five.size(), 4u);
  EXPECT_TRUE(three[0].is_alias_of(x));
  EXPECT_EQ(empty({0, 2}).chunk(3).size(), 3u);
  expect_contains(message_when([&] { x.chunk(0); }), "greater than 0, got: 0");
}

}  // namespace
}  // namespace cresset::cat_test
