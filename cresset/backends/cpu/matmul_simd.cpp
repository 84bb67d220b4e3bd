// The product of a block: panels of b are packed (and converted) into rows of whole vectors, a tile of the result stays
// in registers over the whole of k. Vectors are the compiler's own, which gives floats, integers and both halves of
// complex numbers one tile; each target has its width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cresset/backends/cpu/matmul_simd.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "cresset/backends/cpu/matmul.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/core/allocator.h"

#ifndef CRESSET_MATMUL_SCRATCH
#define CRESSET_MATMUL_SCRATCH
namespace cresset::cpu {
namespace {

// Memory for packing: on the stack while it is small.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    if (bytes_ > sizeof(here_)) far_ = allocate(bytes_);
  }
  ~Scratch() {
    if (far_) deallocate(far_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() { return far_ ? far_ : here_; }

 private:
  size_t bytes_;
  void* far_ = nullptr;
  alignas(64) char here_[8192];
};

// What a type computes in. Integers wrap round, so that the low bits of an unsigned sum are right.
template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<Half> {
  using type = float;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
template <class T>
requires std::is_integral_v<T>
struct ComputeOf<T> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};

template <class T>
struct PartOf {
  using type = T;
};
template <class T>
struct PartOf<std::complex<T>> {
  using type = T;
};

// alpha and beta in the compute type, ready for a tile's end.
template <class C>
struct Scale {
  C alpha, beta;
  bool scaled, accumulated;
  explicit Scale(const Gemm& g)
      : alpha(of(g.alpha)), beta(of(g.beta)), scaled(!g.alpha.equal(1)), accumulated(g.added.data != nullptr) {}
  static C of(const Scalar& s) {
    if constexpr (std::is_integral_v<C>)
      return static_cast<C>(s.toLong());
    else
      return s.to<C>();
  }
};

}  // namespace
}  // namespace cresset::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace cresset::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectorBytes = HWY_TARGET <= HWY_AVX3 ? 64 : HWY_TARGET <= HWY_AVX2 ? 32 : 16;
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr int64_t kDirectRows = 64;  // fewer rows than this, or as many, do not pay for packing b

template <class C, int Bytes>
struct Vector {
  typedef C type __attribute__((vector_size(Bytes)));
  static constexpr int lanes = Bytes / static_cast<int>(sizeof(C));
};

template <class T>
struct View {
  T* data;
  int64_t row, col;
  T* at(int64_t i, int64_t j) const { return data + i * row + j * col; }
};
template <class T>
View<T> matrix_of(const Matrix& m, int64_t batch) {
  return {static_cast<T*>(m.data) + batch * m.batch, m.row, m.col};
}

// Results that do not fill their vectors, or whose type is another; one for all sizes of tiles, which compiles sooner.
template <class C, class Out>
[[gnu::noinline]] void put_rows(const C* from, int rows, int width, const View<Out>& out, const View<Out>& added,
                                int64_t cols, const Scale<C>& scale) {
  for (int i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) {
      const C sum = from[i * width + j];
      C y = scale.scaled ? static_cast<C>(scale.alpha * sum) : sum;
      if (scale.accumulated) y += static_cast<C>(scale.beta * static_cast<C>(*added.at(i, j)));
      *out.at(i, j) = static_cast<Out>(y);
    }
}

// Rows x (Vectors * lanes) results from row-major b; then scaled and added to; `cols` columns of the result exist.
template <int Rows, int Vectors, int Bytes, class C, class Out>
void tile(int64_t k, View<const C> a, const C* b, int64_t b_row, View<Out> out, View<Out> added, int64_t cols,
          const Scale<C>& scale) {
  using V = typename Vector<C, Bytes>::type;
  constexpr int lanes = Vector<C, Bytes>::lanes;
  V sum[Rows][Vectors] = {};
  for (int64_t p = 0; p < k; p++) {
    V right[Vectors];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; v++) std::memcpy(&right[v], b + p * b_row + v * lanes, sizeof(V));
#pragma GCC unroll 16
    for (int i = 0; i < Rows; i++) {
      const C left = *a.at(i, p);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; v++) sum[i][v] += left * right[v];
    }
  }
  if constexpr (std::is_same_v<C, Out>) {
    if (out.col == 1 && cols >= Vectors * lanes && (added.col == 1 || !scale.accumulated)) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; i++) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; v++) {
          C* to = out.at(i, v * lanes);
          V y = sum[i][v];
          if (CRESSET_UNLIKELY(scale.scaled)) y *= scale.alpha;
          if (CRESSET_UNLIKELY(scale.accumulated)) {
            V old;
            std::memcpy(&old, added.at(i, v * lanes), sizeof(V));
            y += scale.beta * old;
          }
          std::memcpy(to, &y, sizeof(V));
        }
      }
      return;
    }
  }
  C rows[Rows][Vectors * lanes];
  std::memcpy(rows, sum, sizeof(rows));
  put_rows(&rows[0][0], Rows, Vectors * lanes, out, added, std::min<int64_t>(cols, Vectors * lanes), scale);
}

// Not inlined: all widths at once would not fit into the registers.
template <int Vectors, int Bytes, class C, class Out>
[[gnu::noinline]] void panel(int64_t rows, int64_t k, const View<const C>& a, const C* b, int64_t b_row,
                             const View<Out>& out, const View<Out>& added, int64_t cols, const Scale<C>& scale) {
  int64_t i = 0;
  auto at = [&](int64_t i) { return View<const C>{a.at(i, 0), a.row, a.col}; };
  auto to = [&](int64_t i) { return View<Out>{out.at(i, 0), out.row, out.col}; };
  auto plus = [&](int64_t i) { return View<Out>{added.at(i, 0), added.row, added.col}; };
  for (; i + kTileRows <= rows; i += kTileRows)
    tile<kTileRows, Vectors, Bytes>(k, at(i), b, b_row, to(i), plus(i), cols, scale);
  if constexpr (kTileRows > 4)
    for (; i + 4 <= rows; i += 4) tile<4, Vectors, Bytes>(k, at(i), b, b_row, to(i), plus(i), cols, scale);
  for (; i < rows; i++) tile<1, Vectors, Bytes>(k, at(i), b, b_row, to(i), plus(i), cols, scale);
}

template <class C, class T>
C converted(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(x);
  else
    return static_cast<C>(x);
}

// Columns [0, cols) of b as k rows of `width`, zeros behind.
template <class C, class T>
[[gnu::noinline]] void pack_columns(C* to, int64_t width, View<const T> b, int64_t k, int64_t cols) {
  if (b.row == 1 && b.col != 1) {
    for (int64_t j = 0; j < cols; j++)
      for (int64_t p = 0; p < k; p++) to[p * width + j] = converted<C>(*b.at(p, j));
    for (int64_t p = 0; p < k; p++) std::fill(to + p * width + cols, to + (p + 1) * width, C(0));
    return;
  }
  for (int64_t p = 0; p < k; p++) {
    for (int64_t j = 0; j < cols; j++) to[p * width + j] = converted<C>(*b.at(p, j));
    std::fill(to + p * width + cols, to + (p + 1) * width, C(0));
  }
}

// Rows times columns that lie contiguous in memory: dot products, no packing.
template <int Rows, int Cols, class C>
HWY_INLINE void dot_tile(int64_t k, const View<const C>& a, const View<const C>& b, const View<C>& out,
                         const View<C>& added, const Scale<C>& scale) {
  using V = typename Vector<C, kVectorBytes>::type;
  constexpr int lanes = Vector<C, kVectorBytes>::lanes;
  // A sum of its own for every other vector, where one would wait for itself.
  constexpr int chains = Rows * Cols >= 8 ? 1 : 8 / (Rows * Cols);
  V sums[chains][Rows][Cols] = {};
  const auto step = [&](int chain, int64_t p) {
    V left[Rows];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; i++) std::memcpy(&left[i], a.data + i * a.row + p, sizeof(V));
#pragma GCC unroll 8
    for (int j = 0; j < Cols; j++) {
      V right;
      std::memcpy(&right, b.data + j * b.col + p, sizeof(V));
#pragma GCC unroll 8
      for (int i = 0; i < Rows; i++) sums[chain][i][j] += left[i] * right;
    }
  };
  int64_t p = 0;
  for (; p + chains * lanes <= k; p += chains * lanes) {
#pragma GCC unroll 8
    for (int c = 0; c < chains; c++) step(c, p + c * lanes);
  }
  for (; p + lanes <= k; p += lanes) step(0, p);
  for (int i = 0; i < Rows; i++)
    for (int j = 0; j < Cols; j++) {
      V total = sums[0][i][j];
      for (int c = 1; c < chains; c++) total += sums[c][i][j];
      C y = 0;
      for (int l = 0; l < lanes; l++) y += total[l];
      for (int64_t q = p; q < k; q++) y += a.data[i * a.row + q] * b.data[j * b.col + q];
      y *= scale.alpha;
      *out.at(i, j) = scale.accumulated ? y + scale.beta * *added.at(i, j) : y;
    }
}
template <int Rows, class C>
[[gnu::noinline]] void dot_rows(int64_t k, const View<const C>& a, const View<const C>& b, const View<C>& out,
                                const View<C>& added, int64_t cols, const Scale<C>& scale) {
  constexpr int kCols = HWY_TARGET > HWY_AVX3 && Rows >= 4 ? 2 : 4;
  const auto moved = [](const auto& x, int64_t j) { return std::decay_t<decltype(x)>{x.at(0, j), x.row, x.col}; };
  int64_t j = 0;
  for (; j + kCols <= cols; j += kCols)
    dot_tile<Rows, kCols, C>(k, a, moved(b, j), moved(out, j), moved(added, j), scale);
  for (; j < cols; j++) dot_tile<Rows, 1, C>(k, a, moved(b, j), moved(out, j), moved(added, j), scale);
}
template <class C>
void dot_columns(int64_t rows, int64_t k, const View<const C>& a, const View<const C>& b, const View<C>& out,
                 const View<C>& added, int64_t cols, const Scale<C>& scale) {
  int64_t here = 0;
  for (int64_t i = 0; i < rows; i += here) {
    here = rows - i >= 4 ? 4 : rows - i >= 2 ? 2 : 1;
    const auto run = here == 4 ? &dot_rows<4, C> : here == 2 ? &dot_rows<2, C> : &dot_rows<1, C>;
    run(k, {a.at(i, 0), a.row, a.col}, b, {out.at(i, 0), out.row, out.col}, {added.at(i, 0), added.row, added.col},
        cols, scale);
  }
}

template <class T, class Out>
void real_block(const Gemm& g, const GemmBlock& at) {
  using C = typename ComputeOf<T>::type;
  using Element = std::conditional_t<std::is_integral_v<T> && sizeof(T) == sizeof(C), C, T>;
  using Result = std::conditional_t<std::is_integral_v<Out> && sizeof(Out) == sizeof(C), C, Out>;
  constexpr int lanes = Vector<C, kVectorBytes>::lanes;
  constexpr bool same = std::is_same_v<Element, C>;
  const Scale<C> scale(g);
  const int64_t rows = at.row_end - at.row, k = g.k;
  View<const Element> a = matrix_of<const Element>(g.a, at.batch), b = matrix_of<const Element>(g.b, at.batch);
  View<Result> out = matrix_of<Result>(g.out, at.batch), added = matrix_of<Result>(g.added, at.batch);
  a.data = a.at(at.row, 0);

  if constexpr (same && std::is_floating_point_v<C> && std::is_same_v<Result, C>) {
    if (g.m <= kDotRows && b.row == 1 && k >= lanes) {
      const bool along = a.col == 1 || k == 1;
      Scratch copied(along ? 0 : rows * k * static_cast<int64_t>(sizeof(C)));
      if (!along) {
        C* to = static_cast<C*>(copied.get());
        for (int64_t p = 0; p < k; p++)
          for (int64_t i = 0; i < rows; i++) to[i * k + p] = *a.at(i, p);
        a = {to, k, 1};
      }
      return dot_columns<C>(rows, k, a, {b.at(0, at.col), b.row, b.col}, {out.at(at.row, at.col), out.row, out.col},
                            {added.at(at.row, at.col), added.row, added.col}, at.col_end - at.col, scale);
    }
  }
  Scratch left(same ? 0 : rows * k * static_cast<int64_t>(sizeof(C)));
  View<const C> rows_of_a{nullptr, k, 1};
  if constexpr (same) {
    rows_of_a = {a.data, a.row, a.col};
  } else {
    C* packed = static_cast<C*>(left.get());
    for (int64_t i = 0; i < rows; i++)
      for (int64_t p = 0; p < k; p++) packed[i * k + p] = converted<C>(*a.at(i, p));
    rows_of_a.data = packed;
  }
  const int64_t widest = std::min<int64_t>(2 * lanes, (at.col_end - at.col + lanes - 1) / lanes * lanes);
  Scratch right(k * widest * static_cast<int64_t>(sizeof(C)));
  for (int64_t j = at.col; j < at.col_end;) {
    const int64_t left_over = at.col_end - j;
    const int64_t width = left_over >= 2 * lanes ? 2 * lanes : left_over > lanes / 2 ? lanes : lanes / 2;
    const int64_t cols = std::min(width, left_over);
    const C* panel_of_b = nullptr;
    int64_t panel_row = width;
    if constexpr (same)
      if (b.col == 1 && cols == width && rows <= kDirectRows) {
        panel_of_b = b.at(0, j);
        panel_row = b.row;
      }
    if (!panel_of_b) {
      C* packed = static_cast<C*>(right.get());
      pack_columns<C, Element>(packed, width, {b.at(0, j), b.row, b.col}, k, cols);
      panel_of_b = packed;
    }
    View<Result> to{out.at(at.row, j), out.row, out.col}, plus{added.at(at.row, j), added.row, added.col};
    if (width == 2 * lanes)
      panel<2, kVectorBytes>(rows, k, rows_of_a, panel_of_b, panel_row, to, plus, cols, scale);
    else if (width == lanes)
      panel<1, kVectorBytes>(rows, k, rows_of_a, panel_of_b, panel_row, to, plus, cols, scale);
    else
      panel<1, kVectorBytes / 2>(rows, k, rows_of_a, panel_of_b, panel_row, to, plus, cols, scale);
    j += cols;
  }
}

// Complex: real and imaginary parts of b in vectors of their own.
template <class T, int Rows>
void complex_tile(int64_t k, View<const std::complex<T>> a, const T* b, View<std::complex<T>> out,
                  View<std::complex<T>> added, int64_t cols, const Scale<std::complex<T>>& scale) {
  using V = typename Vector<T, kVectorBytes>::type;
  constexpr int lanes = Vector<T, kVectorBytes>::lanes;
  V real[Rows] = {}, imaginary[Rows] = {};
  for (int64_t p = 0; p < k; p++) {
    V re, im;
    std::memcpy(&re, b + p * 2 * lanes, sizeof(V));
    std::memcpy(&im, b + p * 2 * lanes + lanes, sizeof(V));
#pragma GCC unroll 8
    for (int i = 0; i < Rows; i++) {
      const std::complex<T> x = *a.at(i, p);
      real[i] += x.real() * re - x.imag() * im;
      imaginary[i] += x.real() * im + x.imag() * re;
    }
  }
  auto times = [](std::complex<T> x, std::complex<T> y) {
    return std::complex<T>(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  };
  for (int i = 0; i < Rows; i++) {
    for (int64_t j = 0; j < cols; j++) {
      std::complex<T> y(real[i][j], imaginary[i][j]);
      if (scale.scaled) y = times(scale.alpha, y);
      *out.at(i, j) = scale.accumulated ? y + times(scale.beta, *added.at(i, j)) : y;
    }
  }
}

template <class C>
void complex_block(const Gemm& g, const GemmBlock& at) {
  using T = typename PartOf<C>::type;
  constexpr int lanes = Vector<T, kVectorBytes>::lanes;
  const Scale<C> scale(g);
  const int64_t k = g.k;
  View<const C> a = matrix_of<const C>(g.a, at.batch), b = matrix_of<const C>(g.b, at.batch);
  View<C> out = matrix_of<C>(g.out, at.batch), added = matrix_of<C>(g.added, at.batch);
  Scratch right(k * 2 * lanes * static_cast<int64_t>(sizeof(T)));
  T* packed = static_cast<T*>(right.get());
  for (int64_t j = at.col; j < at.col_end; j += lanes) {
    const int64_t cols = std::min<int64_t>(lanes, at.col_end - j);
    for (int64_t p = 0; p < k; p++) {
      for (int64_t l = 0; l < lanes; l++) {
        const C x = l < cols ? *b.at(p, j + l) : C(0);
        packed[p * 2 * lanes + l] = x.real();
        packed[p * 2 * lanes + lanes + l] = x.imag();
      }
    }
    int64_t i = at.row;
    auto from = [&](int64_t i) { return View<const C>{a.at(i, 0), a.row, a.col}; };
    auto to = [&](int64_t i) { return View<C>{out.at(i, j), out.row, out.col}; };
    auto plus = [&](int64_t i) { return View<C>{added.at(i, j), added.row, added.col}; };
    for (; i + 4 <= at.row_end; i += 4) complex_tile<T, 4>(k, from(i), packed, to(i), plus(i), cols, scale);
    for (; i < at.row_end; i++) complex_tile<T, 1>(k, from(i), packed, to(i), plus(i), cols, scale);
  }
}

}  // namespace

BlockFunction find_block(DType dtype, DType out_dtype) {
  return dispatch(dtype, [&](auto* p) -> BlockFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr (std::is_same_v<T, bool>)
      return nullptr;
    else if constexpr (is_complex(dtype_of<T>))
      return &complex_block<T>;
    else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
      return out_dtype == kFloat ? &real_block<T, float> : &real_block<T, T>;
    else
      return &real_block<T, T>;
  });
}

}  // namespace cresset::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cresset::cpu {
HWY_EXPORT(find_block);

static constinit std::atomic<BlockFunction> block_table[2][kDTypes] = {};

BlockFunction gemm_block_function(DType dtype, DType out_dtype) {
  auto& slot = block_table[dtype != out_dtype][static_cast<int>(dtype)];
  BlockFunction found = slot.load(std::memory_order_relaxed);
  if (CRESSET_UNLIKELY(!found)) {
    choose_simd_target();
    found = HWY_DYNAMIC_DISPATCH(find_block)(dtype, out_dtype);
    slot.store(found, std::memory_order_relaxed);
  }
  return found;
}

}  // namespace cresset::cpu
#endif
