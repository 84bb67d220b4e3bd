// Plans of Fourier transforms: how a length is taken apart, and the roots of unity that it needs. A plan depends on the
// length and the precision alone, and is kept for the next call.
//
// Lengths go through tiles: kFftLanes transforms side by side, re and im apart, so that each step is one vector
// instruction for all of them. Several lines fill a tile as they are. One long line is a matrix of rows x columns,
// whose columns and then whose rows are the lines of tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace cresset::cpu {

template <class T>
inline constexpr int64_t kFftLanes = 64 / sizeof(T);
// Larger prime factors than this are not worth a pass, whose work grows with the radix.
inline constexpr int64_t kFftLargestRadix = 97;

// Begins at a multiple of 64 bytes, so that no vector spans two of the memory's lines.
template <class T>
struct FftAllocator {
  using value_type = T;
  FftAllocator() = default;
  template <class U>
  FftAllocator(const FftAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, size_t) { ::operator delete (p, std::align_val_t{64}); }
  bool operator==(const FftAllocator&) const = default;
};
template <class T>
using FftNumbers = std::vector<T, FftAllocator<T>>;

// Row k of a tile is element k of each of its lines.
template <class T>
struct FftTile {
  T* re;
  T* im;

  // A transform whose input and output have re and im exchanged is the inverse.
  FftTile exchanged_if(bool inverse) const { return inverse ? FftTile{im, re} : *this; }
};

// Transforms of `before` elements become such of before * radix: element (p, t, q) of [before][radix][after] is turned
// by exp(-2 pi i p t / (before * radix)), and the sums over t stand in [radix][before][after].
struct FftPass {
  int64_t radix, before, after;
  int64_t twiddles;  // where they stand in `numbers`: for each p and each t from 1, re and im
  int64_t rotation;  // likewise: cos(2 pi j / radix) for each j, then sin; for odd radices
};

// Lengths with a large prime factor are convolutions with exp(i pi j^2 / n) (Bluestein), over a padded length without
// one.
template <class T>
struct FftChirp {
  FftNumbers<T> chirp;     // exp(-i pi j^2 / n), re and im in turn
  FftNumbers<T> spectrum;  // the transform of its conjugate, wrapped around and divided by the padded length
};

template <class T>
struct FftTilePlan {
  int64_t n;
  std::vector<FftPass> passes;
  FftNumbers<T> numbers;
  std::shared_ptr<const FftTilePlan> padded;  // else null
  FftChirp<T> chirp;
  int64_t tile_rows() const { return padded ? padded->n : n; }
  size_t bytes() const;
};

template <class T>
struct FftLinePlan {
  int64_t n;
  int64_t rows, columns;
  std::shared_ptr<const FftTilePlan<T>> down, across;  // of `rows` and of `columns` elements
  FftNumbers<T>
      twiddles;  // exp(-2 pi i row column / n): for each tile of columns, each row: re of the lanes, im of the lanes
  std::shared_ptr<const FftLinePlan> padded;  // else null, and then all of the above
  FftChirp<T> chirp;
  size_t bytes() const;
};

// exp(-2 pi i k / n) for k up to n / 4, all re before all im: what turns n / 2 complex elements into n real ones and
// back.
template <class T>
struct FftRealPlan {
  FftNumbers<T> re, im;
  size_t bytes() const { return 2 * re.size() * sizeof(T); }
};

template <class T>
std::shared_ptr<const FftTilePlan<T>> fft_tile_plan(int64_t n);
template <class T>
std::shared_ptr<const FftLinePlan<T>> fft_line_plan(int64_t n);
template <class T>
std::shared_ptr<const FftRealPlan<T>> fft_real_plan(int64_t n);

// Whether `count` transforms are done faster side by side than one after the other. Dense lines lie one behind the
// other.
template <class T>
bool fft_prefers_tiles(int64_t n, int64_t count, bool dense);

}  // namespace cresset::cpu
