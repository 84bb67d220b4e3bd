// Transforms of whole tiles and of single lines by their plans. A line's columns and rows are shared out over the
// threads tile by tile, so that a result does not depend on their number.
#include "cresset/backends/cpu/fft_line.h"

#include <algorithm>

#include "cresset/backends/cpu/fft_simd.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constexpr int64_t kLeastPart = 16384;  // elements that are worth a thread

template <class T>
void clear_rows(FftTile<T> tile, int64_t first, int64_t last) {
  const int64_t lanes = kFftLanes<T>;
  std::fill(tile.re + first * lanes, tile.re + last * lanes, T{0});
  std::fill(tile.im + first * lanes, tile.im + last * lanes, T{0});
}

// Few rows: the whole line is one line of a tile.
template <class T>
void only_row(const FftLinePlan<T>& plan, T* to, const T* from, bool inverse) {
  const FftInner<T>& inner = fft_inner<T>();
  FftTiles<T> tiles(plan.across->tile_rows());
  inner.load_columns(tiles[0].exchanged_if(inverse), from, 2, plan.n, 1);
  FftTile<T> done = fft_tile(*plan.across, tiles[0], tiles[1], tiles[0]);
  inner.store_columns(to, 2, done.exchanged_if(inverse), plan.n, 1);
}

template <class T>
void by_rows_and_columns(const FftLinePlan<T>& plan, T* to, const T* from, bool inverse) {
  const FftInner<T>& inner = fft_inner<T>();
  const int64_t lanes = kFftLanes<T>, rows = plan.rows, columns = plan.columns;
  const int64_t column_tiles = (columns + lanes - 1) / lanes, row_tiles = (rows + lanes - 1) / lanes;
  const int64_t tile = columns * lanes;  // numbers in a tile of rows
  FftMemory<T> turned(2 * row_tiles * tile);
  FftTile<T> middle{turned.get(), turned.get() + row_tiles * tile};
  parallel_for(0, column_tiles, std::max<int64_t>(1, kLeastPart / (rows * lanes)), [&](int64_t begin, int64_t end) {
    FftTiles<T> tiles(plan.down->tile_rows());
    for (int64_t i = begin; i < end; i++) {
      const int64_t first = i * lanes, count = std::min(lanes, columns - first);
      const bool whole = count == lanes;
      if (!whole) inner.load_columns(tiles[0].exchanged_if(inverse), from + 2 * first, 2 * columns, rows, count);
      FftTile<T> done =
          whole ? inner.passes_from_columns(*plan.down, from + 2 * first, 2 * columns, inverse, tiles[1], tiles[0])
                : inner.passes(*plan.down, tiles[0], tiles[1], tiles[0]);
      inner.turn({middle.re + first * lanes, middle.im + first * lanes}, tile, done,
                 plan.twiddles.data() + 2 * i * rows * lanes, rows, count);
    }
  });
  parallel_for(0, row_tiles, std::max<int64_t>(1, kLeastPart / tile), [&](int64_t begin, int64_t end) {
    FftTiles<T> tiles(plan.across->tile_rows());
    for (int64_t i = begin; i < end; i++) {
      const FftTile<T> line{middle.re + i * tile, middle.im + i * tile};
      const int64_t first = i * lanes, count = std::min(lanes, rows - first);
      if (count == lanes) {
        inner.passes_to_columns(*plan.across, to + 2 * first, 2 * rows, inverse, line, tiles[0], tiles[1]);
        continue;
      }
      FftTile<T> done = inner.passes(*plan.across, line, tiles[0], tiles[1]);
      inner.store_columns(to + 2 * first, 2 * rows, done.exchanged_if(inverse), columns, count);
    }
  });
}

// X[k] = chirp[k] sum over j of (chirp[j] x[j]) conj(chirp[k - j]), a convolution.
template <class T>
void by_convolution(const FftLinePlan<T>& plan, T* to, const T* from, bool inverse) {
  using Exchange = typename FftInner<T>::Exchange;
  const FftInner<T>& inner = fft_inner<T>();
  const int64_t padded = plan.padded->n;
  Scratch<T> memory(2 * padded);
  T* line = memory.get();
  inner.multiply_line(line, from, plan.chirp.chirp.data(), plan.n, inverse ? Exchange::factor : Exchange::none);
  std::fill(line + 2 * plan.n, line + 2 * padded, T{0});
  fft_line(*plan.padded, line, line, false);
  inner.multiply_line(line, line, plan.chirp.spectrum.data(), padded, Exchange::none);
  fft_line(*plan.padded, line, line, true);
  inner.multiply_line(to, line, plan.chirp.chirp.data(), plan.n, inverse ? Exchange::product : Exchange::none);
}

}  // namespace

template <class T>
FftTile<T> fft_tile(const FftTilePlan<T>& plan, FftTile<T> from, FftTile<T> one, FftTile<T> other) {
  const FftInner<T>& inner = fft_inner<T>();
  if (!plan.padded) return inner.passes(plan, from, one, other);
  const FftTilePlan<T>& padded = *plan.padded;
  inner.multiply_rows(other, from, plan.chirp.chirp.data(), plan.n);
  clear_rows(other, plan.n, padded.n);
  FftTile<T> done = inner.passes(padded, other, one, other);
  inner.multiply_rows(done, done, plan.chirp.spectrum.data(), padded.n);
  FftTile<T> free = done.re == one.re ? other : one;
  done = inner.passes(padded, done.exchanged_if(true), free.exchanged_if(true), done.exchanged_if(true))
             .exchanged_if(true);
  inner.multiply_rows(done, done, plan.chirp.chirp.data(), plan.n);
  return done;
}

template <class T>
void fft_line(const FftLinePlan<T>& plan, T* to, const T* from, bool inverse) {
  if (plan.padded) return by_convolution(plan, to, from, inverse);
  if (plan.rows == 1) return only_row(plan, to, from, inverse);
  by_rows_and_columns(plan, to, from, inverse);
}

template FftTile<float> fft_tile(const FftTilePlan<float>&, FftTile<float>, FftTile<float>, FftTile<float>);
template FftTile<double> fft_tile(const FftTilePlan<double>&, FftTile<double>, FftTile<double>, FftTile<double>);
template void fft_line(const FftLinePlan<float>&, float*, const float*, bool);
template void fft_line(const FftLinePlan<double>&, double*, const double*, bool);

}  // namespace cresset::cpu
