// Large products by the libraries: float by oneDNN, double and complex by OpenBLAS. Transposed operands go in by flag,
// never by copy.
#include <cblas.h>
#include <dnnl.h>

#include <algorithm>

#include "cresset/backends/cpu/dnn/gemm.h"
#include "cresset/backends/cpu/dnn/library_call.h"
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

// oneDNN's threads pack a side together and wait for each other several times. From so many rows or columns for each
// on, a thread that packs all of the other side for itself and waits for nobody is as quick or quicker: on two threads
// of a Zen 4 by up to 25 %, and by half where other programs want the cores too. Measured; with 32 rows it is slower
// there, with 64 on a Xeon.
constexpr int64_t kOwn = 128;
constexpr int64_t kStep = 8;  // rows that oneDNN's kernel takes at once

// The product by rows, or by columns where there are too few rows, a part for each thread.
void multiply_in_parts(const Gemm& g, const Call& c, int64_t threads) {
  const auto size = static_cast<int64_t>(element_size(g.dtype));
  const bool by_rows = c.m >= kOwn * threads;
  const int64_t count = by_rows ? c.m : c.n, steps = (count + kStep - 1) / kStep;
  parallel_for(0, steps, steps / threads, [&](int64_t first, int64_t last) {
    Call part = c;
    const int64_t from = first * kStep;
    (by_rows ? part.m : part.n) = std::min(last * kStep, count) - from;
    if (by_rows)
      part.left = static_cast<const char*>(c.left) + from * (c.a.transposed ? 1 : c.a.lead) * size;
    else
      part.right = static_cast<const char*>(c.right) + from * (c.b.transposed ? c.b.lead : 1) * size;
    part.out = static_cast<char*>(c.out) + from * (by_rows ? c.out_lead : 1) * size;
    multiply(g, part);
  });
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
  const bool in_parts = g.dtype == kFloat && threads > 1 && std::max(g.m, g.n) >= kOwn * threads;
  auto one = [&](int64_t i) {
    const Call c{g.m,
                 g.n,
                 g.k,
                 a,
                 b,
                 out.lead,
                 static_cast<const char*>(g.a.data) + i * g.a.batch * size,
                 static_cast<const char*>(g.b.data) + i * g.b.batch * size,
                 static_cast<char*>(g.out.data) + i * g.out.batch * size};
    in_parts ? multiply_in_parts(g, c, threads) : multiply(g, c);
  };
  const LibraryCall library;
  if (!library.allowed()) return false;
  if (g.batch >= threads && g.batch > 1) {  // inside a region the libraries stay serial
    parallel_for(0, g.batch, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) one(i);
    });
  } else {
    for (int64_t i = 0; i < g.batch; i++) one(i);
  }
  return true;
}

[[maybe_unused]] const bool registered = (set_library_gemm(library_gemm), true);

}  // namespace
}  // namespace cresset::cpu
