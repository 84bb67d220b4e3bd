// DLPack: memory shared both ways, owned once, and structs that are refused.
#include "cresset/core/dlpack.h"

#include <gtest/gtest.h>

#include "cresset/core/from_blob.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

// A foreign tensor of two floats that counts how often it is deleted.
struct Foreign {
  float values[4] = {1, 2, 3, 4};
  int64_t shape[2] = {2, 2};
  int64_t strides[2] = {1, 2};
  DLManagedTensor managed{};
  int deleted = 0;

  Foreign() {
    managed.dl_tensor = {values, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* self) { static_cast<Foreign*>(self->manager_ctx)->deleted++; };
  }
};

TEST(DLPack, AnExportOutlivesTheTensorAndFreesOnce) {
  int frees = 0;
  float values[3] = {1, 2, 3};
  Tensor x = from_blob(values, {3}, [&](void*) { frees++; });
  DLManagedTensor* exported = toDLPack(x);
  x.reset();
  EXPECT_EQ(frees, 0);
  EXPECT_EQ(static_cast<float*>(exported->dl_tensor.data)[2], 3.f);
  exported->deleter(exported);
  EXPECT_EQ(frees, 1);
}

TEST(DLPack, ThereAndBackSharesMemoryForEveryDtype) {
  for (int i = 0; i < kDTypes; i++) {
    Tensor x = ones({2, 3}, static_cast<DType>(i)).t();
    Tensor y = fromDLPack(toDLPack(x));
    EXPECT_EQ(y.dtype(), x.dtype());
    EXPECT_EQ(y.sizes(), x.sizes());
    EXPECT_EQ(y.strides(), x.strides());
    EXPECT_EQ(y.data_ptr(), x.data_ptr());
  }
}

TEST(DLPack, TypesCarryTheirCodes) {
  auto type_of = [](DType dtype) {
    DLManagedTensor* exported = toDLPack(zeros({1}, dtype));
    DLDataType type = exported->dl_tensor.dtype;
    exported->deleter(exported);
    return std::make_tuple(int{type.code}, int{type.bits}, int{type.lanes});
  };
  EXPECT_EQ(type_of(kBool), std::make_tuple(int{kDLBool}, 8, 1));
  EXPECT_EQ(type_of(kByte), std::make_tuple(int{kDLUInt}, 8, 1));
  EXPECT_EQ(type_of(kLong), std::make_tuple(int{kDLInt}, 64, 1));
  EXPECT_EQ(type_of(kHalf), std::make_tuple(int{kDLFloat}, 16, 1));
  EXPECT_EQ(type_of(kBFloat16), std::make_tuple(int{kDLBfloat}, 16, 1));
  EXPECT_EQ(type_of(kComplexDouble), std::make_tuple(int{kDLComplex}, 128, 1));
}

TEST(DLPack, AnExportStartsAtTheViewsFirstElement) {
  Tensor x = arange(5, kFloat);
  DLManagedTensor* exported = toDLPack(x.slice(0, 2));
  EXPECT_EQ(*static_cast<float*>(exported->dl_tensor.data), 2.f);
  EXPECT_EQ(exported->dl_tensor.byte_offset, 0u);
  exported->deleter(exported);
}

TEST(DLPack, AnImportIsDeletedOnceWhenTheLastViewGoes) {
  Foreign foreign;
  Tensor view = fromDLPack(&foreign.managed).select(1, 1);
  EXPECT_EQ(view.select(0, 0).item<float>(), 3.f);
  EXPECT_EQ(foreign.deleted, 0);
  view.reset();
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, NoStridesMeansRowMajorAndByteOffsetsCount) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = nullptr;
  foreign.managed.dl_tensor.byte_offset = 4;
  foreign.managed.dl_tensor.ndim = 1;
  foreign.managed.deleter = nullptr;
  Tensor x = fromDLPack(&foreign.managed);
  EXPECT_EQ(x.sizes(), IntArrayRef({2}));
  EXPECT_EQ(x.select(0, 1).item<float>(), 3.f);
}

TEST(DLPack, WhatIsRefusedStaysTheCallers) {
  Foreign foreign;
  const DLTensor good = foreign.managed.dl_tensor;
  DLTensor& tensor = foreign.managed.dl_tensor;
  tensor.dtype.lanes = 4;
  EXPECT_ERROR(TypeError, fromDLPack(&foreign.managed), "4 lanes");
  tensor = good;
  tensor.dtype = {kDLUInt, 16, 1};
  EXPECT_ERROR(TypeError, fromDLPack(&foreign.managed), "unsupported");
  tensor = good;
  tensor.device.device_type = kDLOpenCL;
  EXPECT_ERROR(DeviceError, fromDLPack(&foreign.managed), "expected CPU (1) or CUDA (2)");
  tensor = good;
  tensor.ndim = -1;
  EXPECT_ERROR(ShapeError, fromDLPack(&foreign.managed), "-1 dimensions");
  tensor = good;
  foreign.strides[0] = -1;
  EXPECT_ERROR(ShapeError, fromDLPack(&foreign.managed), "negative stride");
  foreign.strides[0] = 1;
  tensor.byte_offset = 1;
  EXPECT_ERROR(ValueError, fromDLPack(&foreign.managed), "not aligned");
  tensor = good;
  tensor.data = nullptr;
  EXPECT_ERROR(ValueError, fromDLPack(&foreign.managed), "null");
  EXPECT_ERROR(ValueError, fromDLPack(nullptr), "null");
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, MetaTensorsCannotBeExported) {
  EXPECT_ERROR(DeviceError, toDLPack(cresset::empty({2}, kMeta)), "expected cpu or cuda");
}

}  // namespace
}  // namespace cresset
