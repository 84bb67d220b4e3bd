// Inner functions of attention. A tile holds the scores of some keys (rows) and kTile queries (columns), so that
// softmax runs down the columns, without sums across a vector. T is float or double.
#pragma once

#include <cstdint>

namespace cresset::cpu {

inline constexpr int64_t kTile = 64;
inline constexpr int64_t kPadded = 16;  // widths that gemm takes are multiples of this

template <class T>
struct AttentionInner {
  // c[i][j] (+)= sum over p of a[i * a_row + p * a_col] * b[p][j]; cols is a multiple of kPadded.
  void (*gemm)(T* c, int64_t c_row, const T* a, int64_t a_row, int64_t a_col, const T* b, int64_t b_row, int64_t rows,
               int64_t cols, int64_t depth, bool accumulate);
  // One step of softmax: top becomes the maximum so far, scores exp(scores - top), total their sum; what was there
  // before is to be multiplied by factor. Returns whether any factor is not 1.
  bool (*soften)(T* scores, int64_t keys, T* top, T* total, T* factor);
  // to[j][i] = from[i][j] * factor, for rows and cols of from
  void (*turn)(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t cols, T factor);
  // rows of kTile: x *= factor
  void (*scale)(T* x, int64_t rows, const T* factor);
  // p = exp(p - normalizer)
  void (*exponents)(T* p, int64_t keys, const T* normalizer);
  // dp = p * (dp - delta)
  void (*gradient)(T* dp, const T* p, int64_t keys, const T* delta);
};

template <class T>
const AttentionInner<T>& attention_inner();

}  // namespace cresset::cpu
