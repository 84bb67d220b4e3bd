// Half and BFloat16: 16-bit storage types that compute in float. Conversions round to nearest even, as PyTorch's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cresset {

struct alignas(2) Half {
  uint16_t bits = 0;

  Half() = default;
  Half(float value) : bits(from_float(value)) {}
  operator float() const { return to_float(bits); }
  static constexpr Half from_bits(uint16_t b) { return Half(b, 0); }

 private:
  constexpr Half(uint16_t b, int) : bits(b) {}

  static uint16_t from_float(float value) {
    uint32_t x = std::bit_cast<uint32_t>(value);
    uint32_t sign = (x >> 16) & 0x8000;
    x &= 0x7fffffff;
    if (x > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // nan
    if (x >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // overflows to inf after rounding
    if (x < 0x38800000) {  // subnormal: adding 0.5 aligns the mantissa and rounds it
      float magic = std::bit_cast<float>(x) + 0.5f;
      return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(magic) - 0x3f000000));
    }
    uint32_t odd = (x >> 13) & 1;
    return static_cast<uint16_t>(sign | ((x + 0xc8000fff + odd) >> 13));
  }
  static float to_float(uint16_t h) {
    uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
    uint32_t rest = h & 0x7fff;
    if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | ((rest & 0x3ff) << 13));
    if (rest >= 0x400) return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000));
    float value = std::bit_cast<float>((rest | 0x3f000000)) - 0.5f;  // subnormal: exact, rest * 2^-24
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
};

struct alignas(2) BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  BFloat16(float value) : bits(from_float(value)) {}
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static constexpr BFloat16 from_bits(uint16_t b) { return BFloat16(b, 0); }

 private:
  constexpr BFloat16(uint16_t b, int) : bits(b) {}
  static uint16_t from_float(float value) {
    uint32_t x = std::bit_cast<uint32_t>(value);
    if ((x & 0x7fffffff) > 0x7f800000) return 0x7fc0;
    return static_cast<uint16_t>((x + 0x7fff + ((x >> 16) & 1)) >> 16);
  }
};

}  // namespace cresset

template <>
struct std::numeric_limits<cresset::Half> : std::numeric_limits<float> {
  static constexpr int digits = 11, digits10 = 3;
  static constexpr cresset::Half lowest() { return cresset::Half::from_bits(0xfbff); }
  static constexpr cresset::Half max() { return cresset::Half::from_bits(0x7bff); }
  static constexpr cresset::Half min() { return cresset::Half::from_bits(0x0400); }
  static constexpr cresset::Half epsilon() { return cresset::Half::from_bits(0x1400); }
  static constexpr cresset::Half infinity() { return cresset::Half::from_bits(0x7c00); }
  static constexpr cresset::Half quiet_NaN() { return cresset::Half::from_bits(0x7e00); }
};
template <>
struct std::numeric_limits<cresset::BFloat16> : std::numeric_limits<float> {
  static constexpr int digits = 8, digits10 = 2;
  static constexpr cresset::BFloat16 lowest() { return cresset::BFloat16::from_bits(0xff7f); }
  static constexpr cresset::BFloat16 max() { return cresset::BFloat16::from_bits(0x7f7f); }
  static constexpr cresset::BFloat16 min() { return cresset::BFloat16::from_bits(0x0080); }
  static constexpr cresset::BFloat16 epsilon() { return cresset::BFloat16::from_bits(0x3c00); }
  static constexpr cresset::BFloat16 infinity() { return cresset::BFloat16::from_bits(0x7f80); }
  static constexpr cresset::BFloat16 quiet_NaN() { return cresset::BFloat16::from_bits(0x7fc0); }
};
