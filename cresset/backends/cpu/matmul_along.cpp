// Products of floats of which the larger side lies along k, as a linear layer's do. A BLAS rearranges both sides, which
// for a batch of 64 rows takes as long as the product. Here the larger one is read as it lies, and the smaller one is
// packed; the result may lie either way. A sum runs in the order of k, whatever the threads do.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/matmul_along.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cresset/backends/cpu/matmul.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/backends/cpu/scratch.h"
#include "cresset/core/parallel.h"

#ifndef CRESSET_MATMUL_ALONG
#define CRESSET_MATMUL_ALONG
namespace cresset::cpu {
namespace {

// A side of the product: `size` rows of a, or columns of b, by `depth` (k).
struct Side {
  const float* data;
  int64_t size, depth;
  int64_t step, step_k;  // strides
};

// What becomes of a tile's sums: out = alpha * sums + beta * added.
struct Ending {
  float* out;
  int64_t row, col;
  const float* added;
  int64_t added_row, added_col;
  float alpha, beta;

  Ending at(int64_t i, int64_t j) const {
    Ending moved = *this;
    moved.out += i * row + j * col;
    if (added) moved.added += i * added_row + j * added_col;
    return moved;
  }
  Ending turned() const { return {out, col, row, added, added_col, added_row, alpha, beta}; }
};

}  // namespace
}  // namespace cresset::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kVectorBytes = HWY_TARGET <= HWY_AVX3 ? 64 : HWY_TARGET <= HWY_AVX2 ? 32 : 16;
constexpr int kLanes = kVectorBytes / 4;
constexpr int kVectors = 2, kWidth = kVectors * kLanes;  // of a tile
constexpr int kHeight = HWY_TARGET <= HWY_AVX3 ? 12 : HWY_TARGET <= HWY_AVX2 ? 6 : 4;
constexpr int64_t kBlock = 1 << 17;  // floats of the packed side that are gone through at a time: half of an L2 cache
constexpr int64_t kLine = 16;        // floats in a line of the cache
constexpr int64_t kPage = 1024;      // floats: lines so far apart share the same few places of the L1 cache

typedef float Vector __attribute__((vector_size(kVectorBytes)));

HWY_INLINE Vector load(const float* from) {
  Vector x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
HWY_INLINE void store(float* to, Vector x) { std::memcpy(to, &x, sizeof x); }

// ---- transposing kLanes x kLanes floats: at each stage rows `Half` apart exchange what lies `Half` columns apart
template <int Half, size_t... I>
HWY_INLINE void exchange(Vector& x, Vector& y, std::index_sequence<I...>) {
  const Vector low = __builtin_shufflevector(x, y, ((I & Half) ? kLanes + I - Half : I)...);
  y = __builtin_shufflevector(x, y, ((I & Half) ? kLanes + I : I + Half)...);
  x = low;
}
template <int Half>
HWY_INLINE void turn(Vector* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; i++)
    if (!(i & Half)) exchange<Half>(rows[i], rows[i + Half], std::make_index_sequence<kLanes>());
  if constexpr (Half > 1) turn<Half / 2>(rows);
}

// ---- packing: `count` columns, each along k, as `depth` lines of kWidth with zeros behind
void pack_turned(float* to, const float* from, int64_t step, int64_t count, int64_t depth) {
  for (int g = 0; g < kWidth; g += kLanes) {
    const int64_t here = std::clamp<int64_t>(count - g, 0, kLanes);
    const float* source = from + g * step;
    int64_t p = 0;
    for (; p + kLanes <= depth; p += kLanes) {
      Vector rows[kLanes] = {};
      if (here == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; i++) rows[i] = load(source + i * step + p);
      } else {
        for (int64_t i = 0; i < here; i++) rows[i] = load(source + i * step + p);
      }
      turn<kLanes / 2>(rows);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; i++) store(to + (p + i) * kWidth + g, rows[i]);
    }
    for (; p < depth; p++)
      for (int i = 0; i < kLanes; i++) to[p * kWidth + g + i] = i < here ? source[i * step + p] : 0;
  }
}
// Columns [first, first + kWidth) of the packed side, as far as they exist.
void pack(float* to, const Side& side, int64_t first, int64_t first_k, int64_t depth) {
  const float* from = side.data + first * side.step + first_k * side.step_k;
  const int64_t count = std::min<int64_t>(kWidth, side.size - first);
  if (side.step_k == 1) return pack_turned(to, from, side.step, count, depth);
  for (int64_t p = 0; p < depth; p++, to += kWidth, from += side.step_k)
    for (int64_t i = 0; i < kWidth; i++) to[i] = i < count ? from[i * side.step] : 0;
}

// ---- the end of a tile: `rows` lines of sums, of which `cols` elements each exist
// One expression for all, in vectors of whatever length: the same bits in the middle of a matrix and at its edges.
template <class D, class V>
HWY_INLINE void end_vector(D d, V sum, const Ending& end, float* out, const float* added) {
  if (end.alpha != 1) sum = hn::Mul(sum, hn::Set(d, end.alpha));
  if (end.added) sum = hn::MulAdd(end.added_col ? hn::LoadU(d, added) : hn::Set(d, *added), hn::Set(d, end.beta), sum);
  hn::StoreU(sum, d, out);
}
void finish_rows(const float* sums, int64_t line, int64_t rows, int64_t cols, const Ending& end) {
  const hn::CappedTag<float, kLanes> d;
  const hn::CappedTag<float, 4> four;
  const hn::CappedTag<float, 1> one;
  for (int64_t i = 0; i < rows; i++) {
    float* out = end.out + i * end.row;
    const float *from = sums + i * line, *added = end.added + (end.added ? i * end.added_row : 0);
    int64_t j = 0;
    for (; j + kLanes <= cols; j += kLanes)
      end_vector(d, hn::LoadU(d, from + j), end, out + j * end.col, added + j * end.added_col);
    for (; j + 4 <= cols; j += 4)
      end_vector(four, hn::LoadU(four, from + j), end, out + j * end.col, added + j * end.added_col);
    for (; j < cols; j++) end_vector(one, hn::LoadU(one, from + j), end, out + j * end.col, added + j * end.added_col);
  }
}
void finish(const float* sums, int64_t rows, int64_t cols, const Ending& end) {
  const auto lies_along = [](const Ending& e) { return e.col == 1 && (!e.added || e.added_col <= 1); };
  if (lies_along(end)) return finish_rows(sums, kWidth, rows, cols, end);
  if (!lies_along(end.turned())) {
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++) finish_rows(sums + i * kWidth + j, kWidth, 1, 1, end.at(i, j));
    return;
  }
  for (int64_t j = 0; j < cols; j += kLanes)
    for (int64_t i = 0; i < rows; i += kLanes) {
      Vector lines[kLanes] = {};
      const int64_t here = std::min<int64_t>(kLanes, rows - i);
      for (int64_t r = 0; r < here; r++) lines[r] = load(sums + (i + r) * kWidth + j);
      turn<kLanes / 2>(lines);
      alignas(64) float turned[kLanes * kLanes];
      for (int r = 0; r < kLanes; r++) store(turned + r * kLanes, lines[r]);
      finish_rows(turned, kLanes, std::min<int64_t>(kLanes, cols - j), here, end.at(i, j).turned());
    }
}

// ---- the kernel: Rows x (Vectors * kLanes) sums over k
// Where a tile's rows are, and those that come after it, which are fetched meanwhile: a dozen at once are more than the
// CPU foresees.
struct Rows {
  const float* data;
  int64_t step;
  const float* next;
  int64_t next_step;

  Rows from(int64_t i) const { return {data + i * step, step, next + i * next_step, next_step}; }
};

template <int Height, int Vectors>
HWY_INLINE void fetch_result(const Ending& end) {
  if (end.col == 1) {
#pragma GCC unroll 16
    for (int i = 0; i < Height; i++)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) __builtin_prefetch(end.out + i * end.row + v * kLanes, 1, 3);
  } else {
    for (int i = 0; i < Vectors * kLanes; i++) __builtin_prefetch(end.out + i * end.col, 1, 3);
  }
}

template <int Height, int Vectors>
[[gnu::noinline]] void tile(int64_t k, const Rows& a, const float* b, int64_t cols, const Ending& end) {
  fetch_result<Height, Vectors>(end);
  Vector sum[Height][Vectors] = {};
  // Rows three apart have a pointer each, which with one stride reach all of them.
  const int64_t step = a.step;
  const float* third[4] = {a.data, a.data + 3 * step, a.data + 6 * step, a.data + 9 * step};
  for (int64_t done = 0; done < k; done += kLine) {
#pragma GCC unroll 16
    for (int i = 0; i < Height; i++) __builtin_prefetch(a.next + i * a.next_step + done, 0, 2);
    for (int64_t p = done; p < std::min(done + kLine, k); p++, b += kWidth) {
      Vector right[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) right[v] = load(b + v * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < Height; i++) {
        const float left = third[i / 3][i % 3 * step];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; v++) sum[i][v] += left * right[v];
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++) third[i]++;
    }
  }
  const bool plain = end.col == 1 && cols >= Vectors * kLanes && (!end.added || end.added_col == 1);
  if (CRESSET_UNLIKELY(!plain)) {
    alignas(64) float sums[Height * kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < Height; i++)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) store(sums + i * kWidth + v * kLanes, sum[i][v]);
    return finish(sums, Height, std::min<int64_t>(cols, Vectors * kLanes), end);
  }
  const hn::CappedTag<float, kLanes> d;
#pragma GCC unroll 16
  for (int i = 0; i < Height; i++)
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; v++) {
      decltype(hn::Zero(d)) y;
      std::memcpy(&y, &sum[i][v], sizeof y);
      end_vector(d, y, end, end.out + i * end.row + v * kLanes,
                 end.added + (end.added ? i * end.added_row + v * kLanes : 0));
    }
}

// `rows` (at most kHeight) by `cols` (at most kWidth).
template <int Vectors>
void tiles(int64_t rows, int64_t k, Rows a, const float* b, int64_t cols, Ending end) {
  const auto next = [&](int64_t done) {
    rows -= done;
    a = a.from(done);
    end = end.at(done, 0);
  };
  if (rows == kHeight) return tile<kHeight, Vectors>(k, a, b, cols, end);
  if constexpr (kHeight > 8)
    if (rows >= 8) tile<8, Vectors>(k, a, b, cols, end), next(8);
  if (rows >= 4) tile<4, Vectors>(k, a, b, cols, end), next(4);
  if (rows >= 2) tile<2, Vectors>(k, a, b, cols, end), next(2);
  if (rows >= 1) tile<1, Vectors>(k, a, b, cols, end);
}

}  // namespace

// Rows [row, row_end) of a, by all of b, over at most `most` of k at a time.
void rows_along(const Side& a, const Side& b, Ending end, int64_t row, int64_t row_end, int64_t most) {
  const int64_t k = a.depth, chunks = (k + most - 1) / most, longest = (k + chunks - 1) / chunks;
  const int64_t panels = (b.size + kWidth - 1) / kWidth,
                block = std::clamp<int64_t>(kBlock / (longest * kWidth), 1, panels);
  const bool copies = a.step % kPage == 0 && panels > 2;
  const int64_t line = longest + kLine;
  const Scratch<float> packed(block * kWidth * longest + (copies ? kHeight * line : 0));
  float* const copied = packed.get() + block * kWidth * longest;
  for (int64_t first = 0; first < k; first += longest) {
    const int64_t depth = std::min(longest, k - first);
    for (int64_t panel = 0; panel < panels; panel += block) {
      const int64_t panel_end = std::min(panel + block, panels);
      const auto at = [&](int64_t j) { return packed.get() + (j - panel) * kWidth * depth; };
      for (int64_t j = panel; j < panel_end; j++) pack(at(j), b, j * kWidth, first, depth);
      for (int64_t i = row; i < row_end; i += kHeight) {
        const int64_t rows = std::min<int64_t>(kHeight, row_end - i);
        const float* from = a.data + i * a.step + first;
        Rows here{from, a.step, from + rows * a.step, a.step};
        if (copies) {
          for (int64_t r = 0; r < rows; r++) std::copy_n(from + r * a.step, depth, copied + r * line);
          here.data = copied;
          here.step = line;
        }
        for (int64_t j = panel; j < panel_end; j++) {
          const int64_t cols = std::min<int64_t>(kWidth, b.size - j * kWidth);
          (cols > kLanes ? tiles<2> : tiles<1>)(rows, depth, here, at(j), cols, end.at(i, j * kWidth));
        }
      }
    }
    end.added = end.out;  // the next chunk adds to this one's
    end.added_row = end.row;
    end.added_col = end.col;
    end.beta = 1;
  }
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(rows_along);
namespace {

constexpr int64_t kThin = 64;     // columns: a library rearranges the other side for too few of them
constexpr int64_t kWide = 256;    // columns up to which it gains nothing by it if both sides lie along k (measured)
constexpr int64_t kShort = 96;    // of k: less does not pay for that
constexpr int64_t kShare = 12;    // rows that whole tiles fill
constexpr int64_t kOwnRows = 96;  // for which a thread packs the other side for itself

bool is_for_rows_along(const Gemm& g) {
  if (g.dtype != kFloat) return false;
  if (std::min(g.m, g.n) <= kThin) return g.m != g.n && (g.m > g.n ? g.a.col == 1 : g.b.row == 1);
  return g.a.col == 1 && g.b.row == 1 && g.m >= std::max(g.n, kOwnRows) && g.n <= kWide && g.k >= kShort;
}

}  // namespace

bool along_product(const Gemm& g) {
  if (!is_for_rows_along(g)) return false;
  choose_simd_target();
  const auto run = HWY_DYNAMIC_DISPATCH(rows_along);
  const bool by_rows = g.m >= g.n;
  const int64_t rows = std::max(g.m, g.n), cols = std::min(g.m, g.n), shares = (rows + kShare - 1) / kShare;
  // Where there are too few rows for all threads, they share out the columns too.
  constexpr int64_t kFewest = 16;
  const int64_t threads = get_num_threads(), row_parts = std::clamp<int64_t>(g.batch * rows / kOwnRows, 1, threads),
                col_parts = cols <= kThin ? 1 : (threads + row_parts - 1) / row_parts,
                width = (cols + col_parts * kFewest - 1) / (col_parts * kFewest) * kFewest,
                strips = (cols + width - 1) / width;
  const int64_t chunk = cols <= kThin ? 1024 : 800;  // of k: a block of the packed side stays in the L2 cache
  const int64_t grain = std::max<int64_t>(1, 200000 / (kShare * std::min(cols, width) * g.k));
  parallel_for(0, g.batch * strips * shares, grain, [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t batch = first / shares / strips, col = first / shares % strips * width;
      const int64_t from = first % shares, to = std::min(from + last - first, shares);
      const auto at = [batch](const Matrix& m) { return static_cast<float*>(m.data) + batch * m.batch; };
      const Side a{at(g.a), g.m, g.k, g.a.row, g.a.col}, b{at(g.b), g.n, g.k, g.b.col, g.b.row};
      const Ending end{at(g.out),   g.out.row,   g.out.col,         g.added.data ? at(g.added) : nullptr,
                       g.added.row, g.added.col, g.alpha.toFloat(), g.beta.toFloat()};
      const Side& packed = by_rows ? b : a;
      const Side strip{packed.data + col * packed.step, std::min(width, cols - col), g.k, packed.step, packed.step_k};
      run(by_rows ? a : b, strip, (by_rows ? end : end.turned()).at(0, col), from * kShare, std::min(to * kShare, rows),
          chunk);
      first += to - from;
    }
  });
  return true;
}

}  // namespace cresset::cpu
#endif
