// The sums over `radix` elements that a pass of a Fourier transform is made of, on vectors with re and im apart.
// Included once per instruction set.
#if defined(CRESSET_FFT_BUTTERFLIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESSET_FFT_BUTTERFLIES_INL
#undef CRESSET_FFT_BUTTERFLIES_INL
#else
#define CRESSET_FFT_BUTTERFLIES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Complex {
  V re, im;
};
template <class V>
HWY_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}
// a - i b and a + i b.
template <class V>
HWY_INLINE Complex<V> minus_i(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class V>
HWY_INLINE Complex<V> plus_i(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}

template <class D>
HWY_INLINE void four(D, Complex<hn::Vec<D>>& a, Complex<hn::Vec<D>>& b, Complex<hn::Vec<D>>& c,
                     Complex<hn::Vec<D>>& e) {
  const auto even = a + c, odd = a - c, sum = b + e, difference = b - e;
  a = even + sum;
  b = minus_i(odd, difference);
  c = even - sum;
  e = plus_i(odd, difference);
}

// x[k] becomes the sum of x[t] exp(-2 pi i t k / radix). For odd radices the table holds cos(2 pi j / radix) for
// all j, then sin.
template <int radix>
struct Butterfly {
  static constexpr int kHalf = radix / 2;

  template <class D, class T>
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x, const T* table) {
    Complex<hn::Vec<D>> sum[kHalf], difference[kHalf], total = x[0];
#pragma GCC unroll 16
    for (int t = 0; t < kHalf; t++) {
      sum[t] = x[t + 1] + x[radix - 1 - t];
      difference[t] = x[t + 1] - x[radix - 1 - t];
      total = total + sum[t];
    }
#pragma GCC unroll 16
    for (int k = 1; k <= kHalf; k++) {
      Complex<hn::Vec<D>> even = x[0], odd{hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 16
      for (int t = 0; t < kHalf; t++) {
        const auto c = hn::Set(d, table[(t + 1) * k % radix]), s = hn::Set(d, table[radix + (t + 1) * k % radix]);
        even = {hn::MulAdd(c, sum[t].re, even.re), hn::MulAdd(c, sum[t].im, even.im)};
        odd = {hn::MulAdd(s, difference[t].re, odd.re), hn::MulAdd(s, difference[t].im, odd.im)};
      }
      x[k] = minus_i(even, odd);
      x[radix - k] = plus_i(even, odd);
    }
    x[0] = total;
  }
};
template <>
struct Butterfly<2> {
  template <class D, class T>
  static HWY_INLINE void run(D, Complex<hn::Vec<D>>* x, const T*) {
    const auto difference = x[0] - x[1];
    x[0] = x[0] + x[1];
    x[1] = difference;
  }
};
template <>
struct Butterfly<4> {
  template <class D, class T>
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x, const T*) {
    four(d, x[0], x[1], x[2], x[3]);
  }
};
// x turned by one eighth, and by three.
template <class D>
HWY_INLINE Complex<hn::Vec<D>> by_one_eighth(D d, Complex<hn::Vec<D>> x) {
  const auto root = hn::Set(d, static_cast<hn::TFromD<D>>(0.70710678118654752440L));
  return {hn::Mul(root, hn::Add(x.re, x.im)), hn::Mul(root, hn::Sub(x.im, x.re))};
}
template <class D>
HWY_INLINE Complex<hn::Vec<D>> by_three_eighths(D d, Complex<hn::Vec<D>> x) {
  const auto root = hn::Set(d, static_cast<hn::TFromD<D>>(-0.70710678118654752440L));
  return {hn::Mul(root, hn::Sub(x.re, x.im)), hn::Mul(root, hn::Add(x.re, x.im))};
}
template <>
struct Butterfly<8> {
  template <class D, class T>
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x, const T*) {
    four(d, x[0], x[2], x[4], x[6]);
    four(d, x[1], x[3], x[5], x[7]);
    const auto a0 = x[0], a1 = x[2], a2 = x[4], a3 = x[6], b0 = x[1], b2 = x[5];
    const auto b1 = by_one_eighth(d, x[3]), b3 = by_three_eighths(d, x[7]);
    x[0] = a0 + b0;
    x[4] = a0 - b0;
    x[1] = a1 + b1;
    x[5] = a1 - b1;
    x[2] = minus_i(a2, b2);
    x[6] = plus_i(a2, b2);
    x[3] = a3 + b3;
    x[7] = a3 - b3;
  }
};
// Four times four.
template <>
struct Butterfly<16> {
  template <class D, class T>
  static HWY_INLINE void run(D d, Complex<hn::Vec<D>>* x, const T*) {
#pragma GCC unroll 4
    for (int t = 0; t < 4; t++) four(d, x[t], x[4 + t], x[8 + t], x[12 + t]);
    const auto c = hn::Set(d, static_cast<T>(0.92387953251128675613L)),
               s = hn::Set(d, static_cast<T>(0.38268343236508977173L));
    const Complex<hn::Vec<D>> one{c, hn::Neg(s)}, three{s, hn::Neg(c)}, nine{hn::Neg(c), s};
    // Element k of the sums over t is turned by t k sixteenths.
    x[5] = x[5] * one;
    x[9] = by_one_eighth(d, x[9]);
    x[13] = x[13] * three;
    x[6] = by_one_eighth(d, x[6]);
    x[10] = {x[10].im, hn::Neg(x[10].re)};
    x[14] = by_three_eighths(d, x[14]);
    x[7] = x[7] * three;
    x[11] = by_three_eighths(d, x[11]);
    x[15] = x[15] * nine;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) four(d, x[4 * k], x[4 * k + 1], x[4 * k + 2], x[4 * k + 3]);
    // Now x[4 k + j] is the sum k + 4 j.
    std::swap(x[1], x[4]);
    std::swap(x[2], x[8]);
    std::swap(x[3], x[12]);
    std::swap(x[6], x[9]);
    std::swap(x[7], x[13]);
    std::swap(x[11], x[14]);
  }
};

// Any odd radix, of which kMostGeneric is the largest.
template <class D, class T>
void butterfly_of(D d, int64_t radix, Complex<hn::Vec<D>>* x, Complex<hn::Vec<D>>* sum, Complex<hn::Vec<D>>* difference,
                  const T* table) {
  const int64_t half = radix / 2;
  auto total = x[0];
  for (int64_t t = 1; t <= half; t++) {
    sum[t] = x[t] + x[radix - t];
    difference[t] = x[t] - x[radix - t];
    total = total + sum[t];
  }
  for (int64_t k = 1; k <= half; k++) {
    Complex<hn::Vec<D>> even = x[0], odd{hn::Zero(d), hn::Zero(d)};
    for (int64_t t = 1, j = k; t <= half; t++, j = j + k < radix ? j + k : j + k - radix) {
      const auto c = hn::Set(d, table[j]), s = hn::Set(d, table[radix + j]);
      even = {hn::MulAdd(c, sum[t].re, even.re), hn::MulAdd(c, sum[t].im, even.im)};
      odd = {hn::MulAdd(s, difference[t].re, odd.re), hn::MulAdd(s, difference[t].im, odd.im)};
    }
    x[k] = minus_i(even, odd);
    x[radix - k] = plus_i(even, odd);
  }
  x[0] = total;
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
