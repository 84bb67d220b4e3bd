// What a tensor knows of itself: geometry, contiguity, values, and what it refuses.
#include "cresset/core/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "cresset/core/from_blob.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(Tensor, KnowsItsGeometry) {
  Tensor x = cresset::empty({2, 3, 4}, kDouble);
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.sizes(), IntArrayRef({2, 3, 4}));
  EXPECT_EQ(x.strides(), IntArrayRef({12, 4, 1}));
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.stride(0), 12);
  EXPECT_EQ(x.itemsize(), 8u);
  EXPECT_EQ(x.nbytes(), 192u);
  EXPECT_EQ(x.storage_offset(), 0);
  EXPECT_EQ(x.slice(1, 1).storage_offset(), 4);
  EXPECT_TRUE(x.is_floating_point());
  EXPECT_FALSE(x.is_complex());
  EXPECT_EQ(x.toString(), "CPUDoubleType");
}

TEST(Tensor, ZeroDimensionalAndEmpty) {
  Tensor number = cresset::empty({});
  EXPECT_EQ(number.dim(), 0);
  EXPECT_EQ(number.numel(), 1);
  Tensor none = cresset::empty({3, 0, 2});
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.strides(), IntArrayRef({2, 2, 1}));
  EXPECT_TRUE(none.is_contiguous());
}

TEST(Tensor, ManyDimensions) {
  std::vector<int64_t> sizes(20, 1);
  sizes[3] = 5;
  Tensor x = ones(sizes);
  EXPECT_EQ(x.dim(), 20);
  EXPECT_EQ(x.transpose(3, 19).size(19), 5);
  EXPECT_EQ(x.sum().item<float>(), 5.f);
}

TEST(Tensor, ContiguityFollowsTheStrides) {
  Tensor x = cresset::empty({2, 3});
  EXPECT_FALSE(x.t().is_contiguous());
  EXPECT_TRUE(x.t().is_non_overlapping_and_dense());
  EXPECT_FALSE(x.slice(1, 0, 2).is_non_overlapping_and_dense());
  EXPECT_FALSE(x.select(0, 0).view({1, 3}).expand({4, 3}).is_contiguous());
  EXPECT_TRUE(cresset::empty_strided({1, 3}, {77, 1}).is_contiguous()) << "the stride of a size of one does not matter";
}

TEST(Tensor, MemoryFormats) {
  Tensor x = cresset::empty({2, 3, 4, 5}, {}, MemoryFormat::ChannelsLast);
  EXPECT_EQ(x.strides(), IntArrayRef({60, 1, 15, 3}));
  EXPECT_TRUE(x.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_FALSE(x.is_contiguous());
  EXPECT_EQ(x.suggest_memory_format(), MemoryFormat::ChannelsLast);
  EXPECT_EQ(zeros_like(x).strides(), x.strides());
  EXPECT_TRUE(x.contiguous().is_contiguous());
  Tensor video = cresset::empty({1, 2, 3, 4, 5}, {}, MemoryFormat::ChannelsLast3d);
  EXPECT_EQ(video.suggest_memory_format(), MemoryFormat::ChannelsLast3d);
  EXPECT_ERROR(ShapeError, cresset::empty({2, 3}, {}, MemoryFormat::ChannelsLast), "4 or 5 dimensions");
}

TEST(Tensor, SizesThatCannotBeAreRefused) {
  EXPECT_ERROR(ShapeError, cresset::empty({2, -1}), "negative");
  EXPECT_ERROR(ShapeError, cresset::empty({kHuge, 2}), "larger than memory");
  EXPECT_ERROR(ShapeError, cresset::empty({0, kHuge, kHuge}), "larger than memory");
  EXPECT_ERROR(ShapeError, cresset::empty({1 << 30, 1 << 30, 1 << 30}), "larger than memory");
  EXPECT_ERROR(OutOfMemoryError, cresset::empty({kHuge / 64}), "memory");
  EXPECT_ERROR(ShapeError, cresset::empty_strided({2}, {-1}), "negative stride");
  EXPECT_ERROR(ShapeError, cresset::empty_strided({2}, {1, 1}), "2 strides");
  EXPECT_ERROR(ShapeError, cresset::empty_strided({3}, {kHuge}), "larger than memory");
  EXPECT_ERROR(ShapeError, cresset::ones({1, 1}).expand({kHuge, kHuge}), "more elements than an int64 can count");
}

TEST(Tensor, DimsOutOfRangeAreRefused) {
  Tensor x = ones({2, 3});
  EXPECT_ERROR(IndexError, x.size(2), "size: dim 2 is out of range for shape [2, 3] (expected -2 to 1)");
  EXPECT_ERROR(IndexError, x.stride(-3), "out of range");
}

TEST(Tensor, AnUndefinedTensorSaysSo) {
  Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_ERROR(Error, none.sizes(), "undefined");
  EXPECT_ERROR(Error, none.item(), "undefined");
}

TEST(Tensor, PointersAreTyped) {
  Tensor x = arange(3, kFloat);
  EXPECT_EQ(x.data_ptr<float>()[2], 2.f);
  EXPECT_EQ(x.slice(0, 1).data_ptr<float>()[0], 1.f);
  EXPECT_ERROR(TypeError, x.data_ptr<double>(), "expected scalar type Double but found Float");
  EXPECT_ERROR(DeviceError, cresset::empty({2}, kMeta).data_ptr(), "meta");
}

TEST(Tensor, AccessorsReadAndWriteByIndex) {
  Tensor x = arange(6, kLong).view({2, 3}).t();
  auto at = x.accessor<int64_t, 2>();
  EXPECT_EQ(at.size(0), 3);
  EXPECT_EQ(at[2][1], 5);
  at[0][1] = 40;
  EXPECT_EQ(x.select(0, 0).select(0, 1).item<int64_t>(), 40);
  EXPECT_ERROR(ShapeError, (x.accessor<int64_t, 3>()), "expected 3 dims but tensor has 2");
  EXPECT_ERROR(TypeError, (x.accessor<float, 2>()), "expected scalar type Float but found Long");
}

TEST(Tensor, ItemWantsExactlyOneElement) {
  EXPECT_EQ(tensor({{2.5}}).item<double>(), 2.5);
  EXPECT_TRUE(tensor(true).item<bool>());
  EXPECT_EQ(tensor(7, kByte).item<int>(), 7);
  EXPECT_EQ(tensor(1.5, kHalf).item<float>(), 1.5f);
  EXPECT_ERROR(ShapeError, ones({2}).item(), "Tensor with 2 elements cannot be converted to Scalar");
  EXPECT_ERROR(ShapeError, ones({0}).item(), "Tensor with 0 elements");
  EXPECT_ERROR(DeviceError, cresset::empty({}, kMeta).item(), "meta");
  EXPECT_ERROR(ValueError, tensor(300).item<uint8_t>(), "uint8_t without overflow");
}

TEST(FromBlob, SharesTheMemory) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  Tensor x = from_blob(values, {2, 3});
  values[5] = 50;
  EXPECT_EQ(x.select(0, 1).select(0, 2).item<float>(), 50.f);
  x.mul_(Scalar(2));
  EXPECT_EQ(values[1], 2.f);
  Tensor columns = from_blob(values, {3, 2}, {1, 3}, kFloat);
  EXPECT_EQ(columns.select(0, 1).select(0, 0).item<float>(), 2.f);
  EXPECT_TRUE(from_blob(values, {6}, requires_grad()).requires_grad());
}

TEST(FromBlob, TheDeleterRunsOnceWhenTheLastViewGoes) {
  int64_t values[2] = {1, 2};
  int calls = 0;
  void* told = nullptr;
  Tensor view;
  {
    Tensor x = from_blob(
        values, {2}, [&](void* data) { calls++, told = data; }, kLong);
    view = x.slice(0, 1);
  }
  EXPECT_EQ(calls, 0);
  view.reset();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(told, values);
}

TEST(FromBlob, RefusedMemoryStaysTheCallers) {
  alignas(8) char bytes[16] = {};
  int calls = 0;
  auto deleter = [&](void*) { calls++; };
  EXPECT_ERROR(ValueError, from_blob(nullptr, {2}, deleter), "data is null");
  EXPECT_ERROR(ValueError, from_blob(bytes + 1, {2}, deleter), "not aligned");
  EXPECT_ERROR(ShapeError, from_blob(bytes, {-2}, deleter), "negative");
  EXPECT_ERROR(ShapeError, from_blob(bytes, {2}, {-1}, deleter), "negative stride");
  EXPECT_ERROR(ShapeError, from_blob(bytes, {kHuge, kHuge}, deleter), "larger than memory");
  EXPECT_ERROR(AutogradError, from_blob(bytes, {2}, deleter, TensorOptions(kInt).requires_grad(true)), "float");
  EXPECT_ERROR(DeviceError, from_blob(bytes, {2}, deleter, kMeta), "meta");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(from_blob(nullptr, {0}).numel(), 0);
}

TEST(Storage, SmallAndLargeDataAreAligned) {
  for (int64_t n : {0, 1, 63, 64, 1000, 5000, 1 << 20}) {
    Tensor x = cresset::empty({n}, kByte);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(x.impl()->storage->data) % 64, 0u) << n;
    EXPECT_EQ(x.impl()->storage->bytes, static_cast<size_t>(n));
  }
}

TEST(Storage, ViewsShareItAndItsVersion) {
  Tensor x = zeros({4});
  Tensor view = x.slice(0, 2);
  EXPECT_TRUE(view.is_alias_of(x));
  view.add_(Scalar(1));
  EXPECT_EQ(x._version(), 1u);
  EXPECT_EQ(view._version(), 1u);
  EXPECT_FALSE(x.clone().is_alias_of(x));
}

}  // namespace
}  // namespace cresset
