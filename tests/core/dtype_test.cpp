// Names, sizes and the default dtype; promotion stands beside libtorch's in tests/parity.
#include "cresset/core/dtype.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cresset/core/error.h"
#include "cresset/ops/all.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

struct DefaultDtype {
  explicit DefaultDtype(DType dtype) { set_default_dtype(dtype); }
  ~DefaultDtype() { set_default_dtype(kFloat); }
};

TEST(DType, SizesAreThoseOfTheirTypes) {
  for (int i = 0; i < kDTypes; i++) {
    auto dtype = static_cast<DType>(i);
    dispatch(dtype, [&](auto* p) {
      using T = std::remove_pointer_t<decltype(p)>;
      EXPECT_EQ(element_size(dtype), sizeof(T)) << name_of(dtype);
      EXPECT_EQ(dtype_of<T>, dtype);
    });
  }
}

TEST(DType, HasPythonsAndLibtorchsNames) {
  EXPECT_STREQ(name_of(kBFloat16), "bfloat16");
  EXPECT_STREQ(toString(kLong), "Long");
  std::ostringstream out;
  out << kComplexFloat;
  EXPECT_EQ(out.str(), "ComplexFloat");
}

TEST(DType, TheDefaultDecidesForFactoriesAndLiterals) {
  EXPECT_EQ(zeros({1}).dtype(), kFloat);
  DefaultDtype scope(kDouble);
  EXPECT_EQ(zeros({1}).dtype(), kDouble);
  EXPECT_EQ(tensor({1.5f}).dtype(), kDouble);
  EXPECT_EQ(arange(0.5, 2.5).dtype(), kDouble);
  EXPECT_EQ(full({1}, std::complex<float>(1, 1)).dtype(), kComplexDouble);
  EXPECT_EQ(arange(3).dtype(), kLong);
}

TEST(DType, OnlyFloatingTypesCanBeTheDefault) {
  EXPECT_ERROR(TypeError, set_default_dtype(kInt), "only floating-point types are supported as the default type");
  EXPECT_EQ(default_dtype(), kFloat);
}

TEST(DType, ComplexAndRealPartners) {
  EXPECT_EQ(to_real(kComplexDouble), kDouble);
  EXPECT_EQ(to_complex(kFloat), kComplexFloat);
  EXPECT_EQ(compute_dtype(kHalf), kFloat);
}

}  // namespace
}  // namespace cresset
