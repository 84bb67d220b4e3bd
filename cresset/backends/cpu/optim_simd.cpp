// The fused optimizer steps on vectors. What is left of a run after the last whole vector goes through the same code
// from a padded copy.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/optim_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>

#include "cresset/backends/cpu/optim_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;

// The end of several arrays as full vectors; what is missing is 0. Holds a copy while it lives, and writes it back.
template <class T, int arrays>
struct Rest {
  HWY_ALIGN T copies[arrays][64 / sizeof(T)] = {};
  const T* pointers[arrays];
  int64_t count;
  Rest(std::initializer_list<const T*> from, int64_t n) : count(n) {
    std::copy(from.begin(), from.end(), pointers);
    for (int a = 0; a < arrays; a++)
      if (pointers[a]) std::copy_n(pointers[a], count, copies[a]);
  }
  T* operator[](int array) { return pointers[array] ? copies[array] : nullptr; }
  void write_back(int array) {
    if (pointers[array]) std::copy_n(copies[array], count, const_cast<T*>(pointers[array]));
  }
};

enum class Momentum { none, plain, nesterov };

template <class T, Momentum momentum, bool decays>
HWY_INLINE void sgd_vectors(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<T>& numbers) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto lr = hn::Set(d, -numbers.lr), by = hn::Set(d, numbers.momentum), take = hn::Set(d, numbers.take),
             decay = hn::Set(d, numbers.weight_decay), sign = hn::Set(d, numbers.sign);
  for (int64_t i = 0; i < n; i += lanes) {
    auto param = hn::LoadU(d, p + i);
    auto grad = hn::Mul(hn::LoadU(d, g + i), sign);
    if constexpr (decays) grad = hn::MulAdd(param, decay, grad);
    if constexpr (momentum != Momentum::none) {
      const auto kept = hn::MulAdd(grad, take, hn::Mul(hn::LoadU(d, buffer + i), by));
      hn::StoreU(kept, d, buffer + i);
      grad = momentum == Momentum::nesterov ? hn::MulAdd(kept, by, grad) : kept;
    }
    hn::StoreU(hn::MulAdd(grad, lr, param), d, p + i);
  }
}
template <class T, Momentum momentum, bool decays>
void sgd_run(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<T>& numbers) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>())), whole = n / lanes * lanes;
  sgd_vectors<T, momentum, decays>(p, buffer, g, whole, numbers);
  if (whole == n) return;
  Rest<T, 3> rest({p + whole, buffer ? buffer + whole : nullptr, g + whole}, n - whole);
  sgd_vectors<T, momentum, decays>(rest[0], rest[1], rest[2], lanes, numbers);
  rest.write_back(0);
  rest.write_back(1);
}
template <class T>
void sgd(T* p, T* buffer, const T* g, int64_t n, const SgdNumbers<T>& numbers) {
  auto with = [&]<Momentum momentum>() {
    if (numbers.weight_decay != 0)
      sgd_run<T, momentum, true>(p, buffer, g, n, numbers);
    else
      sgd_run<T, momentum, false>(p, buffer, g, n, numbers);
  };
  if (!buffer)
    with.template operator()<Momentum::none>();
  else if (numbers.nesterov)
    with.template operator()<Momentum::nesterov>();
  else
    with.template operator()<Momentum::plain>();
}

// param - m / below for below > 0, the quotient to 2 ulp in float: beside the square root a division keeps the divider
// busy for longer than all else takes together. Infinite denominators become the largest one whose reciprocal is a
// normal number; nan stays.
template <class D, class V>
HWY_INLINE V less_quotient(D d, V param, V m, V below) {
#if HWY_ARCH_X86  // elsewhere the first guess is coarser
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    below = hn::Min(hn::Set(d, 0x1p126f), below);
    const V guess = hn::ApproximateReciprocal(below);
    return hn::NegMulAdd(m, hn::Mul(guess, hn::NegMulAdd(below, guess, hn::Set(d, 2.f))), param);
  }
#endif
  return hn::Sub(param, hn::Div(m, below));
}

template <class T, bool amsgrad, bool decays>
HWY_INLINE void adam_vectors(T* p, T* avg, T* square, T* largest, const T* g, int64_t n,
                             const AdamNumbers<T>& numbers) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto root = hn::Set(d, numbers.root_by_step), eps = hn::Set(d, numbers.eps_by_step),
             beta1 = hn::Set(d, numbers.beta1), take1 = hn::Set(d, numbers.take1), beta2 = hn::Set(d, numbers.beta2),
             take2 = hn::Set(d, numbers.take2), decay = hn::Set(d, numbers.weight_decay),
             keep = hn::Set(d, numbers.keep),
             sign = hn::And(hn::Set(d, numbers.sign), hn::SignBit(d));  // by bits, which is free beside the products
  for (int64_t i = 0; i < n; i += lanes) {
    auto param = hn::Mul(hn::LoadU(d, p + i), keep);
    auto grad = hn::Xor(hn::LoadU(d, g + i), sign);
    if constexpr (decays) grad = hn::MulAdd(param, decay, grad);
    const auto m = hn::MulAdd(grad, take1, hn::Mul(hn::LoadU(d, avg + i), beta1));
    auto v = hn::MulAdd(hn::Mul(grad, grad), take2, hn::Mul(hn::LoadU(d, square + i), beta2));
    hn::StoreU(m, d, avg + i);
    hn::StoreU(v, d, square + i);
    if constexpr (amsgrad) {
      // Not Max: a nan must stay, on either side.
      const auto before = hn::LoadU(d, largest + i);
      v = hn::IfThenElse(hn::Or(hn::Gt(before, v), hn::IsNaN(before)), before, v);
      hn::StoreU(v, d, largest + i);
    }
    const auto below = hn::MulAdd(hn::Sqrt(v), root, eps);
    hn::StoreU(less_quotient(d, param, m, below), d, p + i);
  }
}
template <class T, bool amsgrad, bool decays>
void adam_run(T* p, T* avg, T* square, T* largest, const T* g, int64_t n, const AdamNumbers<T>& numbers) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Tag<T>())), whole = n / lanes * lanes;
  adam_vectors<T, amsgrad, decays>(p, avg, square, largest, g, whole, numbers);
  if (whole == n) return;
  Rest<T, 5> rest({p + whole, avg + whole, square + whole, largest ? largest + whole : nullptr, g + whole}, n - whole);
  adam_vectors<T, amsgrad, decays>(rest[0], rest[1], rest[2], rest[3], rest[4], lanes, numbers);
  for (int array = 0; array < 4; array++) rest.write_back(array);
}
template <class T>
void adam(T* p, T* avg, T* square, T* largest, const T* g, int64_t n, const AdamNumbers<T>& numbers) {
  const bool decays = numbers.weight_decay != 0;
  auto* run = largest ? (decays ? &adam_run<T, true, true> : &adam_run<T, true, false>)
                      : (decays ? &adam_run<T, false, true> : &adam_run<T, false, false>);
  run(p, avg, square, largest, g, n, numbers);
}

template <class T>
const OptimInner<T>& find_optim() {
  static constexpr OptimInner<T> inner{&sgd<T>, &adam<T>};
  return inner;
}
const OptimInner<float>& find_optim_float() { return find_optim<float>(); }
const OptimInner<double>& find_optim_double() { return find_optim<double>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_optim_float);
HWY_EXPORT(find_optim_double);

template <>
const OptimInner<float>& optim_inner<float>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_optim_float)();
}
template <>
const OptimInner<double>& optim_inner<double>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_optim_double)();
}

}  // namespace cresset::cpu
#endif
