// Sizes, steps and counts at the ends of int64: refused or right, never out of bounds.
#include <gtest/gtest.h>

#include <limits>

#include "cresset/cresset.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(Edge, WritingToWhatAnIndexReturnedChangesTheTensor) {
  Tensor x = ones({2, 2});
  x[0] = zeros({2});
  x[1] = 5;
  x.select(1, 1).select(0, 0) = Scalar(7);
  EXPECT_TRUE(std::vector<float>(x.data_ptr<float>(), x.data_ptr<float>() + 4) == (std::vector<float>{0, 7, 5, 5}));
  Tensor y = x;
  y = zeros({1});  // a handle is replaced, not written to
  EXPECT_EQ(x.numel(), 4);
}

TEST(Edge, AsStridedCannotReachBeyondItsStorage) {
  Tensor x = arange(6, kFloat);
  EXPECT_ERROR(ShapeError, x.as_strided({9}, {int64_t{1} << 61}), "as_strided");
  EXPECT_ERROR(ShapeError, x.as_strided({2}, {kHuge}, 1), "as_strided");
  EXPECT_ERROR(ShapeError, x.as_strided({5}, {1}, kHuge), "as_strided");
  EXPECT_ERROR(ShapeError, x.as_strided({7}, {1}), "out of bounds for storage of 24 bytes");
}

TEST(Edge, SlicesWithHugeStepsTakeOneElement) {
  Tensor x = arange(6, kFloat).view({2, 3}).slice(0, 0, 2, kHuge);
  EXPECT_EQ(x.sizes(), IntArrayRef({1, 3}));
  EXPECT_EQ(x.sum().item<float>(), 3);
  EXPECT_ERROR(IndexError, x.narrow(0, 1, kHuge), "exceeds dimension size");
  EXPECT_ERROR(IndexError, x.narrow(0, 0, -5), "length -5 is negative");
}

TEST(Edge, JoinedSizesAreCounted) {
  Tensor x = ones({1}).expand({int64_t{1} << 62});
  EXPECT_ERROR(ShapeError, cat({x, x, x, x}), "more than an int64 can count");
  EXPECT_ERROR(ValueError, zeros({0}).chunk(int64_t{1} << 32), "chunks of an empty dimension");
  EXPECT_EQ(ones({2}).chunk(kHuge).size(), 2u);
}

// Eight dimensions are more than a tensor's header holds.
TEST(Edge, ResultsAreLaidOutAsADenseFirstInput) {
  Tensor plain = arange(256, kFloat).view({2, 2, 2, 2, 2, 2, 2, 2});
  Tensor turned = plain.permute({7, 2, 5, 0, 1, 6, 3, 4});
  for (const Tensor& y : {turned + plain, turned.gt(plain), turned.to(kHalf) * plain}) {
    EXPECT_EQ(y.strides(), turned.strides());
    EXPECT_FALSE(y.is_contiguous());
    EXPECT_EQ(y.numel(), 256);
  }
  EXPECT_TRUE((turned + plain).contiguous().equal(turned.contiguous() + plain));
  EXPECT_TRUE((plain + turned).is_contiguous());
}

TEST(Edge, ResultsOfAWiderTypeAreCounted) {
  const int64_t side = int64_t{1} << 31;
  Tensor x = empty({side, side}, TensorOptions(kChar).device(kMeta)).t();
  EXPECT_EQ(x.neg().strides(), x.strides());
  EXPECT_ERROR(ShapeError, x.sqrt(), "larger than memory can be");
}

TEST(Edge, AbsurdNumbersOfThreadsAreRefused) {
  EXPECT_ERROR(ValueError, set_num_threads(100000), "expected at most 4096");
}

TEST(Edge, GradientsPassWhereTheInputIsNan) {
  const std::function<Tensor(const Tensor&)> functions[] = {
      [](const Tensor& x) { return relu(x); },       [](const Tensor& x) { return relu6(x); },
      [](const Tensor& x) { return hardtanh(x); },   [](const Tensor& x) { return elu(x, 2); },
      [](const Tensor& x) { return celu(x, 0.5); },  [](const Tensor& x) { return threshold(x, 0, 1); },
      [](const Tensor& x) { return elu(x, 2) * 1; }, [](const Tensor& x) { return relu(x * 1); }};
  for (const auto& function : functions)
    for (DType dtype : {kFloat, kDouble}) {
      Tensor x = full({70}, NAN, dtype).requires_grad_();
      function(x).sum().backward();
      EXPECT_TRUE(x.grad().equal(ones_like(x))) << (&function - functions);
    }
}

// y = leaky_relu(x); y += skip
TEST(Edge, ResultsOfActivationsMayBeChangedAsInPyTorch) {
  for (const auto& function : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& x) { return leaky_relu(x); }, [](const Tensor& x) { return hardtanh(x); },
           [](const Tensor& x) { return relu6(x); }, [](const Tensor& x) { return rrelu(x); }}) {
    Tensor x = tensor({-2.f, 0.5f}, requires_grad(true)), y = function(x);
    y.add_(10).sum().backward();
    EXPECT_EQ(x.grad()[1].item<float>(), 1);
    EXPECT_LT(x.grad()[0].item<float>(), 0.5f);
  }
}

TEST(Edge, NumbersThatADtypeCannotHoldAreRefused) {
  Tensor x = ones({3}), bytes = ones({3}, kByte), whole = ones({3}, kLong);
  const Scalar turned = std::complex<double>(1, 2);
  EXPECT_ERROR(TypeError, sub(whole, whole, true), "sub: Boolean alpha only supported for Boolean results");
  EXPECT_ERROR(TypeError, addr(zeros({3, 3}), x, x, true), "addr: Boolean beta only supported for Boolean results");
  for (const auto& function : std::vector<std::function<Tensor()>>{
           [&] { return elu(x, turned); }, [&] { return celu(x, turned); }, [&] { return leaky_relu(x, turned); },
           [&] { return hardshrink(x, turned); }, [&] { return softshrink(x, turned); },
           [&] { return softplus(x, turned); }, [&] { return rrelu(x, 0, turned); },
           [&] { return linalg_vector_norm(x, turned); }, [&] { return where(x.gt(0), bytes, 300); },
           [&] { return where(x.gt(0), 300, bytes); }, [&] { return addcmul(bytes, bytes, bytes, 300); },
           [&] { return index_add(bytes, 0, arange(3), bytes, 300); },
           [&] {
             return addmm(bytes, ones({3, 3}, kByte), ones({3, 3}, kByte), 300);
           },
           [&] {
             return addmv(bytes, ones({3, 3}, kByte), bytes, 1, -1.0);
           },
           [&] {
             return baddbmm(bytes, ones({1, 3, 3}, kByte), ones({1, 3, 3}, kByte), 1, 300);
           },
           [&] { return addr(bytes, bytes, bytes, 300); }, [&] { return zeros({3}).fill_(turned); },
           [&] { return scatter(x, 0, arange(3), turned); },
           [&] {
             return constant_pad_nd(x, {1, 1}, turned);
           }})
    EXPECT_ERROR(Error, function(), "without overflow");
}

TEST(Edge, ComplexNumbersWithoutAnImaginaryPartAreRealOnes) {
  const Scalar two = std::complex<double>(2, 0);
  for (DType dtype : {kFloat, kLong}) {
    EXPECT_TRUE(zeros({2}, dtype).fill_(two).equal(full({2}, 2, dtype)));
    EXPECT_TRUE(scatter(zeros({2}, dtype), 0, arange(2), two).equal(full({2}, 2, dtype)));
    EXPECT_TRUE(constant_pad_nd(zeros({0}, dtype), {1, 1}, two).equal(full({2}, 2, dtype)));
  }
}

TEST(Edge, NumbersBesideVectorsDoNotWidenABlockDiagonal) {
  EXPECT_EQ(block_diag({{ones({2}), ones({}, kDouble)}}).dtype(), kFloat);
  EXPECT_EQ(block_diag({{ones({2}, kInt), ones({}, kFloat)}}).dtype(), kFloat);
}

// As in PyTorch, where a bfloat16 input alone may have a weight of another dtype.
TEST(Edge, PreluOfBFloat16TakesAFloatWeight) {
  Tensor x = tensor({{-2.f, 1.f}}).to(kBFloat16), w = full({2}, 0.25f, requires_grad(true)), y = prelu(x, w);
  EXPECT_EQ(y.dtype(), kBFloat16);
  y.sum().backward();
  EXPECT_TRUE(y.detach().to(kFloat).equal(tensor({{-0.5f, 1.f}})));
  EXPECT_TRUE(w.grad().equal(tensor({-2.f, 0.f})));
  EXPECT_ERROR(TypeError, prelu(x.to(kFloat), w.to(kBFloat16)), "Type promoting not supported");
}

// As in PyTorch.
TEST(Edge, FractionsAreCutOffBesideIntegers) {
  Tensor whole = full({3}, 2, kLong), index = arange(3);
  EXPECT_TRUE(addcmul(whole, whole, whole, 1.5).equal(full({3}, 6, kLong)));
  EXPECT_TRUE(index_add(whole, 0, index, whole, 1.5).equal(full({3}, 4, kLong)));
}

TEST(Edge, BytesTimesAFactorAreCountedInTheResultsDtype) {
  EXPECT_TRUE(addr(full({2, 2}, 200, kByte), zeros({2}), zeros({2}), 2).equal(full({2, 2}, 400.f)));
}

TEST(Edge, ComplexPowersOfZeroAndInfinityNeedNoLogarithm) {
  Tensor z = tensor({0.f, INFINITY, NAN, -2.f}).to(kComplexFloat);
  EXPECT_TRUE(pow(z, 0).equal(ones_like(z)));
  EXPECT_TRUE(pow(z, Scalar(std::complex<double>(0))).equal(ones_like(z)));
  EXPECT_TRUE(pow(z.slice(0, 0, 2), 1).equal(z.slice(0, 0, 2)));
  EXPECT_TRUE(pow(z.slice(0, 3), 3).equal(full({1}, -8, kComplexFloat)));
}

TEST(Edge, ClampingBetweenNanGivesNan) {
  EXPECT_TRUE(hardtanh(ones({3}), NAN, 1).isnan().all().item<bool>());
  EXPECT_TRUE(hardtanh(ones({3}), -1, NAN).isnan().all().item<bool>());
}

TEST(Edge, PowersOfZeroAndMediansOfNothingHaveAGradient) {
  Tensor a = ones({2, 2}, requires_grad(true)), none = ones({0}, requires_grad(true));
  matrix_power(a, 0).sum().backward();
  EXPECT_TRUE(a.grad().equal(zeros({2, 2})));
  median(none).backward();
  EXPECT_EQ(none.grad().numel(), 0);
}

TEST(Edge, MeansOfNothingHaveASecondGradientOfZero) {
  Tensor none = ones({0}, requires_grad(true)), g = ones({}, requires_grad(true));
  Tensor first = autograd::grad({mean(none)}, {none}, {g}, std::nullopt, /*create_graph=*/true)[0];
  EXPECT_EQ(autograd::grad({first}, {g}, {zeros({0})})[0].item<float>(), 0);
}

TEST(Edge, AsStridedInPlaceMovesTheOffsetAndTheGradient) {
  Tensor x = arange(6, kFloat).requires_grad_(), y = x.clone();
  EXPECT_TRUE(y.as_strided_({2}, {2}, 1).equal(tensor({1.f, 3.f})));
  y.sum().backward();
  EXPECT_TRUE(x.grad().equal(tensor({0.f, 1.f, 0.f, 1.f, 0.f, 0.f})));
  Tensor view = arange(6, kFloat).view({2, 3})[1];
  EXPECT_TRUE(view.as_strided_({2}, {3}, 2).equal(tensor({2.f, 5.f})));
  EXPECT_EQ(ones({2, 3}).swapaxes_(0, 1).size(0), 3);
}

TEST(Edge, EmptyHooksAreRefused) {
  Tensor x = ones({1}, requires_grad(true));
  EXPECT_ERROR(AutogradError, x.register_hook(std::function<Tensor(const Tensor&)>()), "empty function");
  EXPECT_ERROR(AutogradError, x.register_post_accumulate_grad_hook({}), "empty function");
}

TEST(Edge, ArrayRefAtChecksItsIndex) {
  EXPECT_ERROR(IndexError, ones({2, 2}).sizes().at(7), "out of range for 2 elements");
}

}  // namespace
}  // namespace cresset
