// Products of floats with a thin side: a large matrix whose rows lie along k, times at most kThin columns. A BLAS would
// rearrange the large one, which takes as long as the product. Here it is read as it lies, and the thin side is packed;
// the result may lie either way. A sum runs in the order of k, whatever the threads do.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/matmul_thin.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cresset/backends/cpu/matmul.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/core/allocator.h"
#include "cresset/core/parallel.h"

#ifndef CRESSET_MATMUL_THIN
#define CRESSET_MATMUL_THIN
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

class Packed {
 public:
  explicit Packed(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(float)) {
    if (bytes_) data_ = static_cast<float*>(allocate(bytes_));
  }
  ~Packed() {
    if (bytes_) deallocate(data_, bytes_);
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  float* get() const { return data_; }

 private:
  size_t bytes_;
  float* data_ = nullptr;
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
constexpr int64_t kChunk = 1024;  // of k

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
// Columns [first, first + kWidth) of the thin side, as far as they exist.
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
template <int Rows, int Vectors>
[[gnu::noinline]] void tile(int64_t k, const float* a, int64_t a_row, const float* b, int64_t cols, const Ending& end) {
  Vector sum[Rows][Vectors] = {};
  // Rows three apart have a pointer each, which with one stride reach all of them.
  const float* third[4] = {a, a + 3 * a_row, a + 6 * a_row, a + 9 * a_row};
  constexpr int64_t kLine = 16;  // floats in a line of the cache
  for (int64_t done = 0; done < k; done += kLine) {
    // The next tile's rows: a dozen at once are more than the CPU foresees.
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) __builtin_prefetch(a + (Rows + i) * a_row + done, 0, 2);
    for (int64_t p = done; p < std::min(done + kLine, k); p++, b += kWidth) {
      Vector right[Vectors];
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) right[v] = load(b + v * kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; i++) {
        const float left = third[i / 3][i % 3 * a_row];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; v++) sum[i][v] += left * right[v];
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; i++) third[i]++;
    }
  }
  const bool plain = end.col == 1 && cols >= Vectors * kLanes && (!end.added || end.added_col == 1);
  if (CRESSET_UNLIKELY(!plain)) {
    alignas(64) float sums[Rows * kWidth];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) store(sums + i * kWidth + v * kLanes, sum[i][v]);
    return finish(sums, Rows, std::min<int64_t>(cols, Vectors * kLanes), end);
  }
  const hn::CappedTag<float, kLanes> d;
#pragma GCC unroll 16
  for (int i = 0; i < Rows; i++)
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
void tiles(int64_t rows, int64_t k, const float* a, int64_t a_row, const float* b, int64_t cols, Ending end) {
  const auto next = [&](int64_t done) {
    rows -= done;
    a += done * a_row;
    end = end.at(done, 0);
  };
  if (rows == kHeight) return tile<kHeight, Vectors>(k, a, a_row, b, cols, end);
  if constexpr (kHeight > 8)
    if (rows >= 8) tile<8, Vectors>(k, a, a_row, b, cols, end), next(8);
  if (rows >= 4) tile<4, Vectors>(k, a, a_row, b, cols, end), next(4);
  if (rows >= 2) tile<2, Vectors>(k, a, a_row, b, cols, end), next(2);
  if (rows >= 1) tile<1, Vectors>(k, a, a_row, b, cols, end);
}

}  // namespace

// Rows [row, row_end) of a, by all of b.
void thin_rows(const Side& a, const Side& b, Ending end, int64_t row, int64_t row_end) {
  const int64_t k = a.depth, chunks = (k + kChunk - 1) / kChunk, longest = (k + chunks - 1) / chunks;
  const int64_t panels = (b.size + kWidth - 1) / kWidth;
  const Packed packed(panels * kWidth * longest);
  for (int64_t first = 0; first < k; first += longest) {
    const int64_t depth = std::min(longest, k - first);
    for (int64_t j = 0; j < panels; j++) pack(packed.get() + j * kWidth * depth, b, j * kWidth, first, depth);
    for (int64_t i = row; i < row_end; i += kHeight)
      for (int64_t j = 0; j < panels; j++) {
        const int64_t rows = std::min<int64_t>(kHeight, row_end - i),
                      cols = std::min<int64_t>(kWidth, b.size - j * kWidth);
        const float *from = a.data + i * a.step + first, *right = packed.get() + j * kWidth * depth;
        cols > kLanes ? tiles<2>(rows, depth, from, a.step, right, cols, end.at(i, j * kWidth))
                      : tiles<1>(rows, depth, from, a.step, right, cols, end.at(i, j * kWidth));
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
HWY_EXPORT(thin_rows);

bool thin_product(const Gemm& g) {
  const bool by_rows = g.n <= kThin && g.a.col == 1 && g.m > g.n;
  if (g.dtype != kFloat || (!by_rows && (g.m > kThin || g.b.row != 1 || g.n <= g.m))) return false;
  choose_simd_target();
  const auto run = HWY_DYNAMIC_DISPATCH(thin_rows);
  // Shares of rows that whole tiles fill; every thread packs the thin side for itself.
  constexpr int64_t kShare = 24;
  const int64_t rows = by_rows ? g.m : g.n, shares = (rows + kShare - 1) / kShare;
  const int64_t grain = std::max<int64_t>(1, 200000 / (kShare * std::min(g.m, g.n) * g.k));
  parallel_for(0, g.batch * shares, grain, [&](int64_t first, int64_t last) {
    while (first < last) {
      const int64_t batch = first / shares, from = first % shares, to = std::min(from + last - first, shares);
      const auto at = [batch](const Matrix& m) { return static_cast<float*>(m.data) + batch * m.batch; };
      const Side a{at(g.a), g.m, g.k, g.a.row, g.a.col}, b{at(g.b), g.n, g.k, g.b.col, g.b.row};
      const Ending end{at(g.out),   g.out.row,   g.out.col,         g.added.data ? at(g.added) : nullptr,
                       g.added.row, g.added.col, g.alpha.toFloat(), g.beta.toFloat()};
      by_rows ? run(a, b, end, from * kShare, std::min(to * kShare, rows))
              : run(b, a, end.turned(), from * kShare, std::min(to * kShare, rows));
      first += to - from;
    }
  });
  return true;
}

}  // namespace cresset::cpu
#endif
