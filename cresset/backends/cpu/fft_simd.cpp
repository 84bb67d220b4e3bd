// Fourier transforms of tiles, and how lines come into tiles and out of them, for each instruction set. Lines that lie
// one behind the other are transposed in registers, which brings re and im apart as well.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/fft_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>

#include "cresset/backends/cpu/fft_butterflies-inl.h"
#include "cresset/backends/cpu/fft_simd.h"
#include "cresset/backends/cpu/pointwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Full = hn::ScalableTag<T>;
template <class T>
inline constexpr int64_t kLanes = HWY_LANES(T);
template <class T>
using Numbers = Complex<hn::Vec<Full<T>>>;

template <class T>
HWY_INLINE Numbers<T> load(FftTile<T> tile, int64_t at) {
  const Full<T> d;
  return {hn::LoadU(d, tile.re + at), hn::LoadU(d, tile.im + at)};
}
template <class T>
HWY_INLINE void store(FftTile<T> tile, int64_t at, Numbers<T> x) {
  const Full<T> d;
  hn::StoreU(x.re, d, tile.re + at);
  hn::StoreU(x.im, d, tile.im + at);
}
template <class T>
HWY_INLINE Numbers<T> load_complex(const T* from) {
  const Full<T> d;
  Numbers<T> x;
  hn::LoadInterleaved2(d, from, x.re, x.im);
  return x;
}
template <class T>
HWY_INLINE void store_complex(T* to, Numbers<T> x) {
  hn::StoreInterleaved2(x.re, x.im, Full<T>(), to);
}
template <class T>
HWY_INLINE Numbers<T> broadcast(const T* number) {
  const Full<T> d;
  return {hn::Set(d, number[0]), hn::Set(d, number[1])};
}

// --- passes
// ------------------------------------------------------------------------------------------------------------

// Where a pass reads and writes its rows: a tile, or lines side by side in the user's memory.
template <class T>
struct Rows {
  FftTile<T> tile;
  HWY_INLINE Numbers<T> get(int64_t row, int64_t lane) const { return load(tile, row * kFftLanes<T> + lane); }
  HWY_INLINE void put(int64_t row, int64_t lane, Numbers<T> x) const { store(tile, row * kFftLanes<T> + lane, x); }
};
template <class T, class Pointer>
struct Columns {
  Pointer memory;
  int64_t stride;
  bool inverse;
  HWY_INLINE Numbers<T> get(int64_t row, int64_t lane) const {
    Numbers<T> x = load_complex<T>(memory + row * stride + 2 * lane);
    return inverse ? Numbers<T>{x.im, x.re} : x;
  }
  HWY_INLINE void put(int64_t row, int64_t lane, Numbers<T> x) const {
    store_complex<T>(memory + row * stride + 2 * lane, inverse ? Numbers<T>{x.im, x.re} : x);
  }
};

// Row p of [before], of which the first has no twiddles.
template <int radix, class T, class From, class To>
HWY_INLINE void first_row(const FftPass& pass, const T* table, From from, To to) {
  const Full<T> d;
  Numbers<T> x[radix];
  for (int64_t q = 0; q < pass.after; q++)
    for (int64_t w = 0; w < kFftLanes<T>; w += kLanes<T>) {
#pragma GCC unroll 16
      for (int t = 0; t < radix; t++) x[t] = from.get(t * pass.after + q, w);
      Butterfly<radix>::run(d, x, table);
#pragma GCC unroll 16
      for (int k = 0; k < radix; k++) to.put(k * pass.before * pass.after + q, w, x[k]);
    }
}
template <int radix, class T, class From, class To>
HWY_INLINE void other_rows(const FftPass& pass, const T* numbers, From from, To to) {
  const Full<T> d;
  const int64_t after = pass.after, apart = pass.before * after;
  const T* twiddles = numbers + pass.twiddles;
  const T* table = numbers + pass.rotation;
  Numbers<T> x[radix];
  for (int64_t p = 1; p < pass.before; p++, twiddles += 2 * (radix - 1))
    for (int64_t q = 0; q < after; q++)
      for (int64_t w = 0; w < kFftLanes<T>; w += kLanes<T>) {
        x[0] = from.get(p * radix * after + q, w);
#pragma GCC unroll 16
        for (int t = 1; t < radix; t++)
          x[t] = from.get((p * radix + t) * after + q, w) * broadcast(twiddles + 2 * (t - 1));
        Butterfly<radix>::run(d, x, table);
#pragma GCC unroll 16
        for (int k = 0; k < radix; k++) to.put(k * apart + p * after + q, w, x[k]);
      }
}
template <int radix, class T, class From, class To>
HWY_NOINLINE void pass_of(const FftPass& pass, const T* numbers, From from, To to) {
  first_row<radix>(pass, numbers + pass.rotation, from, to);
  // What reads columns is the first pass, which has no others.
  if constexpr (std::is_same_v<From, Rows<T>>) other_rows<radix>(pass, numbers, from, to);
}

template <class T, class From, class To>
HWY_NOINLINE void pass_of_any(const FftPass& pass, const T* numbers, From from, To to) {
  const Full<T> d;
  const int64_t radix = pass.radix, after = pass.after, apart = pass.before * after;
  Numbers<T> x[kFftLargestRadix], sum[kFftLargestRadix / 2 + 1], difference[kFftLargestRadix / 2 + 1];
  for (int64_t p = 0; p < pass.before; p++) {
    const T* twiddles = numbers + pass.twiddles + 2 * (p - 1) * (radix - 1);
    for (int64_t q = 0; q < after; q++)
      for (int64_t w = 0; w < kFftLanes<T>; w += kLanes<T>) {
        for (int64_t t = 0; t < radix; t++) {
          x[t] = from.get((p * radix + t) * after + q, w);
          if (p > 0 && t > 0) x[t] = x[t] * broadcast(twiddles + 2 * (t - 1));
        }
        butterfly_of(d, radix, x, sum, difference, numbers + pass.rotation);
        for (int64_t k = 0; k < radix; k++) to.put(k * apart + p * after + q, w, x[k]);
      }
  }
}

template <class T, class From, class To>
void run_pass(const FftPass& pass, const T* numbers, From from, To to) {
  switch (pass.radix) {
    case 2:
      return pass_of<2>(pass, numbers, from, to);
    case 3:
      return pass_of<3>(pass, numbers, from, to);
    case 4:
      return pass_of<4>(pass, numbers, from, to);
    case 5:
      return pass_of<5>(pass, numbers, from, to);
    case 7:
      return pass_of<7>(pass, numbers, from, to);
    case 8:
      return pass_of<8>(pass, numbers, from, to);
    case 16:
      return pass_of<16>(pass, numbers, from, to);
    default:
      return pass_of_any(pass, numbers, from, to);
  }
}

template <class T>
FftTile<T> passes(const FftTilePlan<T>& plan, FftTile<T> from, FftTile<T> one, FftTile<T> other) {
  for (const FftPass& pass : plan.passes) {
    run_pass(pass, plan.numbers.data(), Rows<T>{from}, Rows<T>{one});
    from = one;
    std::swap(one, other);
  }
  return from;
}
template <class T>
FftTile<T> passes_from_columns(const FftTilePlan<T>& plan, const T* from, int64_t stride, bool inverse, FftTile<T> one,
                               FftTile<T> other) {
  const T* numbers = plan.numbers.data();
  run_pass(plan.passes[0], numbers, Columns<T, const T*>{from, stride, inverse}, Rows<T>{one});
  for (size_t i = 1; i < plan.passes.size(); i++) {
    run_pass(plan.passes[i], numbers, Rows<T>{one}, Rows<T>{other});
    std::swap(one, other);
  }
  return one;
}
template <class T>
void passes_to_columns(const FftTilePlan<T>& plan, T* to, int64_t stride, bool inverse, FftTile<T> from, FftTile<T> one,
                       FftTile<T> other) {
  const T* numbers = plan.numbers.data();
  for (size_t i = 0; i + 1 < plan.passes.size(); i++) {
    run_pass(plan.passes[i], numbers, Rows<T>{from}, Rows<T>{one});
    from = one;
    std::swap(one, other);
  }
  run_pass(plan.passes.back(), numbers, Rows<T>{from}, Columns<T, T*>{to, stride, inverse});
}

template <class T>
void multiply_rows(FftTile<T> to, FftTile<T> from, const T* factors, int64_t rows) {
  for (int64_t k = 0; k < rows; k++) {
    const Numbers<T> factor = broadcast(factors + 2 * k);
    for (int64_t i = k * kFftLanes<T>; i < (k + 1) * kFftLanes<T>; i += kLanes<T>) store(to, i, load(from, i) * factor);
  }
}

// --- into tiles and out of them
// -----------------------------------------------------------------------------------------

// Rows of a square block become columns. Each step takes a bit of a number's row and gives it to its column.
template <class D>
HWY_INLINE void transpose(D d, hn::Vec<D>* rows) {
  constexpr int64_t lanes = hn::MaxLanes(D()), half = lanes / 2;
#pragma GCC unroll 8
  for (int64_t step = 1; step < lanes; step *= 2) {
    hn::Vec<D> next[lanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < half; i++) {
      next[i] = hn::ConcatEven(d, rows[2 * i + 1], rows[2 * i]);
      next[i + half] = hn::ConcatOdd(d, rows[2 * i + 1], rows[2 * i]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; i++) rows[i] = next[i];
  }
}

template <class T>
void load_lines(FftTile<T> to, const T* const* lines, int64_t n) {
  const Full<T> d;
  constexpr int64_t lanes = kLanes<T>, width = kFftLanes<T>;
  const int64_t even = lanes > 1 ? 2 * n / lanes * lanes : 0;
  hn::Vec<Full<T>> rows[lanes];
  for (int64_t first = 0; first < width; first += lanes)
    for (int64_t i = 0; i < even; i += lanes) {
#pragma GCC unroll 16
      for (int64_t w = 0; w < lanes; w++) rows[w] = hn::LoadU(d, lines[first + w] + i);
      transpose(d, rows);
#pragma GCC unroll 16
      for (int64_t j = 0; j < lanes; j++) hn::StoreU(rows[j], d, (j % 2 ? to.im : to.re) + (i + j) / 2 * width + first);
    }
  for (int64_t k = even / 2; k < n; k++)
    for (int64_t w = 0; w < width; w++) {
      to.re[k * width + w] = lines[w][2 * k];
      to.im[k * width + w] = lines[w][2 * k + 1];
    }
}

template <class T>
void store_lines(T* const* lines, FftTile<T> from, int64_t n, int64_t count) {
  const Full<T> d;
  constexpr int64_t lanes = kLanes<T>, width = kFftLanes<T>;
  const int64_t even = lanes > 1 ? 2 * n / lanes * lanes : 0;
  hn::Vec<Full<T>> rows[lanes];
  for (int64_t first = 0; first < count; first += lanes)
    for (int64_t i = 0; i < even; i += lanes) {
#pragma GCC unroll 16
      for (int64_t j = 0; j < lanes; j++)
        rows[j] = hn::LoadU(d, (j % 2 ? from.im : from.re) + (i + j) / 2 * width + first);
      transpose(d, rows);
#pragma GCC unroll 16
      for (int64_t w = 0; w < lanes; w++)
        if (first + w < count) hn::StoreU(rows[w], d, lines[first + w] + i);
    }
  for (int64_t k = even / 2; k < n; k++)
    for (int64_t w = 0; w < count; w++) {
      lines[w][2 * k] = from.re[k * width + w];
      lines[w][2 * k + 1] = from.im[k * width + w];
    }
}

// The first `count` complex numbers from memory, 0 in the lanes behind them; and back. Only some instruction sets can
// keep off the memory behind.
template <class T>
HWY_INLINE Numbers<T> load_first(const T* from, int64_t count) {
  const Full<T> d;
  constexpr int64_t lanes = kLanes<T>;
  if (count >= lanes) return load_complex(from);
  if (count <= 0) return {hn::Zero(d), hn::Zero(d)};
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) T numbers[2 * lanes] = {};
  for (int64_t i = 0; i < 2 * count; i++) numbers[i] = from[i];
  return load_complex(static_cast<const T*>(numbers));
#else
  const auto low = hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(2 * count)), d, from);
  const auto high = hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(std::max<int64_t>(0, 2 * count - lanes))), d,
                                   from + (2 * count > lanes ? lanes : 0));
  return {hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low)};
#endif
}
template <class T>
HWY_INLINE void store_first(T* to, Numbers<T> x, int64_t count) {
  constexpr int64_t lanes = kLanes<T>;
  if (count >= lanes) return store_complex(to, x);
  if (count <= 0) return;
  alignas(64) T numbers[2 * lanes];
  store_complex(static_cast<T*>(numbers), x);
#if HWY_MEM_OPS_MIGHT_FAULT
  for (int64_t i = 0; i < 2 * count; i++) to[i] = numbers[i];
#else
  const Full<T> d;
  hn::BlendedStore(hn::Load(d, numbers), hn::FirstN(d, static_cast<size_t>(2 * count)), d, to);
  if (2 * count > lanes)
    hn::BlendedStore(hn::Load(d, numbers + lanes), hn::FirstN(d, static_cast<size_t>(2 * count - lanes)), d,
                     to + lanes);
#endif
}

template <class T>
void load_columns(FftTile<T> to, const T* from, int64_t stride, int64_t n, int64_t count) {
  constexpr int64_t width = kFftLanes<T>;
  for (int64_t k = 0; k < n; k++)
    for (int64_t w = 0; w < width; w += kLanes<T>)
      store(to, k * width + w, load_first(from + k * stride + 2 * w, count - w));
}
template <class T>
void store_columns(T* to, int64_t stride, FftTile<T> from, int64_t n, int64_t count) {
  constexpr int64_t width = kFftLanes<T>;
  for (int64_t k = 0; k < n; k++)
    for (int64_t w = 0; w < width; w += kLanes<T>)
      store_first(to + k * stride + 2 * w, load(from, k * width + w), count - w);
}

// Whole vectors, of which a narrower one fills the first lanes.
template <class T, class D>
HWY_INLINE void store_whole(T* to, hn::Vec<D> x) {
  const Full<T> d;
  if constexpr (hn::MaxLanes(D()) < kLanes<T>)
    hn::StoreU(hn::ZeroExtendVector(d, x), d, to);
  else
    hn::StoreU(x, d, to);
}
// One block of D's lanes squared; rows beyond the last are repeated into lanes that nobody reads.
template <class T, class D>
HWY_INLINE void turn_block(D d, FftTile<T> to, FftTile<T> from, const T* twiddles, int64_t rows, int64_t columns) {
  constexpr int64_t lanes = hn::MaxLanes(D()), width = kFftLanes<T>;
  hn::Vec<D> re[lanes], im[lanes];
#pragma GCC unroll 16
  for (int64_t i = 0; i < lanes; i++) {
    const int64_t k = std::min(i, rows - 1);
    const T* twiddle = twiddles + 2 * k * width;
    const Complex<hn::Vec<D>> root{hn::LoadU(d, twiddle), hn::LoadU(d, twiddle + width)};
    const auto x = Complex<hn::Vec<D>>{hn::LoadU(d, from.re + k * width), hn::LoadU(d, from.im + k * width)} * root;
    re[i] = x.re;
    im[i] = x.im;
  }
  transpose(d, re);
#pragma GCC unroll 16
  for (int64_t j = 0; j < lanes; j++)
    if (j < columns) store_whole<T, D>(to.re + j * width, re[j]);
  transpose(d, im);
#pragma GCC unroll 16
  for (int64_t j = 0; j < lanes; j++)
    if (j < columns) store_whole<T, D>(to.im + j * width, im[j]);
}
template <class T>
void clear_block(FftTile<T> to, int64_t columns) {
  const Full<T> d;
  for (int64_t j = 0; j < std::min(kLanes<T>, columns); j++)
    store(to, j * kFftLanes<T>, Numbers<T>{hn::Zero(d), hn::Zero(d)});
}
template <class T>
void turn(FftTile<T> to, int64_t apart, FftTile<T> from, const T* twiddles, int64_t rows, int64_t columns) {
  const Full<T> d;
  // A narrower vector is enough for short lines.
  const std::conditional_t<(kLanes<T> > 4), hn::Half<Full<T>>, Full<T>> narrow;
  constexpr int64_t most = hn::MaxLanes(narrow);
  constexpr int64_t lanes = kLanes<T>, width = kFftLanes<T>;
  // To the end of the last tile: its lanes without rows are computed with, too.
  const int64_t last = (rows + width - 1) / width * width;
  for (int64_t row = 0; row < last; row += lanes)
    for (int64_t column = 0; column < columns; column += lanes) {
      const int64_t at = row / width * apart + column * width + row % width, first = row * width + column;
      const FftTile<T> block{to.re + at, to.im + at}, source{from.re + first, from.im + first};
      const T* factors = twiddles + 2 * row * width + column;
      const int64_t high = rows - row, wide = columns - column;
      if (high <= 0)
        clear_block(block, wide);
      else if (high >= lanes && wide >= lanes)
        turn_block(d, block, source, factors, lanes, lanes);
      else if (high <= most && wide <= most)
        turn_block(narrow, block, source, factors, high, wide);
      else
        turn_block(d, block, source, factors, high, wide);
    }
}

// --- real lines
// -----------------------------------------------------------------------------------------------------------

template <class D>
using Of = Complex<hn::Vec<D>>;

// Elements k and half - k, and the root of k.
template <class D>
HWY_INLINE void unpack_pair(D d, Of<D>& a, Of<D>& b, Of<D> root) {
  const auto half = hn::Set(d, static_cast<hn::TFromD<D>>(0.5));
  const Of<D> even{hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
  const Of<D> odd = root * Of<D>{hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
  a = even + odd;
  b = even - odd;
  b.im = hn::Neg(b.im);
}
template <class D>
HWY_INLINE void pack_pair(D, Of<D>& a, Of<D>& b, Of<D> root) {
  const Of<D> even{hn::Add(a.re, b.re), hn::Sub(a.im, b.im)};
  const Of<D> odd = Of<D>{root.re, hn::Neg(root.im)} * Of<D>{hn::Sub(a.re, b.re), hn::Add(a.im, b.im)};
  a = plus_i(even, odd);
  b = minus_i(even, odd);
  b.im = hn::Neg(b.im);
}
struct Unpack {
  template <class D>
  static HWY_INLINE void run(D d, Of<D>& a, Of<D>& b, Of<D> root) {
    unpack_pair(d, a, b, root);
  }
};
struct Pack {
  template <class D>
  static HWY_INLINE void run(D d, Of<D>& a, Of<D>& b, Of<D> root) {
    pack_pair(d, a, b, root);
  }
};

template <class What, class T>
void pair_tile(const FftRealPlan<T>& plan, FftTile<T> tile, int64_t half) {
  const Full<T> d;
  for (int64_t k = 1; k <= half - k; k++) {
    const auto at = static_cast<size_t>(k);
    const Numbers<T> root{hn::Set(d, plan.re[at]), hn::Set(d, plan.im[at])};
    for (int64_t w = 0; w < kFftLanes<T>; w += kLanes<T>) {
      Numbers<T> a = load(tile, k * kFftLanes<T> + w), b = load(tile, (half - k) * kFftLanes<T> + w);
      What::run(d, a, b, root);
      store(tile, k * kFftLanes<T> + w, a);
      store(tile, (half - k) * kFftLanes<T> + w, b);
    }
  }
}
template <class What, class T>
void pair_line(const FftRealPlan<T>& plan, T* to, const T* from, int64_t half) {
  const Full<T> d;
  constexpr int64_t lanes = kLanes<T>;
  int64_t k = 1;
  for (; k + lanes <= half - k - lanes + 1; k += lanes) {
    const int64_t mirrored = half - k - lanes + 1;
    Numbers<T> a = load_complex(from + 2 * k), b = load_complex(from + 2 * mirrored);
    b = {hn::Reverse(d, b.re), hn::Reverse(d, b.im)};
    What::run(d, a, b, Numbers<T>{hn::LoadU(d, plan.re.data() + k), hn::LoadU(d, plan.im.data() + k)});
    store_complex(to + 2 * k, a);
    store_complex(to + 2 * mirrored, Numbers<T>{hn::Reverse(d, b.re), hn::Reverse(d, b.im)});
  }
  const hn::CappedTag<T, 1> one;
  for (; k <= half - k; k++) {
    const auto at = static_cast<size_t>(k);
    const int64_t j = half - k;
    Of<decltype(one)> a{hn::Set(one, from[2 * k]), hn::Set(one, from[2 * k + 1])};
    Of<decltype(one)> b{hn::Set(one, from[2 * j]), hn::Set(one, from[2 * j + 1])};
    What::run(one, a, b, Of<decltype(one)>{hn::Set(one, plan.re[at]), hn::Set(one, plan.im[at])});
    to[2 * k] = hn::GetLane(a.re);
    to[2 * k + 1] = hn::GetLane(a.im);
    to[2 * j] = hn::GetLane(b.re);
    to[2 * j + 1] = hn::GetLane(b.im);
  }
}

template <class T>
void unpack_tile(const FftRealPlan<T>& plan, FftTile<T> tile, int64_t half) {
  const int64_t last = half * kFftLanes<T>;
  for (int64_t w = 0; w < kFftLanes<T>; w++) {
    const T even = tile.re[w], odd = tile.im[w];
    tile.re[w] = even + odd;
    tile.re[last + w] = even - odd;
    tile.im[w] = tile.im[last + w] = 0;
  }
  pair_tile<Unpack>(plan, tile, half);
}
template <class T>
void pack_tile(const FftRealPlan<T>& plan, FftTile<T> tile, int64_t half) {
  const int64_t last = half * kFftLanes<T>;
  for (int64_t w = 0; w < kFftLanes<T>; w++) {
    const T first = tile.re[w], middle = tile.re[last + w];
    tile.re[w] = first + middle;
    tile.im[w] = first - middle;
  }
  pair_tile<Pack>(plan, tile, half);
}
template <class T>
void unpack_line(const FftRealPlan<T>& plan, T* line, int64_t half) {
  const T even = line[0], odd = line[1];
  line[0] = even + odd;
  line[2 * half] = even - odd;
  line[1] = line[2 * half + 1] = 0;
  pair_line<Unpack>(plan, line, line, half);
}
template <class T>
void pack_line(const FftRealPlan<T>& plan, T* to, const T* from, int64_t half) {
  const T first = from[0], middle = from[2 * half];
  to[0] = first + middle;
  to[1] = first - middle;
  pair_line<Pack>(plan, to, from, half);
}

template <class T>
void multiply_line(T* to, const T* a, const T* b, int64_t n, typename FftInner<T>::Exchange exchange) {
  using Exchange = typename FftInner<T>::Exchange;
  int64_t k = 0;
  for (; k + kLanes<T> <= n; k += kLanes<T>) {
    Numbers<T> x = load_complex(a + 2 * k);
    if (exchange == Exchange::factor) std::swap(x.re, x.im);
    x = x * load_complex(b + 2 * k);
    if (exchange == Exchange::product) std::swap(x.re, x.im);
    store_complex(to + 2 * k, x);
  }
  for (; k < n; k++) {
    T re = a[2 * k], im = a[2 * k + 1];
    if (exchange == Exchange::factor) std::swap(re, im);
    T product_re = re * b[2 * k] - im * b[2 * k + 1], product_im = re * b[2 * k + 1] + im * b[2 * k];
    if (exchange == Exchange::product) std::swap(product_re, product_im);
    to[2 * k] = product_re;
    to[2 * k + 1] = product_im;
  }
}

template <class T>
const FftInner<T>& fft_functions() {
  static constexpr FftInner<T> list{&passes<T>,     &passes_from_columns<T>, &passes_to_columns<T>, &multiply_rows<T>,
                                    &load_lines<T>, &store_lines<T>,         &load_columns<T>,      &store_columns<T>,
                                    &turn<T>,       &unpack_tile<T>,         &pack_tile<T>,         &unpack_line<T>,
                                    &pack_line<T>,  &multiply_line<T>};
  return list;
}
const FftInner<float>& fft_of_float() { return fft_functions<float>(); }
const FftInner<double>& fft_of_double() { return fft_functions<double>(); }

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(fft_of_float);
HWY_EXPORT(fft_of_double);

template <>
const FftInner<float>& fft_inner<float>() {
  static const FftInner<float>& found = (choose_simd_target(), HWY_DYNAMIC_DISPATCH(fft_of_float)());
  return found;
}
template <>
const FftInner<double>& fft_inner<double>() {
  static const FftInner<double>& found = (choose_simd_target(), HWY_DYNAMIC_DISPATCH(fft_of_double)());
  return found;
}

}  // namespace cresset::cpu
#endif
