// What the norms' vector functions share: the loops, and the moments of a row. Include after <hwy/highway.h>.
#if defined(CRESSET_NORM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESSET_NORM_INL_H
#undef CRESSET_NORM_INL_H
#else
#define CRESSET_NORM_INL_H
#endif

#include <algorithm>

#include "cresset/backends/cpu/bfloat16-inl.h"
#include "cresset/backends/cpu/channel_norm_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
HWY_INLINE int64_t lanes_of() {
  return static_cast<int64_t>(hn::Lanes(Tag<T>()));
}

// Adds up Terms values for each element: f(position, sums) on vectors, tail(position, totals) on the rest.
template <class T, int Terms, class F, class Tail>
HWY_INLINE void reduce(int64_t n, double* totals, const F& f, const Tail& tail) {
  const Tag<T> d;
  const int64_t lanes = lanes_of<T>(), block = 128 * lanes;
  int64_t i = 0;
  while (i + lanes <= n) {
    const int64_t end = std::min(n, i + block);
    Vector<T> a[Terms], b[Terms];
    for (int k = 0; k < Terms; k++) a[k] = b[k] = hn::Zero(d);
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      f(i, a);
      f(i + lanes, b);
    }
    if (i + lanes <= end) {
      f(i, a);
      i += lanes;
    }
    for (int k = 0; k < Terms; k++)
      totals[k] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(a[k], b[k]))));
  }
  for (; i < n; i++) tail(i, totals);
}

// Calls f(position) on vectors and tail(position) on the rest.
template <class T, class F, class Tail>
HWY_INLINE void each(int64_t n, const F& f, const Tail& tail) {
  const int64_t lanes = lanes_of<T>();
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i);
  for (; i < n; i++) tail(i);
}

// Squares are of the distances from the rounded mean; what that is off is taken away again.
template <class S>
void moments(const S* x, int64_t n, double* mean, double* squares) {
  using T = Computed<S>;
  const Tag<T> d;
  double total[1] = {0};
  reduce<T, 1>(
      n, total, [&](int64_t i, auto* sum) HWY_ATTR { sum[0] = hn::Add(sum[0], load_numbers(d, x + i)); },
      [&](int64_t i, double* sum) { sum[0] += static_cast<double>(static_cast<T>(x[i])); });
  const T near = static_cast<T>(total[0] / static_cast<double>(n));
  const auto shift = hn::Set(d, near);
  double off[2] = {0, 0};
  reduce<T, 2>(
      n, off,
      [&](int64_t i, auto* sum) HWY_ATTR {
        const auto distance = hn::Sub(load_numbers(d, x + i), shift);
        sum[0] = hn::Add(sum[0], distance);
        sum[1] = hn::MulAdd(distance, distance, sum[1]);
      },
      [&](int64_t i, double* sum) {
        const T distance = static_cast<T>(x[i]) - near;
        sum[0] += static_cast<double>(distance);
        sum[1] += static_cast<double>(distance * distance);
      });
  *mean = static_cast<double>(near) + off[0] / static_cast<double>(n);
  *squares = std::max(0.0, off[1] - off[0] * off[0] / static_cast<double>(n));
  if (off[1] != off[1]) *squares = off[1];
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
