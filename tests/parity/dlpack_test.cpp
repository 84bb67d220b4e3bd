// Tensors handed over between Cresset and libtorch through DLPack, in both directions.
#include <ATen/DLConvertor.h>
#include <gtest/gtest.h>

#include "cresset/core/dlpack.h"
#include "cresset/core/from_blob.h"
#include "cresset/ops/all.h"
#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::all_dtypes;
using parity::torch_dtype;

TEST(DLPackParity, FromCressetToLibtorch) {
  for (DType dtype : all_dtypes()) {
    if (dtype == kBool) continue;  // libtorch 1.13 does not know kDLBool
    Tensor x = arange(6, kLong).to(dtype).view({2, 3}).t();
    at::Tensor theirs = at::fromDLPack(toDLPack(x));
    EXPECT_EQ(theirs.scalar_type(), torch_dtype(dtype));
    EXPECT_EQ(theirs.data_ptr(), x.data_ptr());
    EXPECT_EQ(theirs.sizes(), at::IntArrayRef({3, 2}));
    EXPECT_EQ(theirs.strides(), at::IntArrayRef({1, 3}));
  }
}

TEST(DLPackParity, FromLibtorchToCresset) {
  for (DType dtype : all_dtypes()) {
    if (dtype == kBool) continue;  // libtorch 1.13 exports no bool
    at::Tensor theirs = at::ones({2, 3}, torch_dtype(dtype)).t();
    Tensor x = fromDLPack(at::toDLPack(theirs));
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.data_ptr(), theirs.data_ptr());
    EXPECT_EQ(x.sizes(), IntArrayRef({3, 2}));
    EXPECT_EQ(x.strides(), IntArrayRef({1, 3}));
  }
}

TEST(DLPackParity, MemoryLivesAsLongAsTheLastOfEither) {
  int frees = 0;
  float values[2] = {1, 2};
  at::Tensor theirs = at::fromDLPack(toDLPack(from_blob(values, {2}, [&](void*) { frees++; })));
  EXPECT_EQ(frees, 0);
  EXPECT_EQ(theirs[1].item<float>(), 2.f);
  theirs.reset();
  EXPECT_EQ(frees, 1);

  at::Tensor other = at::from_blob(
      values, {2}, [&](void*) { frees++; }, at::kFloat);
  Tensor ours = fromDLPack(at::toDLPack(other));
  other.reset();
  EXPECT_EQ(frees, 1);
  ours.reset();
  EXPECT_EQ(frees, 2);
}

}  // namespace
}  // namespace cresset
