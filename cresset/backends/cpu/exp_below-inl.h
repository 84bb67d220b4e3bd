// exp(x) for x <= 0, which is what softmax and attention need: no overflow, and results too small for a normal number
// are 0, since denormal ones cost a hundred cycles each. nan stays. Include after <hwy/contrib/math/math-inl.h>.
#if defined(CRESSET_EXP_BELOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESSET_EXP_BELOW_INL_H
#undef CRESSET_EXP_BELOW_INL_H
#else
#define CRESSET_EXP_BELOW_INL_H
#endif

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {

// 2^n e^r with |r| <= ln(2) / 2; e^r by Cephes' polynomial, under 2 ulp.
template <class V>
HWY_INLINE V exp_below_float(V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto tiny = hn::Lt(x, hn::Set(d, -87.3365F));
  const auto magic = hn::Set(d, 12582912.0F);  // adding 1.5 * 2^23 rounds to a whole number, in the low bits
  const auto shifted = hn::MulAdd(x, hn::Set(d, 1.44269504F), magic);
  const auto n = hn::Sub(shifted, magic);
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  auto p = hn::MulAdd(hn::Set(d, 1.9875691500e-4F), r, hn::Set(d, 1.3981999507e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 8.3334519073e-3F));
  p = hn::MulAdd(p, r, hn::Set(d, 4.1665795894e-2F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.6666665459e-1F));
  p = hn::MulAdd(p, r, hn::Set(d, 5.0000001201e-1F));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const auto bits = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(tiny, hn::BitCast(d, bits));
}

template <class T, class V>
HWY_INLINE V exp_below(V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<T, float>) {
    return exp_below_float(x);
  } else {
    const hn::ScalableTag<T> d;
    const auto seen = hn::Ge(x, hn::Set(d, T(-745.1332191019412)));
    const auto e = hn::IfThenElseZero(seen, hn::Exp(d, hn::IfThenElseZero(seen, x)));
    return hn::IfThenElse(hn::IsNaN(x), x, e);
  }
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
