// Gates of recurrent cells on vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/rnn_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "cresset/backends/cpu/rnn_simd.h"
#include "cresset/backends/cpu/simd_inner.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

// Elements from i on of n; past the end, nothing is touched.
template <class T>
HWY_INLINE Vector<T> load(const T* x, int64_t i, int64_t n) {
  const Tag<T> d;
  if (i + static_cast<int64_t>(hn::Lanes(d)) <= n) return hn::LoadU(d, x + i);
  HWY_ALIGN T part[64] = {};
  std::copy(x + i, x + n, part);
  return hn::Load(d, part);
}
template <class T>
HWY_INLINE void store(Vector<T> v, T* y, int64_t i, int64_t n) {
  const Tag<T> d;
  if (i + static_cast<int64_t>(hn::Lanes(d)) <= n) return hn::StoreU(v, d, y + i);
  HWY_ALIGN T part[64];
  hn::Store(v, d, part);
  std::copy(part, part + (n - i), y + i);
}

template <class T>
HWY_INLINE Vector<T> sigmoid_of(Vector<T> x) {
  const Tag<T> d;
  const auto one = hn::Set(d, T(1)), end = hn::Set(d, T(87));
  const auto within = hn::Max(hn::Min(x, end), hn::Neg(end));
  const auto y = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(within))));
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
template <class T>
HWY_INLINE Vector<T> tanh_of(Vector<T> x) {
  const Tag<T> d;
  const auto end = hn::Set(d, T(20));
  const auto within = hn::Max(hn::Min(x, end), hn::Neg(end));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Tanh(d, within));
}
template <class T>
HWY_INLINE int64_t lanes_of() {
  return static_cast<int64_t>(hn::Lanes(Tag<T>()));
}

template <class T>
void lstm_row(T* h, T* c, const T* gates, const T* before, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes_of<T>()) {
    const auto in = sigmoid_of<T>(load(gates, i, n)), forget = sigmoid_of<T>(load(gates + n, i, n));
    const auto cell = tanh_of<T>(load(gates + 2 * n, i, n)), out = sigmoid_of<T>(load(gates + 3 * n, i, n));
    const auto next = hn::MulAdd(forget, load(before, i, n), hn::Mul(in, cell));
    store<T>(next, c, i, n);
    store<T>(hn::Mul(out, tanh_of<T>(next)), h, i, n);
  }
}

template <class T>
void lstm_backward_row(T* d_gates, T* d_before, const T* g_h, const T* g_c, const T* gates, const T* before, const T* c,
                       int64_t n) {
  const Tag<T> d;
  const auto one = hn::Set(d, T(1));
  for (int64_t i = 0; i < n; i += lanes_of<T>()) {
    const auto in = sigmoid_of<T>(load(gates, i, n)), forget = sigmoid_of<T>(load(gates + n, i, n));
    const auto cell = tanh_of<T>(load(gates + 2 * n, i, n)), out = sigmoid_of<T>(load(gates + 3 * n, i, n));
    const auto bent = tanh_of<T>(load(c, i, n));
    const auto to_h = g_h ? load(g_h, i, n) : hn::Zero(d);
    auto to_c = g_c ? load(g_c, i, n) : hn::Zero(d);
    to_c = hn::MulAdd(hn::Mul(to_h, out), hn::NegMulAdd(bent, bent, one), to_c);
    auto bend = [&](auto y) HWY_ATTR { return hn::NegMulAdd(y, y, y); };  // y * (1 - y)
    store<T>(hn::Mul(hn::Mul(to_c, cell), bend(in)), d_gates, i, n);
    store<T>(hn::Mul(hn::Mul(to_c, load(before, i, n)), bend(forget)), d_gates + n, i, n);
    store<T>(hn::Mul(hn::Mul(to_c, in), hn::NegMulAdd(cell, cell, one)), d_gates + 2 * n, i, n);
    store<T>(hn::Mul(hn::Mul(to_h, bent), bend(out)), d_gates + 3 * n, i, n);
    store<T>(hn::Mul(to_c, forget), d_before, i, n);
  }
}

template <class T>
void gru_row(T* h, const T* input, const T* hidden, const T* before, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes_of<T>()) {
    const auto reset = sigmoid_of<T>(hn::Add(load(input, i, n), load(hidden, i, n)));
    const auto update = sigmoid_of<T>(hn::Add(load(input + n, i, n), load(hidden + n, i, n)));
    const auto fresh = tanh_of<T>(hn::MulAdd(reset, load(hidden + 2 * n, i, n), load(input + 2 * n, i, n)));
    store<T>(hn::MulAdd(update, hn::Sub(load(before, i, n), fresh), fresh), h, i, n);
  }
}

template <class T>
void gru_backward_row(T* d_input, T* d_hidden, T* d_before, const T* g, const T* input, const T* hidden,
                      const T* before, int64_t n) {
  const Tag<T> d;
  const auto one = hn::Set(d, T(1));
  for (int64_t i = 0; i < n; i += lanes_of<T>()) {
    const auto reset = sigmoid_of<T>(hn::Add(load(input, i, n), load(hidden, i, n)));
    const auto update = sigmoid_of<T>(hn::Add(load(input + n, i, n), load(hidden + n, i, n)));
    const auto inner = load(hidden + 2 * n, i, n);
    const auto fresh = tanh_of<T>(hn::MulAdd(reset, inner, load(input + 2 * n, i, n)));
    const auto grad = load(g, i, n);
    auto bend = [&](auto y) HWY_ATTR { return hn::NegMulAdd(y, y, y); };
    const auto to_fresh = hn::Mul(hn::Mul(grad, hn::Sub(one, update)), hn::NegMulAdd(fresh, fresh, one));
    const auto to_update = hn::Mul(hn::Mul(grad, hn::Sub(load(before, i, n), fresh)), bend(update));
    const auto to_reset = hn::Mul(hn::Mul(to_fresh, inner), bend(reset));
    store<T>(to_reset, d_input, i, n);
    store<T>(to_reset, d_hidden, i, n);
    store<T>(to_update, d_input + n, i, n);
    store<T>(to_update, d_hidden + n, i, n);
    store<T>(to_fresh, d_input + 2 * n, i, n);
    store<T>(hn::Mul(to_fresh, reset), d_hidden + 2 * n, i, n);
    store<T>(hn::Mul(grad, update), d_before, i, n);
  }
}

template <class T>
void sigmoid(T* y, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes_of<T>()) store<T>(sigmoid_of<T>(load(x, i, n)), y, i, n);
}
template <class T>
void tanh(T* y, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; i += lanes_of<T>()) store<T>(tanh_of<T>(load(x, i, n)), y, i, n);
}

template <class T>
const RnnInner<T>& find_rnn() {
  static constexpr RnnInner<T> inner{&lstm_row<T>,         &lstm_backward_row<T>, &gru_row<T>,
                                     &gru_backward_row<T>, &sigmoid<T>,           &tanh<T>};
  return inner;
}
CRESSET_FIND_INNER(RnnInner, rnn)

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
CRESSET_EXPORT_INNER(RnnInner, rnn)
}  // namespace cresset::cpu
#endif
