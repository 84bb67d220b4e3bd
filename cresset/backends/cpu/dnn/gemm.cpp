// Large products by the libraries: float by oneDNN, double and complex by OpenBLAS. Transposed operands go in by flag,
// never by copy.
#include <cblas.h>
#include <dnnl.h>

#include <algorithm>

#include "cresset/backends/cpu/dnn/gemm.h"
#include "cresset/backends/cpu/dnn/library_call.h"
#include "cresset/core/library_threads.h"
#include "cresset/core/parallel.h"

namespace cresset::cpu {

BlasMatrix blas_matrix(const Matrix& m, int64_t rows, int64_t cols) {
  // A dimension of one element may have any stride.
  if ((m.col == 1 || cols == 1) && (m.row >= cols || rows == 1))
    return {true, false, rows == 1 ? std::max<int64_t>(cols, 1) : m.row};
  if ((m.row == 1 || rows == 1) && (m.col >= rows || cols == 1))
    return {true, true, cols == 1 ? std::max<int64_t>(rows, 1) : m.col};
  return {false, false, 0};
}

namespace {

struct Call {
  int64_t m, n, k;
  BlasMatrix a, b;
  int64_t out_lead;
  const void *left, *right;
  void* out;
};

CBLAS_TRANSPOSE flag(const BlasMatrix& m) { return m.transposed ? CblasTrans : CblasNoTrans; }

void multiply(const Gemm& g, const Call& c) {
  const SignalGuard guard;  // parts run on threads of the pool, whose masks are not this file's to know
  const auto m = static_cast<blasint>(c.m), n = static_cast<blasint>(c.n), k = static_cast<blasint>(c.k);
  const auto lda = static_cast<blasint>(c.a.lead), ldb = static_cast<blasint>(c.b.lead),
             ldc = static_cast<blasint>(c.out_lead);
  if (g.dtype == kFloat) {
    const auto status =
        dnnl_sgemm(c.a.transposed ? 'T' : 'N', c.b.transposed ? 'T' : 'N', c.m, c.n, c.k, g.alpha.toFloat(),
                   static_cast<const float*>(c.left), c.a.lead, static_cast<const float*>(c.right), c.b.lead,
                   g.beta.toFloat(), static_cast<float*>(c.out), c.out_lead);
    CRESSET_CHECK(status == dnnl_success, "mm: oneDNN's sgemm failed with status ", static_cast<int>(status));
  } else if (g.dtype == kDouble) {
    cblas_dgemm(CblasRowMajor, flag(c.a), flag(c.b), m, n, k, g.alpha.toDouble(), static_cast<const double*>(c.left),
                lda, static_cast<const double*>(c.right), ldb, g.beta.toDouble(), static_cast<double*>(c.out), ldc);
  } else if (g.dtype == kComplexFloat) {
    const auto alpha = g.alpha.to<std::complex<float>>(), beta = g.beta.to<std::complex<float>>();
    cblas_cgemm(CblasRowMajor, flag(c.a), flag(c.b), m, n, k, &alpha, c.left, lda, c.right, ldb, &beta, c.out, ldc);
  } else {
    const auto alpha = g.alpha.toComplexDouble(), beta = g.beta.toComplexDouble();
    cblas_zgemm(CblasRowMajor, flag(c.a), flag(c.b), m, n, k, &alpha, c.left, lda, c.right, ldb, &beta, c.out, ldc);
  }
}

// A product in rows x cols pieces, each of which a thread computes by itself: it packs what it needs of both sides and
// waits for nobody. The libraries' own threads share the packing and wait for each other several times, which costs as
// much on idle cores as it saves, and far more where other programs want the cores too.
struct Pieces {
  int64_t rows = 1, cols = 1;
};

constexpr int64_t kStep = 8;  // rows that oneDNN's kernel takes at once
constexpr int64_t kLeastSide = 16;
constexpr int64_t kPieceWork = 250000;  // multiplications that are worth another thread

// For `threads` pieces at most, of which none is tiny: the grid that has least to do in its largest piece.
Pieces pieces_of(int64_t m, int64_t n, int64_t k, int64_t threads) {
  const int64_t most = std::min(threads, m * n * k / kPieceWork);
  Pieces best;
  int64_t least = INT64_MAX;
  for (int64_t rows = 1; rows <= std::max<int64_t>(1, std::min(most, m / kLeastSide)); rows++) {
    const int64_t cols = std::max<int64_t>(1, std::min(most / rows, n / kLeastSide));
    const int64_t height = (m + rows - 1) / rows, width = (n + cols - 1) / cols;
    constexpr int64_t kPacking = 8;  // a number that is packed costs as much as so many products
    if (const int64_t cost = height * width + kPacking * (height + width); cost < least) {
      least = cost;
      best = {rows, cols};
    }
  }
  return best;
}

void multiply_piece(const Gemm& g, const Call& c, const Pieces& pieces, int64_t index) {
  const auto size = static_cast<int64_t>(element_size(g.dtype));
  const auto cut = [](int64_t count, int64_t piece, int64_t pieces) {
    return piece == pieces ? count : (count + kStep - 1) / kStep * piece / pieces * kStep;
  };
  const int64_t i = index / pieces.cols, j = index % pieces.cols;
  const int64_t row = cut(c.m, i, pieces.rows), col = cut(c.n, j, pieces.cols);
  Call part = c;
  part.m = cut(c.m, i + 1, pieces.rows) - row;
  part.n = cut(c.n, j + 1, pieces.cols) - col;
  part.left = static_cast<const char*>(c.left) + row * (c.a.transposed ? 1 : c.a.lead) * size;
  part.right = static_cast<const char*>(c.right) + col * (c.b.transposed ? c.b.lead : 1) * size;
  part.out = static_cast<char*>(c.out) + (row * c.out_lead + col) * size;
  multiply(g, part);
}

bool library_gemm(const Gemm& call) {
  if (call.dtype == kBFloat16) return bfloat16_gemm(call);
  Gemm g = call;
  if (!g.added.data) g.beta = 0;
  BlasMatrix out = blas_matrix(g.out, g.m, g.n);
  if (!out.fits) return false;
  if (out.transposed) {  // the transposed product has rows one after the other
    std::swap(g.a, g.b);
    std::swap(g.m, g.n);
    for (Matrix* matrix : {&g.a, &g.b, &g.out}) std::swap(matrix->row, matrix->col);
  }
  const BlasMatrix a = blas_matrix(g.a, g.m, g.k), b = blas_matrix(g.b, g.k, g.n);
  constexpr int64_t limit = INT32_MAX;
  if (!a.fits || !b.fits || std::max({g.m, g.n, g.k, a.lead, b.lead, out.lead}) > limit) return false;

  const auto size = static_cast<int64_t>(element_size(g.dtype));
  const int64_t threads = get_num_threads();
  const bool whole = g.batch >= threads || in_parallel_region();
  const Pieces pieces = whole ? Pieces{} : pieces_of(g.m, g.n, g.k, threads);
  const int64_t each = pieces.rows * pieces.cols;
  const LibraryCall library;
  if (!library.allowed()) return false;
  const detail::SerialLibraries serial;
  parallel_for(0, g.batch * each, 1, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at++) {
      const int64_t i = at / each;
      const Call c{g.m,
                   g.n,
                   g.k,
                   a,
                   b,
                   out.lead,
                   static_cast<const char*>(g.a.data) + i * g.a.batch * size,
                   static_cast<const char*>(g.b.data) + i * g.b.batch * size,
                   static_cast<char*>(g.out.data) + i * g.out.batch * size};
      multiply_piece(g, c, pieces, at % each);
    }
  });
  return true;
}

[[maybe_unused]] const bool registered = (set_library_gemm(library_gemm), true);

}  // namespace
}  // namespace cresset::cpu
