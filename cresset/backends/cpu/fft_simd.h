// Inner functions of Fourier transforms, for each instruction set. T is float or double; complex numbers in memory are
// re and im in turn, and strides count numbers of type T.
#pragma once

#include "cresset/backends/cpu/fft_plan.h"

namespace cresset::cpu {

template <class T>
struct FftInner {
  // All passes of a plan, from `from` (which may be read only) to one of `one` and `other`, which it returns. `from`
  // may be `other`.
  FftTile<T> (*passes)(const FftTilePlan<T>& plan, FftTile<T> from, FftTile<T> one, FftTile<T> other);
  // The same with lines side by side in memory on one side, as below.
  FftTile<T> (*passes_from_columns)(const FftTilePlan<T>& plan, const T* from, int64_t stride, bool inverse,
                                    FftTile<T> one, FftTile<T> other);
  void (*passes_to_columns)(const FftTilePlan<T>& plan, T* to, int64_t stride, bool inverse, FftTile<T> from,
                            FftTile<T> one, FftTile<T> other);
  // Row k times the complex number k of the factors.
  void (*multiply_rows)(FftTile<T> to, FftTile<T> from, const T* factors, int64_t rows);

  // n complex elements of each of kFftLanes lines, and back to the first `count` of the lines.
  void (*load_lines)(FftTile<T> to, const T* const* lines, int64_t n);
  void (*store_lines)(T* const* lines, FftTile<T> from, int64_t n, int64_t count);
  // Lines side by side: element k of all is at from + k * stride. The tile's lanes from `count` on become 0.
  void (*load_columns)(FftTile<T> to, const T* from, int64_t stride, int64_t n, int64_t count);
  void (*store_columns)(T* to, int64_t stride, FftTile<T> from, int64_t n, int64_t count);

  // A tile [rows][lanes], each number times its twiddle, goes into the tiles [columns][lanes] of the matrix's rows:
  // `to` is where the first column of the first of them stands, the next one `apart` further.
  void (*turn)(FftTile<T> to, int64_t apart, FftTile<T> from, const T* twiddles, int64_t rows, int64_t columns);

  // n / 2 complex elements that hold n real ones in turn become the n / 2 + 1 of their transform, and back (before an
  // inverse transform). In a tile, and in one line.
  void (*unpack_tile)(const FftRealPlan<T>& plan, FftTile<T> tile, int64_t half);
  void (*pack_tile)(const FftRealPlan<T>& plan, FftTile<T> tile, int64_t half);
  void (*unpack_line)(const FftRealPlan<T>& plan, T* line, int64_t half);
  void (*pack_line)(const FftRealPlan<T>& plan, T* to, const T* from, int64_t half);

  // to[k] = a[k] b[k]; re and im of a, or of the product, are exchanged where asked for.
  enum class Exchange { none, factor, product };
  void (*multiply_line)(T* to, const T* a, const T* b, int64_t n, Exchange exchange);
};

template <class T>
const FftInner<T>& fft_inner();

}  // namespace cresset::cpu
