// The terms of the common losses in vectors, compiled once per SIMD target. Ends of arrays go through the same code in
// a buffer, so that a term's bits do not depend on where it stands.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/loss_terms_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/loss_terms.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V sign(D d, V v) {
  auto one = hn::Set(d, 1);
  return hn::IfThenElse(hn::Gt(v, hn::Zero(d)), one, hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Neg(one), v));
}
// exp(-|x|); Highway's Exp is wrong far below zero.
template <class D, class V>
HWY_INLINE V exp_of_minus_abs(D d, V x) {
  using T = hn::TFromD<D>;
  const T least = std::is_same_v<T, float> ? T(-103.97208) : T(-745.1332191019412);
  return hn::Exp(d, hn::Max(hn::Neg(hn::Abs(x)), hn::Set(d, least)));
}

template <LossTerm kind, int order, class D, class V>
HWY_INLINE V term(D d, V x, V t, V a) {
  using T = hn::TFromD<D>;
  auto half = hn::Set(d, T(0.5)), one = hn::Set(d, T(1));
  if constexpr (kind == LossTerm::entropy) {
    if constexpr (order == 1) {
      auto spread = hn::Max(hn::Mul(hn::Sub(one, x), x), hn::Set(d, T(1e-12)));
      return hn::Div(hn::Sub(x, t), spread);
    }
    auto least = hn::Set(d, T(-100));  // also at 0, where Highway's logarithms are not to be relied on
    auto yes = hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Max(hn::Log(d, x), least), least);
    auto no = hn::IfThenElse(hn::Lt(x, one), hn::Max(hn::Log1p(d, hn::Neg(x)), least), least);
    return hn::Sub(hn::Mul(hn::Sub(t, one), no), hn::Mul(t, yes));
  } else if constexpr (kind == LossTerm::logit_entropy) {
    V e = exp_of_minus_abs(d, x), y;
    if constexpr (order == 0) {
      auto soft = hn::Add(hn::Max(hn::Neg(x), hn::Zero(d)), hn::Log1p(d, e));
      y = hn::Add(hn::Mul(hn::Sub(one, t), x), soft);
    } else {
      auto over = hn::Div(one, hn::Add(one, e));
      y = hn::Sub(hn::IfThenElse(hn::Ge(x, hn::Zero(d)), over, hn::Mul(e, over)), t);
    }
    return hn::IfThenElse(hn::IsNaN(x), x, y);
  } else {
    V z = hn::Sub(x, t);
    if constexpr (kind == LossTerm::squared) return order == 0 ? hn::Mul(z, z) : hn::Add(z, z);
    V size = hn::Abs(z);
    if constexpr (kind == LossTerm::absolute) return order == 0 ? size : sign(d, z);
    if constexpr (kind == LossTerm::smooth_absolute) {
      V inside = order == 0 ? hn::Div(hn::Mul(half, hn::Mul(z, z)), a) : hn::Div(z, a);
      V outside = order == 0 ? hn::Sub(size, hn::Mul(half, a)) : sign(d, z);
      return hn::IfThenElse(hn::Lt(size, a), inside, outside);
    }
    if constexpr (kind == LossTerm::huber) {
      V inside = order == 0 ? hn::Mul(half, hn::Mul(z, z)) : z;
      V outside = order == 0 ? hn::Mul(a, hn::Sub(size, hn::Mul(half, a))) : hn::Mul(a, sign(d, z));
      return hn::IfThenElse(hn::Le(size, a), inside, outside);
    }
  }
}

// Branches would be slow: how many are inside is counted first.
template <class T>
void check_fractions(const T* x, int64_t n) {
  int64_t inside = 0;
  for (int64_t i = 0; i < n; i++) inside += (x[i] >= 0) & (x[i] <= 1);
  for (int64_t i = 0; inside < n && i < n; i++)
    CRESSET_CHECK_AS(ValueError, x[i] >= 0 && x[i] <= 1,
                     "binary_cross_entropy: all elements of input should be between 0 and 1, found ", x[i]);
}

// Arrays: x, t; or g, x, t for a derivative.
template <LossTerm kind, int order, class T>
void terms(void* out, const void* const* in, int64_t n, const void* constants) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto& c = *static_cast<const TermConstants*>(constants);
  const auto a = hn::Set(d, static_cast<T>(c.a)), scale = hn::Set(d, static_cast<T>(c.scale));
  const T* g = static_cast<const T*>(in[0]);
  const T *x = static_cast<const T*>(in[order]), *t = static_cast<const T*>(in[order + 1]);
  T* y = static_cast<T*>(out);
  if (kind == LossTerm::entropy && order == 0) check_fractions(x, n);
  auto one = [&](const T* gp, const T* xp, const T* tp) HWY_ATTR {
    auto value = term<kind, order>(d, hn::LoadU(d, xp), hn::LoadU(d, tp), a);
    if constexpr (order > 0) value = hn::Mul(hn::Mul(scale, hn::LoadU(d, gp)), value);
    return value;
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(one(g + i, x + i, t + i), d, y + i);
  if (i == n) return;
  HWY_ALIGN T rest[3][64] = {};
  if (order > 0) std::copy(g + i, g + n, rest[0]);
  std::copy(x + i, x + n, rest[1]);
  std::copy(t + i, t + n, rest[2]);
  hn::StoreU(one(rest[0], rest[1], rest[2]), d, rest[0]);
  std::copy(rest[0], rest[0] + (n - i), y + i);
}

template <class T>
InnerFunction find_typed(LossTerm kind, int order) {
  switch (kind) {
    case LossTerm::squared:
      return order ? &terms<LossTerm::squared, 1, T> : &terms<LossTerm::squared, 0, T>;
    case LossTerm::absolute:
      return order ? &terms<LossTerm::absolute, 1, T> : &terms<LossTerm::absolute, 0, T>;
    case LossTerm::smooth_absolute:
      return order ? &terms<LossTerm::smooth_absolute, 1, T> : &terms<LossTerm::smooth_absolute, 0, T>;
    case LossTerm::huber:
      return order ? &terms<LossTerm::huber, 1, T> : &terms<LossTerm::huber, 0, T>;
    case LossTerm::entropy:
      return order ? &terms<LossTerm::entropy, 1, T> : &terms<LossTerm::entropy, 0, T>;
    case LossTerm::logit_entropy:
      return order ? &terms<LossTerm::logit_entropy, 1, T> : &terms<LossTerm::logit_entropy, 0, T>;
    default:
      return nullptr;
  }
}
InnerFunction find_loss_term(LossTerm kind, int order, DType type) {
  return type == kDouble ? find_typed<double>(kind, order) : find_typed<float>(kind, order);
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_loss_term);

InnerFunction loss_term_simd(LossTerm kind, int order, DType type) {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_loss_term)(kind, order, type);
}

}  // namespace cresset::cpu
#endif
