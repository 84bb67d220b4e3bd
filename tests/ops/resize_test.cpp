// resize_ beyond the memory that is there, and its refusals; transposes as views; out forms that change out's shape.
#include <gtest/gtest.h>

#include "cresset/core/from_blob.h"
#include "cresset/ops/all.h"
#include "tests/ops/matrix_reference.h"
#include "tests/support/array.h"

namespace cresset {
namespace {

using test::same_bits;
using testing::expect_error;

TEST(Resize, SmallerKeepsTheMemoryAndGrowingBackFindsItAgain) {
  Tensor x = arange(12, kFloat).view({3, 4});
  void* memory = x.data_ptr();
  EXPECT_TRUE(x.resize_({2, 2}).is_same(x));
  EXPECT_EQ(x.data_ptr(), memory);
  EXPECT_TRUE(same_bits(x, arange(4, kFloat).view({2, 2})));
  x.resize_({12});
  EXPECT_EQ(x.data_ptr(), memory);
  EXPECT_TRUE(same_bits(x, arange(12, kFloat)));
}

TEST(Resize, LargerMemoryBeginsWithTheOldValues) {
  for (int64_t n : {6, 5000}) {
    Tensor x = arange(n, kLong), other = x.view({n});
    x.resize_({2 * n + 1});
    EXPECT_EQ(x.numel(), 2 * n + 1);
    EXPECT_TRUE(same_bits(x.narrow(0, 0, n), arange(n, kLong)));
    EXPECT_TRUE(same_bits(other, arange(n, kLong))) << "other tensors keep the old memory";
  }
}

TEST(Resize, CountsFromTheOffsetAndDropsStrides) {
  Tensor x = arange(6, kFloat).slice(0, 2);
  EXPECT_TRUE(same_bits(x.resize_({3}), tensor({2.f, 3.f, 4.f})));
  EXPECT_EQ(x.storage_offset(), 2);
  Tensor y = arange(6, kFloat).view({2, 3}).t();
  EXPECT_EQ(y.resize_({3, 2}).strides().vec(), (std::vector<int64_t>{1, 3})) << "the same shape: nothing happens";
  EXPECT_EQ(y.resize_({2, 3}).strides().vec(), (std::vector<int64_t>{3, 1}));
}

TEST(Resize, TakesALayout) {
  Tensor x = zeros({2, 3, 4, 5});
  x.resize_({2, 3, 4, 5}, MemoryFormat::ChannelsLast);
  EXPECT_EQ(x.strides().vec(), (std::vector<int64_t>{60, 1, 15, 3}));
  Tensor y = zeros({1});
  y.resize_as_(x, MemoryFormat::Preserve);
  EXPECT_EQ(y.strides().vec(), x.strides().vec());
  EXPECT_EQ(y.resize_as_(zeros({2})).sizes().vec(), (std::vector<int64_t>{2}));
}

TEST(Resize, Refusals) {
  Tensor wanting = zeros({3}, TensorOptions().requires_grad(true));
  expect_error<AutogradError>([&] { wanting.resize_({2}); }, "resize_: cannot resize variables that require grad");
  expect_error<AutogradError>([&] { wanting.clone().resize_as_(wanting); },
                              "cannot resize variables that require grad");
  float memory[4] = {1, 2, 3, 4};
  Tensor borrowed = from_blob(memory, {4});
  EXPECT_EQ(borrowed.resize_({2}).numel(), 2);
  expect_error<ShapeError>([&] { borrowed.resize_({5}); },
                           "resize_: found memory of 16 bytes for shape [5], which needs 20: Trying to resize storage");
  EXPECT_EQ(borrowed.numel(), 2);
}

TEST(MatrixTransposes, AreViews) {
  Tensor x = arange(6, kFloat).view({2, 3});
  for (const Tensor& y : {x.mT(), x.mH(), x.H()}) {
    EXPECT_TRUE(y.is_alias_of(x));
    EXPECT_TRUE(same_bits(y, x.t()));
  }
  Tensor z = complex(x, x);
  EXPECT_TRUE(z.mT().is_alias_of(z));
  EXPECT_TRUE(same_bits(z.H(), conj(z).t()));
}

TEST(OutForms, MakersGiveOutItsShapeAndKeepItsDtype) {
  Tensor out = empty({0}, kInt);
  EXPECT_TRUE(zeros_out(out, {2, 3}).is_same(out));
  EXPECT_TRUE(same_bits(out, zeros({2, 3}, kInt)));
  uint32_t version = out._version();
  EXPECT_TRUE(same_bits(full_out(out, {2, 3}, 7), full({2, 3}, 7, kInt)));
  EXPECT_GT(out._version(), version);
  EXPECT_EQ(ones_out(out, {4}).sizes().vec(), (std::vector<int64_t>{4}));
  EXPECT_EQ(empty_out(out, {2, 2}).sizes().vec(), (std::vector<int64_t>{2, 2}));
  expect_error<ValueError>([&] { empty_out(out, {2}, MemoryFormat::Contiguous); }, "found a memory_format beside out");
  Tensor wanting = zeros({2}, TensorOptions().requires_grad(true));
  expect_error<AutogradError>([&] { zeros_out(wanting, {2}); }, "zeros");
}

TEST(OutForms, RandomOnesDrawWhatTheOthersDraw) {
  Generator generator = default_generator();
  auto same = [&](const auto& make, const auto& fill, DType dtype) {
    generator.set_current_seed(5);
    Tensor wanted = make(), out = empty({0}, dtype);
    generator.set_current_seed(5);
    EXPECT_TRUE(same_bits(fill(out), wanted));
  };
  same([&] { return rand({3, 4}, generator); }, [&](Tensor& out) { return rand_out(out, {3, 4}, generator); }, kFloat);
  same([&] { return randn({3}, generator); }, [&](Tensor& out) { return randn_out(out, {3}, generator); }, kFloat);
  same([&] { return randint(9, {5}, generator); }, [&](Tensor& out) { return randint_out(out, 9, {5}, generator); },
       kLong);
  same([&] { return randint(3, 9, {5}, generator); },
       [&](Tensor& out) { return randint_out(out, 3, 9, {5}, generator); }, kLong);
  same([&] { return randperm(6, generator); }, [&](Tensor& out) { return randperm_out(out, 6, generator); }, kLong);
}

TEST(OutForms, AnInputIsNotResized) {
  Tensor a = ones({5}), b = full({}, 2.f);
  expect_error<ShapeError>([&] { add_out(b, a, b); },
                           "add_out: output with shape [] doesn't match the broadcast shape [5], and is an input");
  EXPECT_EQ(b.dim(), 0);
  EXPECT_TRUE(same_bits(add_out(a, a, b), full({5}, 3.f)));
  Tensor m = ones({2, 3});
  expect_error<Error>([&] { mm_out(m, m, ones({3, 4})); }, "single memory location");
  EXPECT_EQ(m.sizes().vec(), (std::vector<int64_t>{2, 3}));
}

// inverse, cholesky and others make their results before they write them.
TEST(OutForms, ResultsThatAreCopiedMayGoIntoAnInput) {
  Tensor a = mul(eye(3), 4);
  EXPECT_TRUE(same_bits(linalg_inv_out(a, a), mul(eye(3), 0.25)));
  Tensor m = eye(2), v = ones({2});
  EXPECT_TRUE(same_bits(addr_out(m, m, v, v), add(eye(2), 1)));
  Tensor wide = empty({0}, kDouble);
  EXPECT_TRUE(same_bits(linalg_pinv_out(wide, mul(eye(2), 2)), mul(eye(2, kDouble), 0.5)));
  Tensor whole = empty({2, 2}, kLong);
  expect_error<TypeError>([&] { addr_out(whole, m, v, v); }, "addr_out: result type Float can't be cast");
}

TEST(OutForms, ResizedMatricesHaveTheStridesOfTheFunctionsResult) {
  Tensor a = mul(eye(3), 4), q = empty({0}), r = empty({7}), rows = empty({3, 3});
  EXPECT_EQ(linalg_inv_out(q, a).strides(), linalg_inv(a).strides());
  EXPECT_FALSE(q.is_contiguous());
  EXPECT_EQ(linalg_cholesky_out(r, a).strides(), linalg_cholesky(a).strides());
  EXPECT_TRUE(linalg_inv_out(rows, a).is_contiguous());
  Tensor halves = empty({0});
  EXPECT_TRUE(quantile_out(halves, a, full({2}, 0.5f), 1).is_contiguous());
}

TEST(OutForms, ListsRefuseOverlapAndGradients) {
  Tensor a = ones({2, 2}), b = ones({2, 2}), out = empty({0});
  EXPECT_TRUE(same_bits(chain_matmul_out(out, {a, b}), full({2, 2}, 2.f)));
  EXPECT_TRUE(same_bits(chain_matmul_out(out, {out, b}), full({2, 2}, 4.f)));
  expect_error<Error>([&] { vstack_out(a, {a, b}); }, "vstack");
  b.requires_grad_();
  expect_error<AutogradError>([&] { linalg_multi_dot_out(out, {a, b}); }, "linalg_multi_dot");
}

}  // namespace
}  // namespace cresset
