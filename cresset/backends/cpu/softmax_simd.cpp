// Softmax on vectors. A row whose maximum is not finite is nan throughout, as PyTorch's; in all others exp's argument
// is at most 0, so that only its lower end needs care.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/softmax_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/exp_below-inl.h"
#include "cresset/backends/cpu/simd_inner.h"
#include "cresset/backends/cpu/softmax_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

// The first n elements, less than a vector; what is missing is `pad`. Nothing behind them is touched.
template <class T>
HWY_INLINE Vector<T> load_part(const T* x, int64_t n, T pad) {
  const Tag<T> d;
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2) {
    const auto there = hn::FirstN(d, static_cast<size_t>(n));
    return hn::IfThenElse(there, hn::MaskedLoad(there, d, x), hn::Set(d, pad));
  } else {
    HWY_ALIGN T rest[64];
    hn::Store(hn::Set(d, pad), d, rest);
    std::copy(x, x + n, rest);
    return hn::Load(d, rest);
  }
}
template <class T>
HWY_INLINE void store_part(Vector<T> v, T* y, int64_t n) {
  const Tag<T> d;
  if constexpr (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, y);
  } else {
    HWY_ALIGN T rest[64];
    hn::Store(v, d, rest);
    std::copy(rest, rest + n, y);
  }
}

// Calls f(vector, position) for all of x; what is missing in the last vector is `pad`.
template <class T, class F>
HWY_INLINE void each(const T* x, int64_t n, T pad, const F& f) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(hn::LoadU(d, x + i), i);
  if (i < n) f(load_part(x + i, n - i, pad), i);
}
// Stores the part of v that lies before n.
template <class T>
HWY_INLINE void store(Vector<T> v, T* y, int64_t at, int64_t n) {
  const Tag<T> d;
  if (at + static_cast<int64_t>(hn::Lanes(d)) <= n)
    hn::StoreU(v, d, y + at);
  else
    store_part<T>(v, y + at, n - at);
}

// The maximum. A nan may get lost here; it comes back with the sum of the exponentials.
template <class T>
HWY_INLINE T row_top(const T* x, int64_t n) {
  const Tag<T> d;
  const T least = -std::numeric_limits<T>::infinity();
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a = hn::Set(d, least), b = a;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
  }
  if (i + lanes <= n) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    i += lanes;
  }
  if (i < n) b = hn::Max(b, load_part(x + i, n - i, least));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

// Adds up exp(x - top); keeps the terms where y is not null.
template <class T>
HWY_INLINE T exp_sum(T* y, const T* x, int64_t n, T top) {
  const Tag<T> d;
  const auto shift = hn::Set(d, top);
  // Short chains of float additions, then double: a row may be long.
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), block = 64 * lanes;
  double total = 0;
  for (int64_t from = 0; from < n; from += block) {
    int64_t count = std::min(block, n - from);
    auto sum = hn::Zero(d);
    each(x + from, count, -std::numeric_limits<T>::infinity(), [&](auto v, int64_t i) HWY_ATTR {
      auto e = exp_below<T>(hn::Sub(v, shift));
      sum = hn::Add(sum, e);
      if (y) store<T>(e, y + from, i, count);
    });
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)));
  }
  return static_cast<T>(total);
}

template <class T>
void scale_row(T* y, const T* x, int64_t n, T scale, bool stream) {
  const Tag<T> d;
  const auto by = hn::Set(d, scale);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (stream && reinterpret_cast<uintptr_t>(y) % 64 == 0 && n % lanes == 0) {
    for (int64_t i = 0; i < n; i += lanes) hn::Stream(hn::Mul(hn::LoadU(d, x + i), by), d, y + i);
    return;
  }
  each(x, n, T(0), [&](auto v, int64_t i) HWY_ATTR { store<T>(hn::Mul(v, by), y, i, n); });
}

template <class T>
void softmax_row(T* y, const T* x, int64_t n, bool stream) {
  T top = row_top(x, n);
  if (!std::isfinite(top)) {
    std::fill_n(y, n, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  constexpr int64_t kLocal = 4096;  // terms that are kept near while the row is read
  if (stream && n <= kLocal) {
    HWY_ALIGN T terms[kLocal];
    T total = exp_sum(terms, x, n, top);
    scale_row(y, terms, n, T(1) / total, true);
    return;
  }
  T total = exp_sum(y, x, n, top);
  scale_row(y, y, n, T(1) / total, false);
}

// The maximum goes first: where it is large, top + log(total) would round the logarithm away.
template <class T>
void log_softmax_row(T* y, const T* x, int64_t n, bool stream) {
  T top = row_top(x, n);
  if (!std::isfinite(top)) {
    std::fill_n(y, n, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  const Tag<T> d;
  const auto shift = hn::Set(d, top), log_total = hn::Set(d, std::log(exp_sum<T>(nullptr, x, n, top)));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (stream && reinterpret_cast<uintptr_t>(y) % 64 == 0 && n % lanes == 0) {
    for (int64_t i = 0; i < n; i += lanes)
      hn::Stream(hn::Sub(hn::Sub(hn::LoadU(d, x + i), shift), log_total), d, y + i);
    return;
  }
  each(x, n, T(0), [&](auto v, int64_t i) HWY_ATTR { store<T>(hn::Sub(hn::Sub(v, shift), log_total), y, i, n); });
}

template <class T>
T row_exp_total(const T* x, int64_t n, T* top) {
  *top = row_top(x, n);
  const T total = std::isfinite(*top) ? exp_sum<T>(nullptr, x, n, *top) : std::numeric_limits<T>::quiet_NaN();
  if (total != total) *top = total;  // as log(softmax) would be
  return total;
}

template <class T>
void softmax_backward_row(T* dx, const T* g, const T* y, int64_t n) {
  const Tag<T> d;
  auto dot = hn::Zero(d), dot2 = dot;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    dot = hn::MulAdd(hn::LoadU(d, g + i), hn::LoadU(d, y + i), dot);
    dot2 = hn::MulAdd(hn::LoadU(d, g + i + lanes), hn::LoadU(d, y + i + lanes), dot2);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(dot, dot2)));
  for (; i < n; i++) total += g[i] * y[i];
  const auto minus = hn::Set(d, total);
  for (i = 0; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Mul(hn::Sub(hn::LoadU(d, g + i), minus), hn::LoadU(d, y + i)), d, dx + i);
  for (; i < n; i++) dx[i] = (g[i] - total) * y[i];
}

template <class T>
void log_softmax_backward_row(T* dx, const T* g, const T* y, int64_t n) {
  const Tag<T> d;
  auto sum = hn::Zero(d);
  each(g, n, T(0), [&](auto v, int64_t) HWY_ATTR { sum = hn::Add(sum, v); });
  const auto total = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  each(y, n, T(0), [&](auto v, int64_t i) HWY_ATTR {
    auto grad = i + lanes <= n ? hn::LoadU(d, g + i) : load_part(g + i, n - i, T(0));
    store<T>(hn::NegMulAdd(exp_below<T>(v), total, grad), dx, i, n);
  });
}

template <class T>
void exp_row(T* y, const T* x, int64_t n, T shift, T scale) {
  const Tag<T> d;
  const auto minus = hn::Set(d, shift), by = hn::Set(d, scale);
  each(x, n, T(0),
       [&](auto v, int64_t i) HWY_ATTR { store<T>(hn::Mul(exp_below<T>(hn::Sub(v, minus)), by), y, i, n); });
}

template <class T>
void max_columns(T* top, const T* x, int64_t n) {
  for (int64_t j = 0; j < n; j++) top[j] = x[j] > top[j] || x[j] != x[j] ? x[j] : top[j];
}
template <class T>
void exp_columns(T* y, const T* x, const T* top, T* total, int64_t n) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    auto e = exp_below<T>(hn::Sub(hn::LoadU(d, x + j), hn::LoadU(d, top + j)));
    hn::StoreU(hn::Add(hn::LoadU(d, total + j), e), d, total + j);
    hn::StoreU(e, d, y + j);
  }
  if (j == n) return;
  auto e = exp_below<T>(hn::Sub(load_part(x + j, n - j, T(0)), load_part(top + j, n - j, T(0))));
  store_part<T>(hn::Add(load_part(total + j, n - j, T(0)), e), total + j, n - j);
  store_part<T>(e, y + j, n - j);
}

// total *= exp(before - top) where the maximum has moved.
template <class T>
void move_columns(T* total, const T* before, const T* top, int64_t n) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto moved = [&](auto old, auto now) HWY_ATTR {
    return hn::IfThenElse(hn::Eq(old, now), hn::Set(d, T(1)), exp_below<T>(hn::Sub(old, now)));
  };
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, total + j), moved(hn::LoadU(d, before + j), hn::LoadU(d, top + j))), d, total + j);
  if (j < n)
    store_part<T>(hn::Mul(load_part(total + j, n - j, T(0)),
                          moved(load_part(before + j, n - j, T(0)), load_part(top + j, n - j, T(0)))),
                  total + j, n - j);
}

template <class T>
const SoftmaxInner<T>& find_softmax() {
  static constexpr SoftmaxInner<T> inner{
      &softmax_row<T>, &log_softmax_row<T>, &row_exp_total<T>, &softmax_backward_row<T>, &log_softmax_backward_row<T>,
      &exp_row<T>,     &max_columns<T>,     &exp_columns<T>,   &move_columns<T>};
  return inner;
}
CRESSET_FIND_INNER(SoftmaxInner, softmax)

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
CRESSET_EXPORT_INNER(SoftmaxInner, softmax)
}  // namespace cresset::cpu
#endif
