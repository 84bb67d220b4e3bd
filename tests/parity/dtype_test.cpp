// Promotion, casting rules and the 16-bit types, beside libtorch's.
#include "cresset/core/dtype.h"

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include "tests/parity/torch_twin.h"

namespace cresset {
namespace {

using parity::all_dtypes;
using parity::torch_dtype;

TEST(DTypeParity, PromotionOfEveryPair) {
  for (DType a : all_dtypes())
    for (DType b : all_dtypes())
      EXPECT_EQ(torch_dtype(promote_types(a, b)), c10::promoteTypes(torch_dtype(a), torch_dtype(b)))
          << name_of(a) << " with " << name_of(b);
}

TEST(DTypeParity, CanCastOfEveryPair) {
  for (DType from : all_dtypes())
    for (DType to : all_dtypes())
      EXPECT_EQ(can_cast(from, to), c10::canCast(torch_dtype(from), torch_dtype(to)))
          << name_of(from) << " to " << name_of(to);
}

TEST(DTypeParity, NamesAndSizes) {
  for (DType dtype : all_dtypes()) {
    EXPECT_STREQ(toString(dtype), c10::toString(torch_dtype(dtype)));
    EXPECT_EQ(element_size(dtype), c10::elementSize(torch_dtype(dtype)));
    EXPECT_EQ(is_signed(dtype), dtype != kBool && c10::isSignedType(torch_dtype(dtype)));
  }
}

// Equal bits, or both nan.
void expect_same_float(float ours, float theirs, uint32_t pattern) {
  if (std::isnan(theirs))
    EXPECT_TRUE(std::isnan(ours)) << std::hex << pattern;
  else
    EXPECT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(theirs)) << std::hex << pattern;
}

TEST(HalfParity, EveryPatternBecomesTheSameFloat) {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    auto pattern = static_cast<uint16_t>(bits);
    expect_same_float(Half::from_bits(pattern), c10::Half(pattern, c10::Half::from_bits()), bits);
    expect_same_float(BFloat16::from_bits(pattern), c10::BFloat16(pattern, c10::BFloat16::from_bits()), bits);
  }
}

void expect_same_rounding(uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  EXPECT_EQ(Half(value).bits, c10::Half(value).x) << std::hex << bits;
  EXPECT_EQ(BFloat16(value).bits, c10::BFloat16(value).x) << std::hex << bits;
}

TEST(HalfParity, FloatsRoundTheSameWayAcrossTheirRange) {
  constexpr uint32_t step = 8191;  // prime: meets every exponent with ever other mantissas
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += step) expect_same_rounding(static_cast<uint32_t>(bits));
}

TEST(HalfParity, FloatsBesideEveryRoundingBoundary) {
  for (uint32_t high = 0; high < 65536; high++)
    for (uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      expect_same_rounding(high << 16 | low);
}

}  // namespace
}  // namespace cresset
