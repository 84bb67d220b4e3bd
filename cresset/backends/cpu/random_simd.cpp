// Philox as plain loops over counters side by side, which the compiler vectorises for each target; logarithm, sine and
// cosine are Highway's.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/random_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/random_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void random_bits(uint64_t seed, uint64_t counter, uint32_t* bits) {
  constexpr int kLanes = 32;
  for (int64_t block = 0; block < kRandomChunk / 4; block += kLanes, bits += 4 * kLanes) {
    // Words in 64-bit lanes, where their products are taken.
    uint64_t a[kLanes], b[kLanes], c[kLanes], d[kLanes];
    for (int i = 0; i < kLanes; i++) {
      const uint64_t n = counter + static_cast<uint64_t>(block + i);
      a[i] = n & 0xffffffff;
      b[i] = n >> 32;
      c[i] = d[i] = 0;
    }
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; round++, key0 += 0x9E3779B9, key1 += 0xBB67AE85)
      for (int i = 0; i < kLanes; i++) {
        const uint64_t p = uint64_t{0xD2511F53} * (a[i] & 0xffffffff), q = uint64_t{0xCD9E8D57} * (c[i] & 0xffffffff);
        a[i] = (q >> 32) ^ b[i] ^ key0;
        b[i] = q & 0xffffffff;
        c[i] = (p >> 32) ^ d[i] ^ key1;
        d[i] = p & 0xffffffff;
      }
    for (int i = 0; i < kLanes; i++) {
      bits[4 * i] = static_cast<uint32_t>(a[i]);
      bits[4 * i + 1] = static_cast<uint32_t>(b[i]);
      bits[4 * i + 2] = static_cast<uint32_t>(c[i]);
      bits[4 * i + 3] = static_cast<uint32_t>(d[i]);
    }
  }
}

// Element 2i is radius * cos, 2i + 1 radius * sin, from uniform numbers 2i (radius) and 2i + 1 (angle).
void random_normal(const uint32_t* bits, float mean, float std, float* y) {
  const hn::ScalableTag<float> f;
  const hn::RebindToUnsigned<decltype(f)> u;
  const hn::RebindToSigned<decltype(f)> s;
  const auto unit = hn::Set(f, 0x1p-24F), one = hn::Set(f, 1.0F), turn = hn::Set(f, 6.28318530717958648F);
  const int64_t step = static_cast<int64_t>(hn::Lanes(f));
  for (int64_t i = 0; i < kRandomChunk; i += 2 * step) {
    auto first = hn::Undefined(u), second = hn::Undefined(u);
    hn::LoadInterleaved2(u, bits + i, first, second);
    const auto uniform = hn::Mul(hn::ConvertTo(f, hn::BitCast(s, hn::ShiftRight<8>(first))), unit);
    const auto angle = hn::Mul(hn::Mul(hn::ConvertTo(f, hn::BitCast(s, hn::ShiftRight<8>(second))), unit), turn);
    const auto log = hn::Log(f, hn::Sub(one, uniform));
    const auto radius = hn::Mul(hn::Sqrt(hn::Mul(hn::Set(f, -2.0F), log)), hn::Set(f, std));
    const auto middle = hn::Set(f, mean);
    hn::StoreInterleaved2(hn::MulAdd(radius, hn::Cos(f, angle), middle), hn::MulAdd(radius, hn::Sin(f, angle), middle),
                          f, y + i);
  }
}

// Selected, not branched over: the compiler's branch was mispredicted for every second element.
void random_dropout(const uint32_t* bits, uint32_t threshold, float scale, const float* x, float* y, int64_t n) {
  const hn::ScalableTag<float> f;
  const hn::RebindToSigned<decltype(f)> s;
  const hn::RebindToUnsigned<decltype(f)> u;
  const auto flip = hn::Set(s, INT32_MIN);  // brings unsigned order into signed
  const auto bound = hn::Xor(hn::Set(s, static_cast<int32_t>(threshold)), flip);
  const int64_t step = static_cast<int64_t>(hn::Lanes(f));
  int64_t i = 0;
  for (; i + step <= n; i += step) {
    const auto number = hn::Xor(hn::BitCast(s, hn::LoadU(u, bits + i)), flip);
    const auto dropped = hn::RebindMask(f, hn::Lt(number, bound));
    hn::StoreU(hn::IfThenZeroElse(dropped, hn::Mul(hn::LoadU(f, x + i), hn::Set(f, scale))), f, y + i);
  }
  for (; i < n; i++) y[i] = bits[i] < threshold ? 0 : x[i] * scale;
}

RandomFunctions find_random() { return {&random_bits, &random_normal, &random_dropout}; }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_random);

const RandomFunctions& random_functions() {
  static const RandomFunctions functions = [] {
    choose_simd_target();
    return HWY_DYNAMIC_DISPATCH(find_random)();
  }();
  return functions;
}

}  // namespace cresset::cpu
#endif
