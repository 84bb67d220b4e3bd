// Vectors of numbers as they stand in memory: float and double as they are, bfloat16 as floats, which are rounded to
// nearest even on their way back, bit for bit as BFloat16(float) does it. Include after <hwy/highway.h>.
#if defined(CRESSET_BFLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESSET_BFLOAT16_INL_H
#undef CRESSET_BFLOAT16_INL_H
#else
#define CRESSET_BFLOAT16_INL_H
#endif

#include <type_traits>

#include "cresset/core/half.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {

template <class D, class S>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> load_numbers(D d, const S* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<S, BFloat16>) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
  } else {
    return hn::LoadU(d, from);
  }
}

// The CPU's own instruction would make subnormal numbers zero.
template <class D, class S>
HWY_INLINE void store_numbers(hwy::HWY_NAMESPACE::Vec<D> v, D d, S* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  if constexpr (std::is_same_v<S, BFloat16>) {
    const hn::RebindToUnsigned<D> du;
    const hn::RebindToSigned<D> di;
    const hn::Rebind<uint16_t, D> narrow;
    const auto bits = hn::BitCast(du, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd));
    rounded = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7fc0), rounded);
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(di, rounded)), narrow, reinterpret_cast<uint16_t*>(to));
  } else {
    hn::StoreU(v, d, to);
  }
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
