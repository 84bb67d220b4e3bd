// The direct convolution on vectors: blocks of outputs by vectors of results, or of outputs by taps, that stay in
// registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/conv_direct_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>

#include "cresset/backends/cpu/conv_direct_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

constexpr bool kMasks = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;
constexpr int kSide = HWY_TARGET == HWY_AVX3 ? 4 : 2;  // vectors of results at a time, with kOutputs of them
constexpr int kOutputs = 4;
constexpr int kTaps = HWY_TARGET == HWY_AVX3 ? 6 : 3;  // of weights at a time, with kOutputs of them

// The first n elements, less than a vector; the others are 0.
template <class T>
HWY_INLINE Vector<T> load_part(const T* x, int64_t n) {
  const Tag<T> d;
  if constexpr (kMasks) return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, x);
  HWY_ALIGN T rest[64] = {};
  std::copy(x, x + n, rest);
  return hn::Load(d, rest);
}
template <class T>
HWY_INLINE void store_first(Vector<T> v, T* y, int64_t n) {
  const Tag<T> d;
  if (n >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, y);
  if constexpr (kMasks) return hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, y);
  HWY_ALIGN T rest[64];
  hn::Store(v, d, rest);
  std::copy(rest, rest + n, y);
}

// The vectors of the results in their order: rows one after the other, each cut into vectors.
template <class T>
struct Place {
  const T* x;
  int64_t y, count;
};
template <class T>
class Places {
 public:
  Places(const DirectRows<T>& at, int64_t lanes) : at_(at), lanes_(lanes) {}
  HWY_INLINE Place<T> next() {
    const Place<T> place{at_.x + row_ * at_.x_row + column_, row_ * at_.y_row + column_,
                         std::min(lanes_, at_.columns - column_)};
    column_ += lanes_;
    if (column_ >= at_.columns) {
      column_ = 0;
      row_++;
    }
    return place;
  }

 private:
  const DirectRows<T>& at_;
  int64_t lanes_, row_ = 0, column_ = 0;
};

template <class T, int O, int V>
HWY_INLINE void correlate_block(const DirectRows<T>& at, const T* w, const T* bias, T* y, const Place<T>* place) {
  const Tag<T> d;
  Vector<T> sum[O][V];
  for (int o = 0; o < O; o++)
    for (int v = 0; v < V; v++) sum[o][v] = hn::Set(d, bias[o]);
  const T* x[V];
  for (int v = 0; v < V; v++) x[v] = place[v].x;
  for (int64_t t = 0; t < at.taps; t++) {
    const int64_t offset = at.offsets[t];
    Vector<T> in[V];
    for (int v = 0; v < V; v++) in[v] = hn::LoadU(d, x[v] + offset);
    for (int o = 0; o < O; o++) {
      const auto weight = hn::Set(d, w[o * at.taps + t]);
      for (int v = 0; v < V; v++) sum[o][v] = hn::MulAdd(weight, in[v], sum[o][v]);
    }
  }
  for (int o = 0; o < O; o++)
    for (int v = 0; v < V; v++) store_first<T>(sum[o][v], y + o * at.y_output + place[v].y, place[v].count);
}

template <class T, int O>
void correlate_outputs(const DirectRows<T>& at, const T* w, const T* bias, T* y) {
  constexpr int V = O == 1 ? 4 : kSide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag<T>()));
  const int64_t chunks = (at.columns + lanes - 1) / lanes, all = chunks * at.rows;
  int64_t i = 0;
  Place<T> place[V];
  Places<T> places(at, lanes);
  for (; i + V <= all; i += V) {
    for (int v = 0; v < V; v++) place[v] = places.next();
    correlate_block<T, O, V>(at, w, bias, y, place);
  }
  for (; i < all; i++) {
    place[0] = places.next();
    correlate_block<T, O, 1>(at, w, bias, y, place);
  }
}

template <class T>
void correlate(const DirectRows<T>& at, const T* w, const T* bias) {
  int64_t o = 0;
  for (; o + kOutputs <= at.outputs; o += kOutputs)
    correlate_outputs<T, kOutputs>(at, w + o * at.taps, bias + o, at.y + o * at.y_output);
  const int64_t rest = at.outputs - o;
  w += o * at.taps;
  bias += o;
  T* y = at.y + o * at.y_output;
  if (rest == 3) correlate_outputs<T, 3>(at, w, bias, y);
  if (rest == 2) correlate_outputs<T, 2>(at, w, bias, y);
  if (rest == 1) correlate_outputs<T, 1>(at, w, bias, y);
}

template <class T, int O, int B>
HWY_INLINE void add_up(const DirectRows<T>& at, Vector<T> (&sum)[O][B], T* dw) {
  const Tag<T> d;
  for (int o = 0; o < O; o++)
    for (int b = 0; b < B; b++) dw[o * at.taps + b] += hn::GetLane(hn::SumOfLanes(d, sum[o][b]));
}

// Whole vectors first, then the rest of every row: in one loop the compiler would not keep the sums in registers.
template <class T, int O, int B>
void weigh_block(const DirectRows<T>& at, const int64_t* offsets, const T* g, T* dw) {
  const Tag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t whole = at.columns / lanes * lanes, rest = at.columns - whole;
  Vector<T> sum[O][B];
  for (int o = 0; o < O; o++)
    for (int b = 0; b < B; b++) sum[o][b] = hn::Zero(d);
  for (int64_t row = 0; row < at.rows; row++) {
    const T *x = at.x + row * at.x_row, *from = g + row * at.y_row;
    for (int64_t j = 0; j < whole; j += lanes) {
      Vector<T> out[O];
      for (int o = 0; o < O; o++) out[o] = hn::LoadU(d, from + o * at.y_output + j);
      for (int b = 0; b < B; b++) {
        const auto in = hn::LoadU(d, x + offsets[b] + j);
        for (int o = 0; o < O; o++) sum[o][b] = hn::MulAdd(out[o], in, sum[o][b]);
      }
    }
  }
  if (whole > 0) add_up<T, O, B>(at, sum, dw);
  if (rest == 0) return;
  for (int o = 0; o < O; o++)
    for (int b = 0; b < B; b++) sum[o][b] = hn::Zero(d);
  for (int64_t row = 0; row < at.rows; row++) {
    const T *x = at.x + row * at.x_row + whole, *from = g + row * at.y_row + whole;
    Vector<T> out[O];
    for (int o = 0; o < O; o++) out[o] = load_part(from + o * at.y_output, rest);
    for (int b = 0; b < B; b++) {
      const auto in = load_part(x + offsets[b], rest);
      for (int o = 0; o < O; o++) sum[o][b] = hn::MulAdd(out[o], in, sum[o][b]);
    }
  }
  add_up<T, O, B>(at, sum, dw);
}

template <class T, int O, int B>
void weigh_outputs(const DirectRows<T>& at, const T* g, T* dw) {
  int64_t t = 0;
  for (; t + B <= at.taps; t += B) weigh_block<T, O, B>(at, at.offsets + t, g, dw + t);
  if constexpr (B != 3)
    for (; t + 3 <= at.taps; t += 3) weigh_block<T, O, 3>(at, at.offsets + t, g, dw + t);
  for (; t < at.taps; t++) weigh_block<T, O, 1>(at, at.offsets + t, g, dw + t);
}

template <class T>
void weigh(const DirectRows<T>& at, T* dw) {
  int64_t o = 0;
  for (; o + kOutputs <= at.outputs; o += kOutputs)
    weigh_outputs<T, kOutputs, kTaps>(at, at.y + o * at.y_output, dw + o * at.taps);
  for (; o < at.outputs; o++) weigh_outputs<T, 1, 9>(at, at.y + o * at.y_output, dw + o * at.taps);
}

template <class T>
const DirectInner<T>& find_direct() {
  static constexpr DirectInner<T> inner{&correlate<T>, &weigh<T>};
  return inner;
}
const DirectInner<float>& find_direct_float() { return find_direct<float>(); }
const DirectInner<double>& find_direct_double() { return find_direct<double>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_direct_float);
HWY_EXPORT(find_direct_double);

template <>
const DirectInner<float>& direct_inner<float>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_direct_float)();
}
template <>
const DirectInner<double>& direct_inner<double>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_direct_double)();
}

}  // namespace cresset::cpu
#endif
