// Conversions of bfloat16 on vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/bfloat16_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/bfloat16-inl.h"
#include "cresset/backends/cpu/bfloat16_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class To, class From>
void convert_vectors(To* to, const From* from, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = load_numbers(d, from + i), second = load_numbers(d, from + i + lanes);
    store_numbers(first, d, to + i);
    store_numbers(second, d, to + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) store_numbers(load_numbers(d, from + i), d, to + i);
  for (; i < n; i++) to[i] = static_cast<float>(from[i]);
}
void widen(float* to, const BFloat16* from, int64_t n) { convert_vectors(to, from, n); }
void narrow(BFloat16* to, const float* from, int64_t n) { convert_vectors(to, from, n); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(widen);
HWY_EXPORT(narrow);

constexpr int64_t kShortArray = 16;  // where finding the instruction set takes longer

void convert_numbers(float* to, const BFloat16* from, int64_t n) {
  if (n < kShortArray) {
    for (int64_t i = 0; i < n; i++) to[i] = from[i];
    return;
  }
  choose_simd_target();
  HWY_DYNAMIC_DISPATCH(widen)(to, from, n);
}
void convert_numbers(BFloat16* to, const float* from, int64_t n) {
  if (n < kShortArray) {
    for (int64_t i = 0; i < n; i++) to[i] = from[i];
    return;
  }
  choose_simd_target();
  HWY_DYNAMIC_DISPATCH(narrow)(to, from, n);
}
}  // namespace cresset::cpu
#endif
