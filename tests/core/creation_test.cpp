// Literals, ranges and their out forms, and the inputs they refuse.
#include "cresset/ops/creation.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

template <class T>
std::vector<T> values(const Tensor& x) {
  Tensor dense = x.contiguous();
  const T* data = dense.data_ptr<T>();
  return std::vector<T>(data, data + dense.numel());
}

TEST(Literal, NumbersAndTheirDtypes) {
  EXPECT_EQ(tensor(3).dtype(), kLong);
  EXPECT_EQ(tensor(3.0).dtype(), kFloat);
  EXPECT_EQ(tensor(3.f).dtype(), kFloat);
  EXPECT_EQ(tensor(true).dtype(), kBool);
  EXPECT_EQ(tensor(uint8_t{3}).dtype(), kByte);
  EXPECT_EQ(tensor(Half(1.f)).dtype(), kHalf);
  EXPECT_EQ(tensor(std::complex<float>(1, 2)).dtype(), kComplexFloat);
  EXPECT_EQ(tensor(3.0).dim(), 0);
  EXPECT_EQ(tensor(3.0).item<float>(), 3.f);
  EXPECT_EQ(tensor(3, kDouble).dtype(), kDouble);
}

TEST(Literal, BracesNestToAnyDepth) {
  EXPECT_EQ(values<int64_t>(tensor({1, 2, 3})), (std::vector<int64_t>{1, 2, 3}));
  Tensor matrix = tensor({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(matrix.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(values<float>(matrix), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor({{{{1}}, {{2}}}}).sizes(), IntArrayRef({1, 2, 1, 1}));
  EXPECT_EQ(tensor({{1}}).sizes(), IntArrayRef({1, 1}));
  EXPECT_EQ(values<bool>(tensor({{true}, {false}})), (std::vector<bool>{true, false}));
}

TEST(Literal, EmptyLists) {
  EXPECT_EQ(tensor({}).sizes(), IntArrayRef({0}));
  EXPECT_EQ(tensor({}).dtype(), kFloat);
  EXPECT_EQ(tensor({{}, {}}).sizes(), IntArrayRef({2, 0}));
}

TEST(Literal, VectorsAndArrays) {
  EXPECT_EQ(tensor(std::vector<int>{1, 2}).dtype(), kLong);
  EXPECT_EQ(tensor(std::vector<double>{1, 2}).dtype(), kFloat);
  EXPECT_EQ(values<int64_t>(tensor(std::vector<int64_t>{5, 6})), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(values<bool>(tensor(std::vector<bool>{true, false, true})), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(tensor(std::vector<float>{}).numel(), 0);
  EXPECT_EQ(values<int16_t>(tensor(std::vector<double>{1.7, -2.7}, kShort)), (std::vector<int16_t>{1, -2}));
  EXPECT_EQ(tensor(ArrayRef<uint8_t>({1, 2})).dtype(), kByte);
  EXPECT_EQ(tensor(std::vector<Half>{Half(1.5f)}).dtype(), kHalf);
}

TEST(Literal, OptionsApply) {
  EXPECT_TRUE(tensor({1., 2.}, requires_grad()).requires_grad());
  EXPECT_TRUE(tensor({1., 2.}, kMeta).is_meta());
}

TEST(Literal, RaggedMixedAndOversizedAreRefused) {
  EXPECT_ERROR(ShapeError, tensor({{1, 2}, {3}}),
               "Expected all sub-lists to have sizes: [2] (e.g. {1, 2}), but got sub-list {3} with sizes: [1]");
  EXPECT_ERROR(ShapeError, tensor({{{1}}, {{1}, {2}}}), "sub-list");
  EXPECT_ERROR(TypeError, tensor({{1, 2}, {3., 4.}}), "same scalar type: Int, but got element of scalar type: Double");
  EXPECT_ERROR(ValueError, tensor({1, 300}, kByte), "uint8_t without overflow: found 300");
  EXPECT_ERROR(ValueError, tensor(std::vector<double>{1e10}, kInt), "int32_t");
}

TEST(Arange, RefusesWhatHasNoEnd) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_ERROR(ValueError, arange(0, 5, 0), "step must be nonzero");
  EXPECT_ERROR(ValueError, arange(0, 5, 0.5, kLong), "step must be nonzero");
  EXPECT_ERROR(ValueError, arange(5, 0), "inconsistent with step sign");
  EXPECT_ERROR(ValueError, arange(0, 5, -1), "inconsistent with step sign");
  EXPECT_ERROR(ValueError, arange(0.0, inf), "unsupported range");
  EXPECT_ERROR(ValueError, arange(std::nan(""), 1.0), "unsupported range");
  EXPECT_ERROR(TypeError, arange(5, kBool), "bool");
  EXPECT_ERROR(TypeError, arange(5, kComplexFloat), "complex64");
  EXPECT_ERROR(Error, arange(0, std::numeric_limits<int64_t>::max()), "memory");
  EXPECT_ERROR(Error, arange(0.0, 1e300, 1e-300), "");
}

TEST(Ranges, OtherRefusals) {
  EXPECT_ERROR(ValueError, linspace(0, 1, -1), "number of steps must be non-negative; found -1");
  EXPECT_ERROR(TypeError, linspace(std::complex<double>(0, 1), 1, 3, kFloat), "complex");
  EXPECT_ERROR(ShapeError, eye(-1), "greater or equal to 0");
  EXPECT_ERROR(ShapeError, eye(2, -3), "found 2 and -3");
}

TEST(Ranges, LinspaceEndsExactly) {
  Tensor x = linspace(0.1, 0.7, 9, kDouble);
  EXPECT_EQ(x.select(0, 0).item<double>(), 0.1);
  EXPECT_EQ(x.select(0, 8).item<double>(), 0.7);
}

TEST(Ranges, OutFormsResizeAndKeepTheDtype) {
  Tensor out = cresset::empty({0}, kInt);
  arange_out(out, 4);
  EXPECT_EQ(values<int32_t>(out), (std::vector<int32_t>{0, 1, 2, 3}));
  Tensor strided = zeros({3, 2}, kDouble).select(1, 0);
  linspace_out(strided, 1, 3, 3);
  EXPECT_EQ(values<double>(strided), (std::vector<double>{1, 2, 3}));
  Tensor square = zeros({2, 2}, kFloat).t();
  eye_out(square, 2);
  EXPECT_EQ(values<float>(square), (std::vector<float>{1, 0, 0, 1}));
}

TEST(Ranges, LargeOnesRunInParallelWithTheSameValues) {
  const int64_t n = 300000;
  Tensor x = arange(n);
  auto at = x.accessor<int64_t, 1>();
  for (int64_t i = 0; i < n; i += 997) ASSERT_EQ(at[i], i);
  EXPECT_EQ(at[n - 1], n - 1);
}

TEST(Ranges, OnMetaOnlyTheShapeIsMade) {
  EXPECT_EQ(arange(0, 10, 3, kMeta).sizes(), IntArrayRef({4}));
  EXPECT_EQ(linspace(0, 1, 7, kMeta).sizes(), IntArrayRef({7}));
  EXPECT_EQ(eye(2, 3, kMeta).sizes(), IntArrayRef({2, 3}));
}

TEST(Ranges, MayWantGradients) { EXPECT_TRUE(arange(3, TensorOptions(kFloat).requires_grad(true)).requires_grad()); }

}  // namespace
}  // namespace cresset
