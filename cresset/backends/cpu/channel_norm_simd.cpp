// The norms with statistics per channel, on vectors. bfloat16 is read and written as it stands in memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/channel_norm_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include "cresset/backends/cpu/channel_norm_simd.h"
#include "cresset/backends/cpu/norm-inl.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class S>
HWY_INLINE Computed<S> number(S x) {
  return static_cast<Computed<S>>(x);
}

template <class S>
void affine(S* y, const S* x, int64_t n, Computed<S> mean, Computed<S> scale, Computed<S> shift) {
  const Tag<Computed<S>> d;
  const auto middle = hn::Set(d, mean), by = hn::Set(d, scale), plus = hn::Set(d, shift);
  each<Computed<S>>(
      n,
      [&](int64_t i)
          HWY_ATTR { store_numbers(hn::MulAdd(hn::Sub(load_numbers(d, x + i), middle), by, plus), d, y + i); },
      [&](int64_t i) { y[i] = (number(x[i]) - mean) * scale + shift; });
}

template <class S>
void sums(const S* g, const S* x, int64_t n, Computed<S> mean, double* sum, double* product) {
  const Tag<Computed<S>> d;
  const auto middle = hn::Set(d, mean);
  double totals[2] = {0, 0};
  reduce<Computed<S>, 2>(
      n, totals,
      [&](int64_t i, auto* parts) HWY_ATTR {
        const auto grad = load_numbers(d, g + i);
        parts[0] = hn::Add(parts[0], grad);
        parts[1] = hn::MulAdd(grad, hn::Sub(load_numbers(d, x + i), middle), parts[1]);
      },
      [&](int64_t i, double* parts) {
        parts[0] += static_cast<double>(number(g[i]));
        parts[1] += static_cast<double>(number(g[i]) * (number(x[i]) - mean));
      });
  *sum = totals[0];
  *product = totals[1];
}

template <class S>
void combine(S* dx, const S* g, const S* x, int64_t n, Computed<S> mean, Computed<S> a, Computed<S> b, Computed<S> c) {
  const Tag<Computed<S>> d;
  const auto middle = hn::Set(d, mean), by_g = hn::Set(d, a), plus = hn::Set(d, b), by_x = hn::Set(d, c);
  each<Computed<S>>(
      n,
      [&](int64_t i) HWY_ATTR {
        const auto from_x = hn::MulAdd(hn::Sub(load_numbers(d, x + i), middle), by_x, plus);
        store_numbers(hn::MulAdd(load_numbers(d, g + i), by_g, from_x), d, dx + i);
      },
      [&](int64_t i) { dx[i] = a * number(g[i]) + (b + c * (number(x[i]) - mean)); });
}

// ---- columns
template <class S>
void column_moments(Computed<S>* sum, Computed<S>* squares, const S* x, const Computed<S>* shift, int64_t n) {
  const Tag<Computed<S>> d;
  each<Computed<S>>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(load_numbers(d, x + j), hn::LoadU(d, shift + j));
        hn::StoreU(hn::Add(hn::LoadU(d, sum + j), distance), d, sum + j);
        hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, squares + j)), d, squares + j);
      },
      [&](int64_t j) {
        const auto distance = number(x[j]) - shift[j];
        sum[j] += distance;
        squares[j] += distance * distance;
      });
}
template <class S>
void column_affine(S* y, const S* x, const Computed<S>* mean, const Computed<S>* scale, const Computed<S>* shift,
                   int64_t n) {
  const Tag<Computed<S>> d;
  each<Computed<S>>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(load_numbers(d, x + j), hn::LoadU(d, mean + j));
        store_numbers(hn::MulAdd(distance, hn::LoadU(d, scale + j), hn::LoadU(d, shift + j)), d, y + j);
      },
      [&](int64_t j) { y[j] = (number(x[j]) - mean[j]) * scale[j] + shift[j]; });
}
template <class S>
void column_sums(Computed<S>* sum, Computed<S>* product, const S* g, const S* x, const Computed<S>* mean, int64_t n) {
  const Tag<Computed<S>> d;
  each<Computed<S>>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto grad = load_numbers(d, g + j), distance = hn::Sub(load_numbers(d, x + j), hn::LoadU(d, mean + j));
        hn::StoreU(hn::Add(hn::LoadU(d, sum + j), grad), d, sum + j);
        hn::StoreU(hn::MulAdd(grad, distance, hn::LoadU(d, product + j)), d, product + j);
      },
      [&](int64_t j) {
        sum[j] += number(g[j]);
        product[j] += number(g[j]) * (number(x[j]) - mean[j]);
      });
}
template <class S>
void column_combine(S* dx, const S* g, const S* x, const Computed<S>* mean, const Computed<S>* a, const Computed<S>* b,
                    const Computed<S>* c, int64_t n) {
  const Tag<Computed<S>> d;
  each<Computed<S>>(
      n,
      [&](int64_t j) HWY_ATTR {
        const auto distance = hn::Sub(load_numbers(d, x + j), hn::LoadU(d, mean + j));
        const auto from_x = hn::MulAdd(distance, hn::LoadU(d, c + j), hn::LoadU(d, b + j));
        store_numbers(hn::MulAdd(load_numbers(d, g + j), hn::LoadU(d, a + j), from_x), d, dx + j);
      },
      [&](int64_t j) { dx[j] = a[j] * number(g[j]) + (b[j] + c[j] * (number(x[j]) - mean[j])); });
}

template <class S>
const ChannelInner<S>& find_channel_inner() {
  static constexpr ChannelInner<S> inner{&moments<S>,        &affine<S>,        &sums<S>,        &combine<S>,
                                         &column_moments<S>, &column_affine<S>, &column_sums<S>, &column_combine<S>};
  return inner;
}
const ChannelInner<float>& find_channel_float() { return find_channel_inner<float>(); }
const ChannelInner<double>& find_channel_double() { return find_channel_inner<double>(); }
const ChannelInner<BFloat16>& find_channel_bfloat16() { return find_channel_inner<BFloat16>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_channel_float);
HWY_EXPORT(find_channel_double);
HWY_EXPORT(find_channel_bfloat16);

template <>
const ChannelInner<float>& channel_inner<float>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_channel_float)();
}
template <>
const ChannelInner<double>& channel_inner<double>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_channel_double)();
}
template <>
const ChannelInner<BFloat16>& channel_inner<BFloat16>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_channel_bfloat16)();
}
}  // namespace cresset::cpu
#endif
