// The norms on vectors. Rows are short enough to stay in the cache while they are read two or three times; float sums
// run in short chains that end in double.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/norm_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/norm-inl.h"
#include "cresset/backends/cpu/norm_simd.h"
#include "cresset/backends/cpu/simd_inner.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool Weighted, bool Shifted, class T>
HWY_INLINE void row_of(T* y, const T* x, int64_t n, T mean, T rstd, const T* w, const T* b, bool stream) {
  const Tag<T> d;
  const auto middle = hn::Set(d, mean), by = hn::Set(d, rstd);
  auto value = [&](int64_t i) HWY_ATTR {
    auto v = hn::Mul(hn::Sub(hn::LoadU(d, x + i), middle), by);
    if constexpr (Weighted && Shifted)
      v = hn::MulAdd(v, hn::LoadU(d, w + i), hn::LoadU(d, b + i));
    else if constexpr (Weighted)
      v = hn::Mul(v, hn::LoadU(d, w + i));
    else if constexpr (Shifted)
      v = hn::Add(v, hn::LoadU(d, b + i));
    return v;
  };
  const int64_t lanes = lanes_of<T>();
  if (stream && reinterpret_cast<uintptr_t>(y) % 64 == 0 && n % lanes == 0) {
    for (int64_t i = 0; i < n; i += lanes) hn::Stream(value(i), d, y + i);
    return;
  }
  each<T>(
      n, [&](int64_t i) HWY_ATTR { hn::StoreU(value(i), d, y + i); },
      [&](int64_t i) {
        T v = (x[i] - mean) * rstd;
        if (Weighted) v *= w[i];
        if (Shifted) v += b[i];
        y[i] = v;
      });
}
template <class T>
void row(T* y, const T* x, int64_t n, T mean, T rstd, const T* w, const T* b, bool stream) {
  if (w && b) return row_of<true, true>(y, x, n, mean, rstd, w, b, stream);
  if (w) return row_of<true, false>(y, x, n, mean, rstd, w, b, stream);
  if (b) return row_of<false, true>(y, x, n, mean, rstd, w, b, stream);
  row_of<false, false>(y, x, n, mean, rstd, w, b, stream);
}

// dx = rstd * (gw - mean(gw) - xhat * mean(gw * xhat)), gw = g * w, xhat = (x - mean) * rstd
template <bool Weighted, class T>
HWY_INLINE void row_backward_of(T* dx, T* dw, T* db, const T* g, const T* x, const T* w, int64_t n, T mean, T rstd) {
  const Tag<T> d;
  const auto middle = hn::Set(d, mean), by = hn::Set(d, rstd);
  double sums[2] = {0, 0};
  reduce<T, 2>(
      n, sums,
      [&](int64_t i, auto* sum) HWY_ATTR {
        const auto grad = hn::LoadU(d, g + i), hat = hn::Mul(hn::Sub(hn::LoadU(d, x + i), middle), by);
        auto weighted = grad;
        if constexpr (Weighted) weighted = hn::Mul(grad, hn::LoadU(d, w + i));
        sum[0] = hn::Add(sum[0], weighted);
        sum[1] = hn::MulAdd(weighted, hat, sum[1]);
        if (dw) hn::StoreU(hn::MulAdd(grad, hat, hn::LoadU(d, dw + i)), d, dw + i);
        if (db) hn::StoreU(hn::Add(grad, hn::LoadU(d, db + i)), d, db + i);
      },
      [&](int64_t i, double* sum) {
        const T hat = (x[i] - mean) * rstd, weighted = Weighted ? g[i] * w[i] : g[i];
        sum[0] += static_cast<double>(weighted);
        sum[1] += static_cast<double>(weighted * hat);
        if (dw) dw[i] += g[i] * hat;
        if (db) db[i] += g[i];
      });
  const T average = static_cast<T>(sums[0] / static_cast<double>(n));
  const T slope = static_cast<T>(sums[1] / static_cast<double>(n));
  const auto minus = hn::Set(d, average), tilt = hn::Set(d, slope);
  each<T>(
      n,
      [&](int64_t i) HWY_ATTR {
        const auto hat = hn::Mul(hn::Sub(hn::LoadU(d, x + i), middle), by);
        auto weighted = hn::LoadU(d, g + i);
        if constexpr (Weighted) weighted = hn::Mul(weighted, hn::LoadU(d, w + i));
        hn::StoreU(hn::Mul(hn::NegMulAdd(hat, tilt, hn::Sub(weighted, minus)), by), d, dx + i);
      },
      [&](int64_t i) {
        const T hat = (x[i] - mean) * rstd, weighted = Weighted ? g[i] * w[i] : g[i];
        dx[i] = (weighted - average - hat * slope) * rstd;
      });
}
template <class T>
void row_backward(T* dx, T* dw, T* db, const T* g, const T* x, const T* w, int64_t n, T mean, T rstd) {
  if (w) return row_backward_of<true>(dx, dw, db, g, x, w, n, mean, rstd);
  row_backward_of<false>(dx, dw, db, g, x, w, n, mean, rstd);
}

// ---- without a mean
template <class T>
double squares(const T* x, int64_t n) {
  const Tag<T> d;
  double total[1] = {0};
  reduce<T, 1>(
      n, total,
      [&](int64_t i, auto* sum) HWY_ATTR {
        const auto v = hn::LoadU(d, x + i);
        sum[0] = hn::MulAdd(v, v, sum[0]);
      },
      [&](int64_t i, double* sum) { sum[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]); });
  return total[0];
}
template <class T>
double weighted_dot(const T* g, const T* x, const T* w, int64_t n) {
  const Tag<T> d;
  double total[1] = {0};
  reduce<T, 1>(
      n, total,
      [&](int64_t i, auto* sum) HWY_ATTR {
        auto v = hn::LoadU(d, x + i);
        if (w) v = hn::Mul(v, hn::LoadU(d, w + i));
        sum[0] = hn::MulAdd(v, hn::LoadU(d, g + i), sum[0]);
      },
      [&](int64_t i, double* sum) { sum[0] += static_cast<double>(g[i] * x[i] * (w ? w[i] : T(1))); });
  return total[0];
}
template <class T>
void scale_row(T* y, const T* x, int64_t n, T scale, const T* w, bool stream) {
  if (w)
    row_of<true, false>(y, x, n, T(0), scale, w, static_cast<const T*>(nullptr), stream);
  else
    row_of<false, false>(y, x, n, T(0), scale, w, static_cast<const T*>(nullptr), stream);
}
template <class T>
void scale_backward(T* dx, T* dw, const T* g, const T* x, const T* w, int64_t n, T scale, T share) {
  const Tag<T> d;
  const auto by = hn::Set(d, scale), part = hn::Set(d, share);
  each<T>(
      n,
      [&](int64_t i) HWY_ATTR {
        const auto grad = hn::LoadU(d, g + i), v = hn::LoadU(d, x + i);
        auto weighted = grad;
        if (w) weighted = hn::Mul(weighted, hn::LoadU(d, w + i));
        if (dw) hn::StoreU(hn::MulAdd(grad, hn::Mul(v, by), hn::LoadU(d, dw + i)), d, dw + i);
        hn::StoreU(hn::Mul(hn::NegMulAdd(v, part, weighted), by), d, dx + i);
      },
      [&](int64_t i) {
        if (dw) dw[i] += g[i] * x[i] * scale;
        dx[i] = ((w ? g[i] * w[i] : g[i]) - x[i] * share) * scale;
      });
}

template <class T>
const NormInner<T>& find_norm() {
  static constexpr NormInner<T> inner{&moments<T>,      &row<T>,       &row_backward<T>,  &squares<T>,
                                      &weighted_dot<T>, &scale_row<T>, &scale_backward<T>};
  return inner;
}
CRESSET_FIND_INNER(NormInner, norm)

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
CRESSET_EXPORT_INNER(NormInner, norm)
}  // namespace cresset::cpu
#endif
