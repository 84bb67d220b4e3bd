// The norms on vectors. Rows are short enough to stay in the cache while they are read two or three times; float sums
// run in short chains that end in double.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/norm_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/norm_simd.h"
#include "cresset/backends/cpu/simd_inner.h"

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

// Squares are of the distances from the rounded mean; what that is off is taken away again.
template <class T>
void moments(const T* x, int64_t n, double* mean, double* squares) {
  const Tag<T> d;
  double total[1] = {0};
  reduce<T, 1>(
      n, total, [&](int64_t i, auto* sum) HWY_ATTR { sum[0] = hn::Add(sum[0], hn::LoadU(d, x + i)); },
      [&](int64_t i, double* sum) { sum[0] += static_cast<double>(x[i]); });
  const T near = static_cast<T>(total[0] / static_cast<double>(n));
  const auto shift = hn::Set(d, near);
  double off[2] = {0, 0};
  reduce<T, 2>(
      n, off,
      [&](int64_t i, auto* sum) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + i), shift);
        sum[0] = hn::Add(sum[0], distance);
        sum[1] = hn::MulAdd(distance, distance, sum[1]);
      },
      [&](int64_t i, double* sum) {
        const T distance = x[i] - near;
        sum[0] += static_cast<double>(distance);
        sum[1] += static_cast<double>(distance * distance);
      });
  *mean = static_cast<double>(near) + off[0] / static_cast<double>(n);
  *squares = std::max(0.0, off[1] - off[0] * off[0] / static_cast<double>(n));
  if (off[1] != off[1]) *squares = off[1];
}

// Calls f(position) on vectors and tail(position) on the rest.
template <class T, class F, class Tail>
HWY_INLINE void each(int64_t n, const F& f, const Tail& tail) {
  const int64_t lanes = lanes_of<T>();
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i);
  for (; i < n; i++) tail(i);
}

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

template <class T>
void affine(T* y, const T* x, int64_t n, T mean, T scale, T shift) {
  const Tag<T> d;
  const auto middle = hn::Set(d, mean), by = hn::Set(d, scale), plus = hn::Set(d, shift);
  each<T>(
      n, [&](int64_t i) HWY_ATTR { hn::StoreU(hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), middle), by, plus), d, y + i); },
      [&](int64_t i) { y[i] = (x[i] - mean) * scale + shift; });
}

template <class T>
void sums(const T* g, const T* x, int64_t n, T mean, double* sum, double* product) {
  const Tag<T> d;
  const auto middle = hn::Set(d, mean);
  double totals[2] = {0, 0};
  reduce<T, 2>(
      n, totals,
      [&](int64_t i, auto* parts) HWY_ATTR {
        const auto grad = hn::LoadU(d, g + i);
        parts[0] = hn::Add(parts[0], grad);
        parts[1] = hn::MulAdd(grad, hn::Sub(hn::LoadU(d, x + i), middle), parts[1]);
      },
      [&](int64_t i, double* parts) {
        parts[0] += static_cast<double>(g[i]);
        parts[1] += static_cast<double>(g[i] * (x[i] - mean));
      });
  *sum = totals[0];
  *product = totals[1];
}

template <class T>
void combine(T* dx, const T* g, const T* x, int64_t n, T mean, T a, T b, T c) {
  const Tag<T> d;
  const auto middle = hn::Set(d, mean), by_g = hn::Set(d, a), plus = hn::Set(d, b), by_x = hn::Set(d, c);
  each<T>(
      n,
      [&](int64_t i) HWY_ATTR {
        const auto from_x = hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), middle), by_x, plus);
        hn::StoreU(hn::MulAdd(hn::LoadU(d, g + i), by_g, from_x), d, dx + i);
      },
      [&](int64_t i) { dx[i] = a * g[i] + (b + c * (x[i] - mean)); });
}

// ---- columns
template <class T>
void column_moments(T* sum, T* squares, const T* x, const T* shift, int64_t n) {
  const Tag<T> d;
  each<T>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, shift + j));
        hn::StoreU(hn::Add(hn::LoadU(d, sum + j), distance), d, sum + j);
        hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, squares + j)), d, squares + j);
      },
      [&](int64_t j) {
        const T distance = x[j] - shift[j];
        sum[j] += distance;
        squares[j] += distance * distance;
      });
}
template <class T>
void column_affine(T* y, const T* x, const T* mean, const T* scale, const T* shift, int64_t n) {
  const Tag<T> d;
  each<T>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, mean + j));
        hn::StoreU(hn::MulAdd(distance, hn::LoadU(d, scale + j), hn::LoadU(d, shift + j)), d, y + j);
      },
      [&](int64_t j) { y[j] = (x[j] - mean[j]) * scale[j] + shift[j]; });
}
template <class T>
void column_sums(T* sum, T* product, const T* g, const T* x, const T* mean, int64_t n) {
  const Tag<T> d;
  each<T>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto grad = hn::LoadU(d, g + j), distance = hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, mean + j));
        hn::StoreU(hn::Add(hn::LoadU(d, sum + j), grad), d, sum + j);
        hn::StoreU(hn::MulAdd(grad, distance, hn::LoadU(d, product + j)), d, product + j);
      },
      [&](int64_t j) {
        sum[j] += g[j];
        product[j] += g[j] * (x[j] - mean[j]);
      });
}
template <class T>
void column_combine(T* dx, const T* g, const T* x, const T* mean, const T* a, const T* b, const T* c, int64_t n) {
  const Tag<T> d;
  each<T>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, mean + j));
        const auto from_x = hn::MulAdd(distance, hn::LoadU(d, c + j), hn::LoadU(d, b + j));
        hn::StoreU(hn::MulAdd(hn::LoadU(d, g + j), hn::LoadU(d, a + j), from_x), d, dx + j);
      },
      [&](int64_t j) { dx[j] = a[j] * g[j] + (b[j] + c[j] * (x[j] - mean[j])); });
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
  static constexpr NormInner<T> inner{
      &moments<T>,        &row<T>,           &row_backward<T>, &affine<T>,         &sums<T>,    &combine<T>,
      &column_moments<T>, &column_affine<T>, &column_sums<T>,  &column_combine<T>, &squares<T>, &weighted_dot<T>,
      &scale_row<T>,      &scale_backward<T>};
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
