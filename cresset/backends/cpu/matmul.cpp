// CPU kernel of ops/matmul: decides between the blocks of matmul_simd, matmul_along and the library, and shares blocks
// out to threads.
#include "cresset/ops/matmul.h"

#include <algorithm>

#include "cresset/backends/cpu/matmul.h"
#include "cresset/core/backend_loader.h"
#include "cresset/core/kernel.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {
namespace {

constinit std::atomic<LibraryGemm> library{nullptr};

// Multiplications up to which a call into the library costs more than it gains (measured).
constexpr int64_t kSmallProduct = 270000, kSmallComplexProduct = 32768;
// Multiplications that pay for a thread.
constexpr int64_t kThreadWork = 65536;
constexpr int64_t kBlockRows = 128, kBlockCols = 512;

// oneDNN's primitives cost more to call than its sgemm.
constexpr int64_t kSmallBFloat16 = 524288;

bool library_has(const Gemm& g) {
  if (g.dtype != g.out_dtype) return false;
  if (g.dtype == kBFloat16) return g.m * g.n * g.k * g.batch > kSmallBFloat16;
  return g.dtype == kFloat || g.dtype == kDouble || is_complex(g.dtype);
}

LibraryGemm library_function() {
  LibraryGemm function = library.load(std::memory_order_acquire);
  if (CRESSET_UNLIKELY(!function) && load_backend(kCPU)) function = library.load(std::memory_order_acquire);
  return function;
}

void swap_sides(Gemm& g) {
  std::swap(g.a, g.b);
  std::swap(g.m, g.n);
  for (Matrix* matrix : {&g.a, &g.b, &g.out, &g.added}) std::swap(matrix->row, matrix->col);
}

// Whether a large product is one of few columns, or of few rows, with vectors that lie along k. The library is good at
// two or three rows alone (measured).
bool few_dots(Gemm& g) {
  if (g.m > kDotRows && g.n <= kDotRows && g.a.col == 1) {
    swap_sides(g);
    return true;
  }
  return g.m >= 4 && g.m <= kDotRows && g.b.row == 1;
}

void run_blocks(const Gemm& g) {
  BlockFunction block = gemm_block_function(g.dtype, g.out_dtype);
  const int64_t work = g.m * g.n * std::max<int64_t>(g.k, 1);
  // A single small product is done before the others have woken up: measured at 64 x 64 x 64.
  if (g.batch == 1 && work <= 4 * kThreadWork) return block(g, {0, 0, g.m, 0, g.n});
  const int64_t row_blocks = (g.m + kBlockRows - 1) / kBlockRows, col_blocks = (g.n + kBlockCols - 1) / kBlockCols;
  // One block for each thread where the matrix would fit into one.
  const int64_t threads = std::max<int64_t>(1, std::min<int64_t>(get_num_threads(), work * g.batch / kThreadWork));
  const int64_t per_matrix = std::max(row_blocks * col_blocks, (threads + g.batch - 1) / g.batch);
  const bool split_rows = g.m >= g.n;
  const int64_t row_parts = col_blocks * row_blocks >= per_matrix ? row_blocks : split_rows ? per_matrix : 1;
  const int64_t col_parts = col_blocks * row_blocks >= per_matrix ? col_blocks : split_rows ? 1 : per_matrix;
  const int64_t parts = row_parts * col_parts;
  const int64_t grain = std::max<int64_t>(1, kThreadWork * parts / std::max<int64_t>(work, 1));
  const auto cut = [](int64_t size, int64_t part, int64_t parts) {
    return part == parts ? size : size * part / parts / kDotRows * kDotRows;
  };
  parallel_for(0, g.batch * parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++) {
      const int64_t part = i % parts, row = part % row_parts, col = part / row_parts;
      GemmBlock at{i / parts, cut(g.m, row, row_parts), cut(g.m, row + 1, row_parts), cut(g.n, col, col_parts),
                   cut(g.n, col + 1, col_parts)};
      if (at.row < at.row_end && at.col < at.col_end) block(g, at);
    }
  });
}

// Products up to this size are done before tiles are packed.
constexpr int64_t kSmallTiles = 65536;

void run_tiles(const Gemm& g) {
  const auto size = static_cast<int64_t>(element_size(g.dtype)),
             out_size = static_cast<int64_t>(element_size(g.out_dtype));
  auto one = [&](int64_t i) {
    Gemm part = g;
    part.batch = 1;
    auto advance = [i](Matrix& m, int64_t bytes) {
      if (m.data) m.data = static_cast<char*>(m.data) + i * m.batch * bytes;
    };
    advance(part.a, size);
    advance(part.b, size);
    advance(part.out, out_size);
    advance(part.added, out_size);
    if (!tile_product(part)) run_blocks(part);
  };
  if (g.batch == 1)
    one(0);
  else
    parallel_for(0, g.batch, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) one(i);
    });
}

// The library adds to what the result holds already.
void fill_with_added(Gemm& g) {
  dispatch(g.dtype, [&](auto* p) {
    using T = std::remove_pointer_t<decltype(p)>;
    const int64_t grain = std::max<int64_t>(1, kThreadWork / g.n);
    parallel_for(0, g.batch * g.m, grain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) {
        T* to = static_cast<T*>(g.out.data) + i / g.m * g.out.batch + i % g.m * g.out.row;
        const T* from = static_cast<const T*>(g.added.data) + i / g.m * g.added.batch + i % g.m * g.added.row;
        if (g.out.col == 1 && g.added.col == 1)
          std::copy_n(from, g.n, to);
        else
          for (int64_t j = 0; j < g.n; j++) to[j * g.out.col] = from[j * g.added.col];
      }
    });
  });
  g.added = g.out;
}

bool run_library(Gemm& g) {
  LibraryGemm function = library_function();
  if (!function) return false;
  if (g.added.data && g.added.data != g.out.data) fill_with_added(g);
  return function(g);
}

Matrix matrix_of(const TensorImpl* t) {
  const int last = t->sizes.rank() - 1;
  return {t->data(), t->strides[last - 1], t->strides[last], last == 2 ? t->strides[0] : 0};
}

// x, of no more than two dimensions, repeated to the sizes of out.
Matrix repeated(const TensorImpl* x, const TensorImpl* out) {
  Matrix matrix{x->data()};
  int64_t* steps[] = {&matrix.col, &matrix.row, &matrix.batch};
  for (int i = 0; i < x->sizes.rank(); i++) {
    const int own = x->sizes.rank() - 1 - i, other = out->sizes.rank() - 1 - i;
    *steps[i] = x->sizes[own] == 1 && out->sizes[other] != 1 ? 0 : x->strides[own];
  }
  return matrix;
}

void gemm(const Tensor& out, const Tensor& added, const Tensor& a, const Tensor& b, const Scalar& beta,
          const Scalar& alpha) {
  const TensorImpl *x = a.impl(), *y = b.impl(), *z = out.impl();
  const int last = z->sizes.rank() - 1;
  run_gemm({x->dtype, z->dtype, last == 2 ? z->sizes[0] : 1, z->sizes[last - 1], z->sizes[last], x->sizes[last],
            matrix_of(z), added.defined() ? repeated(added.impl(), z) : Matrix(), matrix_of(x), matrix_of(y), beta,
            alpha});
}

[[maybe_unused]] const bool registered = gemm_kernel.set(kCPU, gemm);

}  // namespace

void set_library_gemm(LibraryGemm function) { library.store(function, std::memory_order_release); }

void run_gemm(Gemm&& g) {
  if (g.batch == 0 || g.m == 0 || g.n == 0) return;
  const int64_t small = is_complex(g.dtype) ? kSmallComplexProduct : kSmallProduct;
  const bool tiles = (g.dtype == kBFloat16 || g.dtype == kHalf) && has_tiles();
  if (g.m * g.n * g.k > small && !tiles) {
    if (g.dtype == kFloat && std::min(g.m, g.n) > 1) {
      if (few_dots(g)) return run_blocks(g);
      if (along_product(g)) return;
    }
    if (library_has(g) && run_library(g)) return;
  }
  // Vectors run along the columns of the result.
  const bool column_vector = g.n == 1 && g.m > 1;
  if (CRESSET_UNLIKELY(column_vector || (g.out.col != 1 && g.out.row == 1 && g.n > 1))) swap_sides(g);
  if (tiles && g.m * g.n * g.k > kSmallTiles) return run_tiles(g);
  run_blocks(g);
}

}  // namespace cresset::cpu
