// Vector functions for float (all) and double (the exponential's family), compiled once per target: include after
// <hwy/highway.h>. Polynomials are minimax fits made for these ranges. Errors stay under 2 ulp on every target (FMA or
// not) unless a comment says more; denormal arguments and results, ±0, ±inf and nan are right.
// No include guard of the usual kind: every target includes it again.
#if defined(CRESSET_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESSET_MATH_INL_H
#undef CRESSET_MATH_INL_H
#else
#define CRESSET_MATH_INL_H
#endif

#include <cmath>
#include <limits>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Lane = hn::TFromD<D>;

// c[0] + c[1] x + … by Horner's rule.
template <size_t... I, class D, class V, class T, size_t N>
HWY_INLINE V horner(std::index_sequence<I...>, D d, V x, const T (&c)[N]) {
  V sum = hn::Set(d, c[N - 1]);
  ((sum = hn::MulAdd(sum, x, hn::Set(d, c[N - 2 - I]))), ...);
  return sum;
}
template <class D, class V, class T, size_t N>
HWY_INLINE V polynomial(D d, V x, const T (&c)[N]) {
  return horner(std::make_index_sequence<N - 1>(), d, x, c);
}

template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float magic = 12582912.f, bias = 127.f;
  static constexpr int mantissa = 23;
  static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;  // n * ln2_high is exact
  static constexpr float highest = 89.f, lowest = -104.f;                    // beyond: inf, and 0
  static constexpr float expm1_lowest = -18.f;
  // (e^r - 1 - r) / r^2 on ±ln2/2
  static constexpr float exp[] = {0.50000000957f, 0.16666518309f, 0.04166620424f, 0.0083689533176f, 0.0013950595814f};
  static constexpr float expm1[] = {0.50000000467f,   0.16666666818f,   0.041666353539f,
                                    0.0083332728564f, 0.0013941102486f, 0.00019914290817f};
};
template <>
struct ExpConstants<double> {
  static constexpr double magic = 6755399441055744., bias = 1023.;
  static constexpr int mantissa = 52;
  static constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr double highest = 710., lowest = -746.;
  static constexpr double expm1_lowest = -40.;
  static constexpr double exp[] = {0.500000000000001286,     0.166666666666666993,   0.0416666666665143204,
                                   0.00833333333330702889,   0.00138888889473319747, 0.000198412699177705922,
                                   0.0000248014895897558931, 2.75572159482554075e-6, 2.76314140837323833e-7,
                                   2.51179748866999247e-8};
  static constexpr double expm1[] = {0.5,
                                     0.166666666666666767,
                                     0.0416666666666667017,
                                     0.00833333333332153118,
                                     0.00138888888888666721,
                                     0.000198412698864016182,
                                     0.0000248015873608786246,
                                     2.75572439111495913e-6,
                                     2.75572424843309446e-7,
                                     2.51091475664437738e-8,
                                     2.09245287737992614e-9};
};

// 2^n for whole n from -bias to bias + 1: the sum's low bits are the exponent.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V n) {
  using C = ExpConstants<Lane<D>>;
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftLeft<C::mantissa>(hn::BitCast(du, hn::Add(n, hn::Set(d, C::magic + C::bias)))));
}
// p * 2^n, rounded once also where the result is denormal.
template <class D, class V>
HWY_INLINE V scaled(D d, V p, V n) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(Lane<D>) == 4) return V{_mm512_scalef_ps(p.raw, n.raw)};
  if constexpr (sizeof(Lane<D>) == 8) return V{_mm512_scalef_pd(p.raw, n.raw)};
#endif
  V half = hn::Round(hn::Mul(n, hn::Set(d, Lane<D>(0.5))));
  return hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

// x kept between two bounds; nan stays (the instruction returns its second operand then).
template <class D, class V>
HWY_INLINE V clamped(D d, V x, Lane<D> low, Lane<D> high) {
  return hn::Min(hn::Set(d, high), hn::Max(hn::Set(d, low), x));
}

// e^r for |r| up to ln2 / 2.
template <class D, class V>
HWY_INLINE V exp_near_zero(D d, V r) {
  V q = polynomial(d, r, ExpConstants<Lane<D>>::exp);
  return hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, Lane<D>(1)));
}
// x - n ln2, and what its rounding lost.
template <class D, class V>
HWY_INLINE V without_twos(D d, V x, V n, V* low) {
  using C = ExpConstants<Lane<D>>;
  V first = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), first);
  *low = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), hn::Sub(first, r));
  return r;
}
// e^(x + tail) for x <= 0 not far below the lowest, the tail small: with less error than exp, for functions that go on
// computing.
template <class D, class V>
HWY_INLINE V exp_below_zero(D d, V x, V tail) {
  V n = hn::Round(hn::Mul(x, hn::Set(d, Lane<D>(1.4426950408889634))));
  V low, r = hn::Add(without_twos(d, x, n, &low), tail);
  V q = polynomial(d, r, ExpConstants<Lane<D>>::exp);
  V beyond = hn::MulAdd(hn::Mul(r, r), q, low);
  return scaled(d, hn::Add(hn::Add(r, beyond), hn::Set(d, Lane<D>(1))), n);
}
template <class D, class V>
HWY_INLINE V exp(D d, V x) {
  using C = ExpConstants<Lane<D>>;
  x = clamped(d, x, C::lowest, C::highest);
  V n = hn::Round(hn::Mul(x, hn::Set(d, Lane<D>(1.4426950408889634))));
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
  return scaled(d, exp_near_zero(d, r), n);
}

template <class D, class V>
HWY_INLINE V exp2(D d, V x) {
  static constexpr float c[] = {0.69314718054f,   0.24022651076f,    0.055504109625f, 0.0096180369109f,
                                0.0013333430866f, 0.00015467110331f, 1.5314930145e-5f};
  x = clamped(d, x, -151, 129);
  V n = hn::Round(x);
  V r = hn::Sub(x, n);
  return scaled(d, hn::MulAdd(polynomial(d, r, c), r, hn::Set(d, 1.f)), n);
}

// 2^n (e^r - 1) + (2^n - 1), halved until the end so that 2^n does not overflow before the result does.
template <class D, class V>
HWY_INLINE V expm1(D d, V x) {
  using T = Lane<D>;
  using C = ExpConstants<T>;
  V inside = clamped(d, x, C::expm1_lowest, C::highest);
  V n = hn::Round(hn::Mul(inside, hn::Set(d, T(1.4426950408889634))));
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), inside);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
  V p = hn::MulAdd(hn::Mul(r, r), polynomial(d, r, C::expm1), r);
  V half = power_of_two(d, hn::Sub(n, hn::Set(d, T(1))));
  V y = hn::MulAdd(p, half, hn::Sub(half, hn::Set(d, T(0.5))));
  y = hn::IfThenElse(hn::Eq(n, hn::Zero(d)), p, hn::Add(y, y));
  return hn::CopySign(y, x);
}

// (tanh(x) / x - 1) / x^2 as a polynomial of x^2, up to x = 0.56
template <class T>
struct TanhConstants;
template <>
struct TanhConstants<float> {
  static constexpr float near[] = {-0.33333315272f, 0.13332498891f, -0.053842278937f, 0.021027219059f,
                                   -0.0062074280059f};
};
template <>
struct TanhConstants<double> {
  static constexpr double near[] = {-0.333333333333333316,    0.13333333333332961,       -0.0539682539679691716,
                                    0.0218694885252213245,    -0.00886323528355202638,   0.00359212449509680593,
                                    -0.00145580032530254251,  0.000589802745566016175,   -0.00023810482360514484,
                                    0.0000937181545834489726, -0.0000326408586105996877, 7.26371721367618353e-6};
};
// Beyond the polynomial's range 1 - 2 e / (1 + e) with e = exp(-2|x|), which never overflows.
template <class D, class V>
HWY_INLINE V tanh(D d, V x) {
  using T = Lane<D>;
  using C = ExpConstants<T>;
  const V one = hn::Set(d, T(1));
  V a = hn::Abs(x), z = hn::Mul(x, x);
  V near = hn::MulAdd(hn::Mul(polynomial(d, z, TanhConstants<T>::near), z), x, x);
  V twice = hn::Max(hn::Set(d, C::expm1_lowest), hn::Mul(a, hn::Set(d, T(-2))));
  V n = hn::Round(hn::Mul(twice, hn::Set(d, T(1.4426950408889634))));
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), twice);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
  V e = hn::Mul(exp_near_zero(d, r), power_of_two(d, n));
  V far = hn::Sub(one, hn::Div(hn::Add(e, e), hn::Add(one, e)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, T(0.55))), near, far), x);
}

// e^x / 2 for x >= 0, finite as long as that is.
template <class D, class V>
HWY_INLINE V half_exp(D d, V x) {
  using C = ExpConstants<float>;
  x = hn::Min(hn::Set(d, 90.f), x);
  V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), x);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
  return scaled(d, exp_near_zero(d, r), hn::Sub(n, hn::Set(d, 1.f)));
}
template <class D, class V>
HWY_INLINE V sinh(D d, V x) {
  static constexpr float c[] = {0.16666666489f, 0.0083333505973f, 0.00019836066354f, 2.8174391861e-6f};
  V a = hn::Abs(x), z = hn::Mul(a, a), h = half_exp(d, a);
  V near = hn::MulAdd(hn::Mul(polynomial(d, z, c), z), a, a);
  V far = hn::Sub(h, hn::Div(hn::Set(d, 0.25f), h));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, 1.f)), near, far), x);
}
template <class D, class V>
HWY_INLINE V cosh(D d, V x) {
  V h = half_exp(d, hn::Abs(x));
  return hn::Add(h, hn::Div(hn::Set(d, 0.25f), h));
}

// What sigmoid and silu share: with e = exp(-|x|), sigmoid(x) = (x < 0 ? e : 1) / (1 + e).
template <class V>
struct Fraction {
  V over, under, e;
};
template <class D, class V>
HWY_INLINE Fraction<V> sigmoid_fraction(D d, V x) {
  using T = Lane<D>;
  V e = exp_below_zero(d, hn::Max(hn::Set(d, ExpConstants<T>::lowest), hn::Neg(hn::Abs(x))), hn::Zero(d));
  V one = hn::Set(d, T(1));
  return {hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e), e};
}
// The slope of x sigmoid(u) where u has slope `inner`: sigmoid(u) + x inner e / (1 + e)^2, in which nothing cancels.
template <class D, class V>
HWY_INLINE V times_sigmoid_slope(D d, V x, V u, V inner) {
  auto f = sigmoid_fraction(d, u);
  V by = hn::Div(hn::Set(d, Lane<D>(1)), f.under);
  return hn::MulAdd(hn::Mul(hn::Mul(hn::Mul(f.e, by), by), x), inner, hn::Mul(f.over, by));
}
// a * b - product, exactly.
template <class D, class V>
HWY_INLINE V lost_by_product([[maybe_unused]] D d, V a, V b, V product) {
#if HWY_TARGET == HWY_SSE4
  // Without a fused instruction, by halves of the mantissas (T. Dekker, 1971).
  const hn::RebindToUnsigned<D> du;
  constexpr int bits = sizeof(Lane<D>) == 4 ? 12 : 27;
  const auto mask = hn::Set(du, ~((hn::TFromD<decltype(du)>(1) << bits) - 1));
  V a1 = hn::BitCast(d, hn::And(hn::BitCast(du, a), mask)), a2 = hn::Sub(a, a1);
  V b1 = hn::BitCast(d, hn::And(hn::BitCast(du, b), mask)), b2 = hn::Sub(b, b1);
  V left = hn::Sub(hn::Mul(a1, b1), product);
  return hn::Add(hn::Add(hn::Add(left, hn::Mul(a1, b2)), hn::Mul(a2, b1)), hn::Mul(a2, b2));
#else
  return hn::MulSub(a, b, product);
#endif
}
// The quotient y of a fraction at x, with what rounding lost: in 1 + e, and in the numerator. Only left of zero is that
// an ulp too many.
template <class D, class V>
HWY_INLINE V with_what_was_lost(D d, V x, const Fraction<V>& f, V lost_over, V y) {
  if constexpr (sizeof(Lane<D>) == 4) {
    V lost_under = hn::Sub(f.over, hn::Sub(f.under, hn::Set(d, Lane<D>(1))));
    V rest = hn::NegMulAdd(y, lost_under, lost_over);
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::MulAdd(rest, hn::ApproximateReciprocal(f.under), y), y);
  }
  return y;
}
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  auto f = sigmoid_fraction(d, x);
  return with_what_was_lost(d, x, f, hn::Zero(d), hn::Div(f.over, f.under));
}
// nan at -inf, as PyTorch's.
template <class D, class V>
HWY_INLINE V silu(D d, V x) {
  auto f = sigmoid_fraction(d, x);
  V over = hn::Mul(x, f.over), y = hn::Div(over, f.under), back = hn::Mul(y, f.under);
  // Left of zero three roundings meet: what the product and the sum lost goes into the remainder of the division.
  V lost = lost_by_product(d, x, f.over, over), lost_back = lost_by_product(d, y, f.under, back);
  V lost_under = hn::Sub(f.over, hn::Sub(f.under, hn::Set(d, Lane<D>(1))));
  V rest = hn::Add(hn::Sub(hn::Sub(over, back), lost_back), hn::NegMulAdd(y, lost_under, lost));
  return hn::CopySign(hn::Add(y, hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), hn::Div(rest, f.under))), x);
}
template <class D, class V>
HWY_INLINE V silu_slope(D d, V x) {
  return times_sigmoid_slope(d, x, x, hn::Set(d, Lane<D>(1)));
}

// ---- logarithms. x = 2^e (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), log(1 + f) = f + rest.
template <class V>
struct LogParts {
  V e, f, rest;
};
template <class D, class V>
HWY_INLINE V log_rest(D d, V f) {
  static constexpr float c[] = {0.33333310448f,  -0.2499998657f, 0.20002226207f,  -0.16669252041f, 0.1421866547f,
                                -0.12384332282f, 0.1187291499f,  -0.11789879145f, 0.069155768416f};
  V square = hn::Mul(f, f);
  return hn::Mul(square, hn::MulAdd(f, polynomial(d, f, c), hn::Set(d, -0.5f)));
}
template <class D, class V>
HWY_INLINE LogParts<V> log_parts(D d, V x) {
  const hn::RebindToSigned<D> di;
  auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  x = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 8388608.f)), x);
  auto bits = hn::BitCast(di, x);
  auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e))), hn::Set(d, 1.f));
  V exponent = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(tiny, hn::Set(d, 23.f)));
  return {exponent, f, log_rest(d, f)};
}
// y where the logarithm of x is finite, the limits elsewhere.
template <class D, class V>
HWY_INLINE V log_ends(D d, V x, V y) {
  const V inf = hn::Set(d, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Lt(x, inf), y, x);  // inf and nan
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
}
template <class D, class V>
HWY_INLINE V log_sum(D d, const LogParts<V>& parts) {
  V low = hn::Add(parts.f, hn::MulAdd(parts.e, hn::Set(d, 1.42860677e-6f), parts.rest));
  return hn::MulAdd(parts.e, hn::Set(d, 0.693145752f), low);
}
template <class D, class V>
HWY_INLINE V log(D d, V x) {
  return log_ends(d, x, log_sum(d, log_parts(d, x)));
}
template <class D, class V>
HWY_INLINE V log2(D d, V x) {
  auto [e, f, rest] = log_parts(d, x);
  V low = hn::MulAdd(f, hn::Set(d, 1.925963033e-8f), hn::Mul(rest, hn::Set(d, 1.44269504f)));
  return log_ends(d, x, hn::Add(hn::MulAdd(f, hn::Set(d, 1.44269502f), low), e));
}
template <class D, class V>
HWY_INLINE V log10(D d, V x) {
  auto [e, f, rest] = log_parts(d, x);
  // log10(2) in two parts, the first short enough for exact products.
  V low = hn::MulAdd(e, hn::Set(d, 4.6050389812e-6f), hn::Mul(rest, hn::Set(d, 0.434294482f)));
  low = hn::MulAdd(f, hn::Set(d, -1.0103049952e-8f), low);
  low = hn::MulAdd(f, hn::Set(d, 0.434294492f), low);
  return log_ends(d, x, hn::MulAdd(e, hn::Set(d, 0.301025390625f), low));
}
// u = 1 + x loses c = x - (u - 1), which comes back in f, at u's scale.
template <class D, class V>
HWY_INLINE V log1p(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.f);
  V u = hn::Add(one, x), c = hn::Sub(x, hn::Sub(u, one));
  auto bits = hn::BitCast(di, u);
  auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  auto down = hn::ShiftLeft<23>(e);
  V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, down)), one);
  V e_float = hn::ConvertTo(d, e);
  // From 2^24 on nothing is lost that counts; it would not scale either.
  auto exact = hn::Gt(e, hn::Set(di, 24));
  V scale = hn::BitCast(d, hn::Sub(hn::BitCast(di, one), down));
  f = hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, exact))), f, hn::MulAdd(c, scale, f));
  V y = log_sum(d, LogParts<V>{e_float, f, log_rest(d, f)});
  y = log_ends(d, u, y);
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
}

// ---- sin, cos, tan: x = n pi/2 + r. Arguments too large for that (and inf) go to the C library, lane by lane.
#if HWY_NATIVE_FMA
inline constexpr float kLargestAngle = 16000.f;
#else
inline constexpr float kLargestAngle = 4000.f;
#endif
// r, and what its rounding lost. The parts of pi/2 are so short that what leads to r cancels exactly.
template <class D, class V>
HWY_INLINE V quarter_turns(D d, V x, V* n, V* low) {
  *n = hn::Round(hn::Mul(x, hn::Set(d, 0.636619772f)));
#if HWY_NATIVE_FMA
  V first = hn::NegMulAdd(*n, hn::Set(d, 1.57079637f), x);
  const V second_part = hn::Set(d, -4.3684849515557289124e-8f), third_part = hn::Set(d, -2.65404863051e-11f);
#else
  V first = hn::NegMulAdd(*n, hn::Set(d, 1.5703125f), x);
  first = hn::NegMulAdd(*n, hn::Set(d, 4.837512969970703125e-4f), first);
  const V second_part = hn::Set(d, 7.549533620476722717e-8f), third_part = hn::Set(d, 2.563344151594518788e-12f);
#endif
  V r = hn::NegMulAdd(*n, second_part, first);
  *low = hn::NegMulAdd(*n, third_part, hn::NegMulAdd(*n, second_part, hn::Sub(first, r)));
  return r;
}
template <class D, class V>
HWY_INLINE V sin_near_zero(D d, V r, V z) {
  static constexpr float c[] = {-0.16666666641f, 0.0083333293624f, -0.00019839327161f, 2.7182374304e-6f};
  return hn::MulAdd(hn::Mul(z, polynomial(d, z, c)), r, r);
}
template <class D, class V>
HWY_INLINE V cos_near_zero(D d, V z) {
  static constexpr float c[] = {0.041666666622f, -0.0013888883722f, 2.4799511711e-5f, -2.7209543634e-7f};
  V low = hn::Mul(hn::Mul(z, z), polynomial(d, z, c));
  return hn::Add(hn::Set(d, 1.f), hn::MulAdd(z, hn::Set(d, -0.5f), low));
}
// The lanes beyond kLargestAngle, from f.
template <class D, class V>
HWY_NOINLINE V large_angles(D d, V x, V y, float (*f)(float)) {
  HWY_ALIGN float in[64], out[64];
  hn::Store(x, d, in);
  hn::Store(y, d, out);
  for (size_t i = 0; i < hn::Lanes(d); i++)
    if (!(std::fabs(in[i]) <= kLargestAngle)) out[i] = f(in[i]);
  return hn::Load(d, out);
}
// turns: 0 for sin, 1 for cos.
template <int turns, class D, class V>
HWY_INLINE V sin_or_cos(D d, V x) {
  const hn::RebindToSigned<D> di;
  V n, low, r = quarter_turns(d, x, &n, &low);
  r = hn::Add(r, low);
  V z = hn::Mul(r, r);
  auto quadrant = hn::Add(hn::NearestInt(n), hn::Set(di, turns));
  auto odd = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::TestBit(quadrant, hn::Set(di, 1)))));
  V y = hn::IfThenElse(odd, cos_near_zero(d, z), sin_near_zero(d, r, z));
  auto sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
  y = hn::Xor(y, hn::BitCast(d, sign));
  if (turns == 0) y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0
  auto small = hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle));
  if (HWY_UNLIKELY(!hn::AllTrue(d, small))) y = large_angles(d, x, y, turns ? &cosf : &sinf);
  return y;
}
template <class D, class V>
HWY_INLINE V tan(D d, V x) {
  static constexpr float c[] = {0.33333351742f,  0.13332599407f,    0.054066757664f, 0.021248564456f,
                                0.010919289569f, -1.2342564265e-5f, 0.0044248626244f};
  const hn::RebindToSigned<D> di;
  V n, low, r = quarter_turns(d, x, &n, &low), z = hn::Mul(r, r);
  V beyond = hn::Mul(hn::Mul(z, polynomial(d, z, c)), r), rough = hn::Add(r, beyond);
  V t = hn::Add(r, hn::MulAdd(low, hn::MulAdd(rough, rough, hn::Set(d, 1.f)), beyond));
  auto odd = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(di, hn::TestBit(hn::NearestInt(n), hn::Set(di, 1)))));
  V y = hn::IfThenElse(odd, hn::Div(hn::Set(d, -1.f), t), t);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);  // -0
  auto small = hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle));
  if (HWY_UNLIKELY(!hn::AllTrue(d, small))) y = large_angles(d, x, y, &tanf);
  return y;
}

// ---- their inverses. pi/2 comes in two parts.
inline constexpr float kHalfPi = 1.57079637f, kHalfPiRest = -4.37113883e-8f;

template <class D, class V>
HWY_INLINE V atan(D d, V x) {
  static constexpr float c[] = {-0.33333327434f, 0.19999692624f,   -0.14280130895f, 0.11060245484f,   -0.088188516608f,
                                0.067595794786f, -0.044946545709f, 0.022760422806f, -0.007422674739f, 0.0011348854256f};
  V a = hn::Abs(x);
  auto large = hn::Gt(a, hn::Set(d, 1.f));
  V t = hn::IfThenElse(large, hn::Div(hn::Set(d, 1.f), a), a), z = hn::Mul(t, t);
  V y = hn::MulAdd(hn::Mul(polynomial(d, z, c), z), t, t);
  V rest = hn::Sub(hn::Set(d, kHalfPi), hn::Sub(y, hn::Set(d, kHalfPiRest)));
  return hn::CopySign(hn::IfThenElse(large, rest, y), x);
}
// asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)), used from 1/2 on. What both asin and acos begin with: the arcsine of a,
// or of that root, as s + beyond.
template <class V>
struct Arcsine {
  V s, beyond;
};
template <class D, class V>
HWY_INLINE Arcsine<V> short_arcsine(D d, V a, hn::Mask<D> large) {
  static constexpr float c[] = {0.16666659853f, 0.075005121417f, 0.044515468741f,
                                0.03181984328f, 0.014393699573f, 0.037578321993f};
  V half = hn::Set(d, 0.5f);
  V z = hn::IfThenElse(large, hn::NegMulAdd(a, half, half), hn::Mul(a, a));
  V s = hn::IfThenElse(large, hn::Sqrt(z), a);
  return {s, hn::Mul(hn::Mul(polynomial(d, z, c), z), s)};
}
template <class D, class V>
HWY_INLINE V asin(D d, V x) {
  V a = hn::Abs(x);
  auto large = hn::Gt(a, hn::Set(d, 0.5f));
  auto [s, beyond] = short_arcsine(d, a, large);
  V rest =
      hn::Sub(hn::Sub(hn::Set(d, kHalfPi), hn::Add(s, s)), hn::Sub(hn::Add(beyond, beyond), hn::Set(d, kHalfPiRest)));
  return hn::CopySign(hn::IfThenElse(large, rest, hn::Add(s, beyond)), x);
}
template <class D, class V>
HWY_INLINE V acos(D d, V x) {
  V a = hn::Abs(x);
  auto large = hn::Gt(a, hn::Set(d, 0.5f));
  auto [s, beyond] = short_arcsine(d, a, large);
  V p = hn::Add(s, beyond), twice = hn::Add(p, p);
  V near = hn::Sub(hn::Set(d, kHalfPi), hn::Sub(hn::CopySign(p, x), hn::Set(d, kHalfPiRest)));
  V left = hn::Sub(hn::Set(d, 2 * kHalfPi), hn::Sub(twice, hn::Set(d, 2 * kHalfPiRest)));
  return hn::IfThenElse(large, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), left, twice), near);
}

// ---- the error function and the normal distribution
// Near zero a polynomial; from 1 on 1 - e^-q(x) with q = -log(erfc x).
template <class D, class V>
HWY_INLINE V erf(D d, V x) {
  static constexpr float near[] = {0.12837916706f,   -0.37612638484f,    0.11283782747f,    -0.026865445819f,
                                   0.0052210748767f, -0.00084847114958f, 0.00011270545258f, -9.6801396235e-6f};
  static constexpr float far[] = {-0.0001880341072f, 1.1295783965f,    0.63321994633f,     0.10841852165f,
                                  -0.025208222406f,  0.0042045494075f, -0.00044133391045f, 2.1686644938e-5f};
  V a = hn::Min(hn::Set(d, 4.f), hn::Abs(x)), z = hn::Mul(a, a);
  V small = hn::MulAdd(polynomial(d, z, near), a, a);
  V q = polynomial(d, a, far);
  V n = hn::Round(hn::Mul(q, hn::Set(d, -1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693147181f), hn::Neg(q));  // the sum's error is that of 1
  V large = hn::NegMulAdd(exp_near_zero(d, r), power_of_two(d, n), hn::Set(d, 1.f));
  V y = hn::IfThenElse(hn::Lt(a, hn::Set(d, 1.f)), small, large);
  return hn::CopySign(y, x);
}

// erfc(z) e^(z^2) = p(u) / (z + 2.5) with u = (z - 2.5) / (z + 2.5), good from z = 0.53 on.
inline constexpr double kBell[] = {1.054031818,    -0.80465188721,   0.45391440603,     -0.17124984728,  0.028355841392,
                                   0.008380921319, -0.0047798929829, -0.00039593465811, 0.00059416049954};
// In double, since the factors' errors would add up to 4 ulp.
template <class D, class V>
HWY_INLINE V erfc_far(D d, V x) {
  const hn::Half<D> half;
  const hn::Repartition<double, D> wide;
  auto tail = [&](auto part) HWY_ATTR {
    auto w = hn::PromoteTo(wide, part), z = hn::Min(hn::Set(wide, 10.2), hn::Abs(w)), k = hn::Set(wide, 2.5);
    auto t = hn::Div(hn::Set(wide, 1.), hn::Add(z, k));
    auto p = hn::Mul(t, polynomial(wide, hn::Mul(hn::Sub(z, k), t), kBell));
    auto y = hn::Mul(exp_below_zero(wide, hn::Neg(hn::Mul(z, z)), hn::Zero(wide)), p);
    return hn::DemoteTo(half, hn::IfThenElse(hn::Lt(w, hn::Zero(wide)), hn::Sub(hn::Set(wide, 2.), y), y));
  };
  return hn::Combine(d, tail(hn::UpperHalf(half, x)), tail(hn::LowerHalf(half, x)));
}
template <class D, class V>
HWY_INLINE V erfc(D d, V x) {
  static constexpr float c[] = {0.12837916425f, -0.37612588818f, 0.11282378931f, -0.026726175243f, 0.004651662215f};
  V near = hn::Sub(hn::Set(d, 1.f), hn::MulAdd(x, polynomial(d, hn::Mul(x, x), c), x));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0.53f)), near, erfc_far(d, x));
}
// The share of the normal distribution below x, and its density times sqrt(2 pi). Near zero 1/2 + x q(x^2), elsewhere
// the tail 1/2 erfc(|x| / sqrt 2) as above: one polynomial, whose variable and last coefficients each lane chooses.
template <class D, class V>
HWY_INLINE V normal_below(D d, V x, V* density) {
  static constexpr float q[] = {0.39894227934f, -0.066490288542f, 0.009972281748f, -0.001181065505f, 0.00010272068706f};
  static constexpr auto p = [](int i) { return static_cast<float>(kBell[i] * 0.70710678118654752); };
  V a = hn::Min(hn::Set(d, 14.4249783f), hn::Abs(x)), one = hn::Set(d, 1.f), half = hn::Set(d, 0.5f);
  auto near = hn::Lt(a, hn::Set(d, 0.75f));
  // e^(-a^2 / 2), with what the square lost
  V square = hn::Mul(a, a), exponent = hn::Mul(square, hn::Set(d, -0.5f));
  V n = hn::Round(hn::Mul(square, hn::Set(d, -0.72134752f)));
  V rest = hn::NegMulAdd(half, lost_by_product(d, a, a, square), hn::Mul(n, hn::Set(d, -ExpConstants<float>::ln2_low)));
  V r = hn::Add(hn::NegMulAdd(n, hn::Set(d, ExpConstants<float>::ln2_high), exponent), rest);
  *density = scaled(d, exp_near_zero(d, r), n);

  V k = hn::Set(d, 3.53553391f), t = hn::Div(one, hn::Add(a, k)), u = hn::Mul(hn::Sub(a, k), t);
  V sum = hn::MulAdd(hn::Set(d, p(8)), u, hn::Set(d, p(7)));
  for (int i : {6, 5, 4}) sum = hn::MulAdd(sum, u, hn::Set(d, p(i)));
  sum = hn::IfThenElse(near, hn::Set(d, q[4]), sum);
  u = hn::IfThenElse(near, square, u);
  for (int i : {3, 2, 1, 0}) sum = hn::MulAdd(sum, u, hn::IfThenElse(near, hn::Set(d, q[i]), hn::Set(d, p(i))));
  V tail = hn::Mul(*density, hn::Mul(t, sum));
  V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  return hn::IfThenElse(near, hn::MulAdd(x, sum, half), far);
}
// Without PyTorch's cancellation on the left: 2 ulp on the right, 5.3 there.
template <class D, class V>
HWY_INLINE V gelu(D d, V x) {
  V density;
  return hn::Mul(x, normal_below(d, x, &density));
}
template <class D, class V>
HWY_INLINE V gelu_slope(D d, V x) {
  V density, below = normal_below(d, x, &density);
  return hn::MulAdd(hn::Mul(x, hn::Set(d, 0.398942280f)), density, below);
}
// 0.5 x (1 + tanh(v)) = x sigmoid(2 v) with v = sqrt(2/pi) (x + 0.044715 x^3)
template <class D, class V>
HWY_INLINE V gelu_tanh_argument(D d, V x) {
  V z = hn::Mul(x, x);
  return hn::Mul(x, hn::MulAdd(z, hn::Set(d, 0.0713548163f), hn::Set(d, 1.59576912f)));
}
template <class D, class V>
HWY_INLINE V gelu_tanh(D d, V x) {
  auto f = sigmoid_fraction(d, gelu_tanh_argument(d, x));
  V over = hn::Mul(x, f.over);
  return with_what_was_lost(d, x, f, lost_by_product(d, x, f.over, over), hn::Div(over, f.under));
}
template <class D, class V>
HWY_INLINE V gelu_tanh_slope(D d, V x) {
  V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.214064449f), hn::Set(d, 1.59576912f));
  return times_sigmoid_slope(d, x, gelu_tanh_argument(d, x), inner);
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
