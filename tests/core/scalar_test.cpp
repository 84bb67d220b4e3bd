// Scalars remember their kind and convert only what fits.
#include "cresset/core/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cresset/core/error.h"
#include "tests/core/expect_error.h"

namespace cresset {
namespace {

TEST(Scalar, RemembersItsKind) {
  EXPECT_TRUE(Scalar(true).isBoolean());
  EXPECT_TRUE(Scalar(3).isIntegral(false));
  EXPECT_FALSE(Scalar(true).isIntegral(false));
  EXPECT_TRUE(Scalar(true).isIntegral(true));
  EXPECT_TRUE(Scalar(3.f).isFloatingPoint());
  EXPECT_TRUE(Scalar(std::complex<float>(1, 2)).isComplex());
  EXPECT_EQ(Scalar(3).type(), kLong);
  EXPECT_EQ(Scalar(3.5).type(), kDouble);
  EXPECT_EQ(Scalar(false).type(), kBool);
  EXPECT_EQ(Scalar(Half(1.5f)).type(), kDouble);
}

TEST(Scalar, FractionsAreCutOffTowardsZero) {
  EXPECT_EQ(Scalar(2.9).toInt(), 2);
  EXPECT_EQ(Scalar(-2.9).toLong(), -2);
  EXPECT_TRUE(Scalar(0.5).toBool());
  EXPECT_FALSE(Scalar(0).toBool());
  EXPECT_TRUE(Scalar(std::complex<double>(0, 1)).toBool());
}

TEST(Scalar, NumbersOutOfRangeAreRefused) {
  EXPECT_ERROR(ValueError, Scalar(128).to<int8_t>(),
               "value cannot be converted to type int8_t without overflow: found 128");
  EXPECT_ERROR(ValueError, Scalar(-129).to<int8_t>(), "int8_t");
  EXPECT_ERROR(ValueError, Scalar(256).to<uint8_t>(), "uint8_t");
  EXPECT_ERROR(ValueError, Scalar(1e10).to<int>(), "int32_t");
  EXPECT_ERROR(ValueError, Scalar(0x1p63).toLong(), "int64_t");
  EXPECT_ERROR(ValueError, Scalar(std::nan("")).toLong(), "int64_t");
  EXPECT_ERROR(ValueError, Scalar(std::numeric_limits<double>::infinity()).toInt(), "int32_t");
  EXPECT_ERROR(ValueError, Scalar(1e300).toFloat(), "float");
  EXPECT_ERROR(ValueError, Scalar(70000.0).to<Half>(), "Half");
  EXPECT_ERROR(ValueError, Scalar(70000).to<Half>(), "Half");
  EXPECT_ERROR(ValueError, Scalar(std::complex<double>(1, 2)).to<double>(), "double");
}

TEST(Scalar, WhatFitsIsKept) {
  EXPECT_EQ(Scalar(-1).to<uint8_t>(), 255) << "negative integers wrap, as in PyTorch";
  EXPECT_EQ(Scalar(-0x1p63).toLong(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(std::numeric_limits<int64_t>::max()).toLong(), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(std::isinf(Scalar(std::numeric_limits<double>::infinity()).toFloat()));
  EXPECT_TRUE(std::isnan(static_cast<float>(Scalar(std::nan("")).to<Half>())));
  EXPECT_EQ(static_cast<float>(Scalar(65504).to<Half>()), 65504.f);
  EXPECT_EQ(Scalar(std::complex<double>(1, 0)).to<double>(), 1.0);
  EXPECT_EQ(Scalar(2).toComplexDouble(), std::complex<double>(2, 0));
}

TEST(Scalar, ArithmeticThatOpsNeed) {
  EXPECT_EQ((-Scalar(3)).toLong(), -3);
  EXPECT_EQ((-Scalar(2.5)).toDouble(), -2.5);
  EXPECT_EQ(Scalar(std::complex<double>(1, 2)).conj().toComplexDouble(), std::complex<double>(1, -2));
  EXPECT_TRUE(Scalar(1).equal(1.0));
  EXPECT_FALSE(Scalar(std::complex<double>(1, 0)).equal(1.0));
}

}  // namespace
}  // namespace cresset
