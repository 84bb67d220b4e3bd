// Attention's tiles on vectors: small products whose results stay in registers, and softmax down the columns.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/attention_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstring>
#include <limits>

#include "cresset/backends/cpu/attention_simd.h"
#include "cresset/backends/cpu/exp_below-inl.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kVectorBytes = HWY_TARGET <= HWY_AVX3 ? 64 : HWY_TARGET <= HWY_AVX2 ? 32 : 16;
constexpr int kAcross = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

template <class T>
struct Lanes {
  typedef T vector __attribute__((vector_size(kVectorBytes)));
  static constexpr int count = kVectorBytes / static_cast<int>(sizeof(T));
};

template <class T, int Rows, int Vectors>
HWY_INLINE void tile(T* c, int64_t c_row, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row,
                     int64_t depth, bool accumulate) {
  using V = typename Lanes<T>::vector;
  constexpr int lanes = Lanes<T>::count;
  V sum[Rows][Vectors] = {};
  if (accumulate) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) std::memcpy(&sum[i][v], c + i * c_row + v * lanes, sizeof(V));
  }
  for (int64_t p = 0; p < depth; p++) {
    V right[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; v++) std::memcpy(&right[v], b + p * b_row + v * lanes, sizeof(V));
#pragma GCC unroll 8
    for (int i = 0; i < Rows; i++) {
      const T left = a[i * a_row + p * a_col];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) sum[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; v++) std::memcpy(c + i * c_row + v * lanes, &sum[i][v], sizeof(V));
}

template <class T, int Vectors>
[[gnu::noinline]] void panel(T* c, int64_t c_row, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row,
                             int64_t rows, int64_t depth, bool accumulate) {
  constexpr int kRows = Vectors >= 4 ? 6 : Vectors == 2 && kAcross == 4 ? 8 : 4;
  int64_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    tile<T, kRows, Vectors>(c + i * c_row, c_row, a + i * a_row, a_row, a_col, b, b_row, depth, accumulate);
  if (kRows > 4 && i + 4 <= rows) {
    tile<T, 4, Vectors>(c + i * c_row, c_row, a + i * a_row, a_row, a_col, b, b_row, depth, accumulate);
    i += 4;
  }
  if (i + 2 <= rows) {
    tile<T, 2, Vectors>(c + i * c_row, c_row, a + i * a_row, a_row, a_col, b, b_row, depth, accumulate);
    i += 2;
  }
  for (; i < rows; i++)
    tile<T, 1, Vectors>(c + i * c_row, c_row, a + i * a_row, a_row, a_col, b, b_row, depth, accumulate);
}

template <class T>
void gemm(T* c, int64_t c_row, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row, int64_t rows,
          int64_t cols, int64_t depth, bool accumulate) {
  constexpr int64_t lanes = Lanes<T>::count;
  int64_t j = 0;
  for (; j + kAcross * lanes <= cols; j += kAcross * lanes)
    panel<T, kAcross>(c + j, c_row, a, a_row, a_col, b + j, b_row, rows, depth, accumulate);
  if constexpr (kAcross > 2)
    for (; j + 2 * lanes <= cols; j += 2 * lanes)
      panel<T, 2>(c + j, c_row, a, a_row, a_col, b + j, b_row, rows, depth, accumulate);
  for (; j < cols; j += lanes) panel<T, 1>(c + j, c_row, a, a_row, a_col, b + j, b_row, rows, depth, accumulate);
}

template <class T>
using Tag = hn::ScalableTag<T>;

// Squares of 16 bytes a side, in registers.
template <class T>
void turn(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t cols, T factor) {
  typedef T Square __attribute__((vector_size(16)));
  constexpr int64_t side = 16 / sizeof(T);
  const int64_t whole = rows / side * side;
  for (int64_t i = 0; i < whole; i += side) {
    int64_t j = 0;
    for (; j + side <= cols; j += side) {
      Square x[side], y[side];
      for (int r = 0; r < side; r++) {
        std::memcpy(&x[r], from + (i + r) * from_row + j, sizeof(Square));
        x[r] *= factor;
      }
      if constexpr (side == 4) {
        const Square a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
        const Square b = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
        const Square c = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
        const Square d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
        y[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
        y[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
        y[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
        y[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
      } else {
        y[0] = __builtin_shufflevector(x[0], x[1], 0, 2);
        y[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
      }
      for (int r = 0; r < side; r++) std::memcpy(to + (j + r) * to_row + i, &y[r], sizeof(Square));
    }
    for (; j < cols; j++)
      for (int r = 0; r < side; r++) to[j * to_row + i + r] = from[(i + r) * from_row + j] * factor;
  }
  for (int64_t i = whole; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) to[j * to_row + i] = from[i * from_row + j] * factor;
}

// A maximum of -inf is taken as 0 meanwhile: nothing counts yet.
template <class T>
bool soften(T* scores, int64_t keys, T* top, T* total, T* factor) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto least = hn::Set(d, -std::numeric_limits<T>::infinity()), one = hn::Set(d, T(1));
  bool moved = false;
  for (int64_t j = 0; j < kTile; j += lanes) {
    const auto before = hn::Load(d, top + j);
    auto best = before, second = before;
    int64_t i = 0;
    for (; i + 2 <= keys; i += 2) {
      best = hn::Max(best, hn::Load(d, scores + i * kTile + j));
      second = hn::Max(second, hn::Load(d, scores + (i + 1) * kTile + j));
    }
    if (i < keys) best = hn::Max(best, hn::Load(d, scores + i * kTile + j));
    best = hn::Max(best, second);
    const auto shift = hn::IfThenElse(hn::Eq(best, least), hn::Zero(d), best);
    const auto by = hn::IfThenElse(hn::Eq(before, best), one, exp_below<T>(hn::Sub(before, shift)));
    auto sum = hn::Zero(d), other = sum;
    for (i = 0; i + 2 <= keys; i += 2) {
      const auto e = exp_below<T>(hn::Sub(hn::Load(d, scores + i * kTile + j), shift));
      const auto f = exp_below<T>(hn::Sub(hn::Load(d, scores + (i + 1) * kTile + j), shift));
      hn::Store(e, d, scores + i * kTile + j);
      hn::Store(f, d, scores + (i + 1) * kTile + j);
      sum = hn::Add(sum, e);
      other = hn::Add(other, f);
    }
    if (i < keys) {
      const auto e = exp_below<T>(hn::Sub(hn::Load(d, scores + i * kTile + j), shift));
      hn::Store(e, d, scores + i * kTile + j);
      sum = hn::Add(sum, e);
    }
    hn::Store(best, d, top + j);
    hn::Store(by, d, factor + j);
    hn::Store(hn::MulAdd(hn::Load(d, total + j), by, hn::Add(sum, other)), d, total + j);
    moved = moved || !hn::AllTrue(d, hn::Eq(by, one));
  }
  return moved;
}

template <class T>
void scale(T* x, int64_t rows, const T* factor) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < kTile; j += lanes)
      hn::Store(hn::Mul(hn::Load(d, x + i * kTile + j), hn::Load(d, factor + j)), d, x + i * kTile + j);
}

template <class T>
void exponents(T* p, int64_t keys, const T* normalizer) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < keys; i++)
    for (int64_t j = 0; j < kTile; j += lanes)
      hn::Store(exp_below<T>(hn::Sub(hn::Load(d, p + i * kTile + j), hn::Load(d, normalizer + j))), d,
                p + i * kTile + j);
}

template <class T>
void gradient(T* dp, const T* p, int64_t keys, const T* delta) {
  const Tag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < keys; i++)
    for (int64_t j = 0; j < kTile; j += lanes) {
      const int64_t at = i * kTile + j;
      hn::Store(hn::Mul(hn::Load(d, p + at), hn::Sub(hn::Load(d, dp + at), hn::Load(d, delta + j))), d, dp + at);
    }
}

template <class T>
const AttentionInner<T>& find_attention() {
  static constexpr AttentionInner<T> inner{&gemm<T>, &soften<T>, &turn<T>, &scale<T>, &exponents<T>, &gradient<T>};
  return inner;
}

}  // namespace

const AttentionInner<float>& find_attention_float() { return find_attention<float>(); }
const AttentionInner<double>& find_attention_double() { return find_attention<double>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_attention_float);
HWY_EXPORT(find_attention_double);

template <>
const AttentionInner<float>& attention_inner<float>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_attention_float)();
}
template <>
const AttentionInner<double>& attention_inner<double>() {
  choose_simd_target();
  return HWY_DYNAMIC_DISPATCH(find_attention_double)();
}

}  // namespace cresset::cpu
#endif
