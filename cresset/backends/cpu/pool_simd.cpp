// The pools' additions on vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/pool_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/pool_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void add(float* sums, const float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::LoadU(d, x + i)), d, sums + i);
  for (; i < n; i++) sums[i] += x[i];
}
void add_divided(float* sums, const float* x, float divisor, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, divisor);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::Div(hn::LoadU(d, x + i), by)), d, sums + i);
  for (; i < n; i++) sums[i] += x[i] / divisor;
}

const PoolInner& find_pool() {
  static constexpr PoolInner inner{&add, &add_divided};
  return inner;
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_pool);
const PoolInner& pool_inner() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_pool)();
}
}  // namespace cresset::cpu
#endif
