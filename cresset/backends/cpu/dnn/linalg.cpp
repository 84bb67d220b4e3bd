// Kernels of ops/linalg that solve and factor, by LAPACK: one matrix with the library's own threads, a batch with a
// matrix per thread.
#include "cresset/ops/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cresset/backends/cpu/dnn/linalg_batch.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

void lu_factor(const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  with_type(lu, [&]<class T>(T*) {
    const Batch<T> a(lu);
    const int k = std::min(a.rows, a.cols);
    a.each([&](int64_t i) {
      data_of<int>(info)[i] = k == 0 ? 0 : lapack::getrf(a.rows, a.cols, a[i], a.rows, data_of<int>(pivots) + i * k);
    });
  });
}

char trans_flag(int64_t transpose) { return transpose == 0 ? 'N' : transpose == 1 ? 'T' : 'C'; }

// Pivots may come from the user: LAPACK would follow them anywhere. They count from 1.
void check_pivots(const Tensor& pivots, int64_t rows) {
  const int* at = data_of<int>(pivots);
  for (int64_t i = 0; i < pivots.numel(); i++)
    CRESSET_CHECK_AS(ValueError, at[i] >= 1 && at[i] <= rows, "lu: found the pivot ", at[i], " (expected 1 to ", rows,
                     ")");
}

void lu_solve(const Tensor& b, const Tensor& lu, const Tensor& pivots, int64_t transpose) {
  with_type(b, [&]<class T>(T*) {
    const Batch<T> x(b), a(lu);
    if (x.rows == 0 || x.cols == 0) return;
    check_pivots(pivots, a.rows);
    x.each([&](int64_t i) {
      lapack::getrs(trans_flag(transpose), a.rows, x.cols, a[i], a.rows, data_of<int>(pivots) + i * a.rows, x[i],
                    x.rows);
    });
  });
}

void lu_permutation(const Tensor& permutation, const Tensor& pivots) {
  check_pivots(pivots, permutation.size(-1));
  with_type(permutation, [&]<class T>(T*) {
    const Batch<T> p(permutation);  // row by row, which a matrix of ones and zeros may be
    const int64_t k = pivots.dim() == 0 ? 0 : pivots.size(-1);
    std::vector<int> rows(static_cast<size_t>(p.rows));
    for (int64_t i = 0; i < p.count; i++) {
      for (int r = 0; r < p.rows; r++) rows[static_cast<size_t>(r)] = r;
      const int* at = data_of<int>(pivots) + i * k;
      for (int64_t r = 0; r < k; r++) std::swap(rows[static_cast<size_t>(r)], rows[static_cast<size_t>(at[r] - 1)]);
      std::fill_n(p[i], int64_t{p.rows} * p.rows, T(0));
      for (int c = 0; c < p.rows; c++) p[i][int64_t{rows[static_cast<size_t>(c)]} * p.rows + c] = T(1);
    }
  });
}

void inverse(const Tensor& out, const Tensor& info) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> a(out);
    a.each([&](int64_t i) {
      std::vector<int> pivots(static_cast<size_t>(a.rows));
      int found = a.rows == 0 ? 0 : lapack::getrf(a.rows, a.rows, a[i], a.rows, pivots.data());
      if (found == 0 && a.rows > 0) found = lapack::getri(a.rows, a[i], a.rows, pivots.data());
      data_of<int>(info)[i] = found;
      // What linalg_inv_ex returns for a singular matrix is not to be taken for an inverse.
      if (found != 0) std::fill_n(a[i], int64_t{a.rows} * a.rows, T(std::numeric_limits<lapack::Real<T>>::infinity()));
    });
  });
}

template <class T>
T determinant(const T* lu, const int* pivots, int n) {
  T product(1);
  for (int i = 0; i < n; i++) {
    product *= lu[int64_t{i} * n + i];
    if (pivots[i] != i + 1) product = -product;
  }
  return product;
}

void lu_det(const Tensor& det, const Tensor& lu, const Tensor& pivots) {
  with_type(lu, [&]<class T>(T*) {
    const Batch<T> a(lu);
    for (int64_t i = 0; i < a.count; i++)
      data_of<T>(det)[i] = determinant(a[i], data_of<int>(pivots) + i * a.rows, a.rows);
  });
}

void lu_slogdet(const Tensor& sign, const Tensor& logabsdet, const Tensor& lu, const Tensor& pivots) {
  with_type(lu, [&]<class T>(T*) {
    using R = lapack::Real<T>;
    const Batch<T> a(lu);
    for (int64_t i = 0; i < a.count; i++) {
      T direction(1);
      R total = 0;
      const int* swaps = data_of<int>(pivots) + i * a.rows;
      for (int r = 0; r < a.rows; r++) {
        const T u = a[i][int64_t{r} * a.rows + r];
        const R size = std::abs(u);
        if constexpr (lapack::complex_type<T>)
          direction *= size == 0 ? T(0) : u / size;
        else
          direction *= std::isnan(u) ? u : T((u > 0) - (u < 0));
        if (swaps[r] != r + 1) direction = -direction;
        total += std::log(size);
      }
      data_of<T>(sign)[i] = direction;
      data_of<R>(logabsdet)[i] = total;
    }
  });
}

template <class T>
T determinant_of(std::vector<T> a, int n) {
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::getrf(n, n, a.data(), n, pivots.data());
  return determinant(a.data(), pivots.data(), n);
}
template <class T>
T conjugated(T x) {
  if constexpr (lapack::complex_type<T>)
    return std::conj(x);
  else
    return x;
}

// conj(det) * inv(A)^H by LU; where a pivot is lost in rounding, A = U S V^H gives conj(det U det V^H) U P V^H, with
// P the products of all other singular values.
template <class T>
void cofactors(T* a, int n) {
  using R = lapack::Real<T>;
  const size_t size = static_cast<size_t>(n) * static_cast<size_t>(n);
  // LAPACK's singular values may never come of what is not finite.
  for (size_t i = 0; i < size; i++)
    if (!std::isfinite(std::real(a[i])) || !std::isfinite(std::imag(a[i])))
      return std::fill_n(a, size, T(std::numeric_limits<R>::quiet_NaN())), void();
  std::vector<T> lu(a, a + size);
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::getrf(n, n, lu.data(), n, pivots.data());
  R largest = 0, smallest = std::numeric_limits<R>::infinity();
  for (int i = 0; i < n; i++) {
    const R pivot = std::abs(lu[static_cast<size_t>(i) * static_cast<size_t>(n + 1)]);
    largest = std::max(largest, pivot);
    smallest = std::min(smallest, pivot);
  }
  if (smallest > largest * static_cast<R>(n) * 8 * std::numeric_limits<R>::epsilon()) {
    const T det = determinant(lu.data(), pivots.data(), n);
    lapack::getri(n, lu.data(), n, pivots.data());
    for (int r = 0; r < n; r++)
      for (int c = 0; c < n; c++) a[int64_t{c} * n + r] = conjugated(det * lu[static_cast<size_t>(r * int64_t{n} + c)]);
    return;
  }
  std::vector<T> u(size), vh(size), scaled(size), copy(a, a + size);
  std::vector<R> s(static_cast<size_t>(n));
  if (lapack::gesdd('A', n, n, copy.data(), n, s.data(), u.data(), n, vh.data(), n) != 0) {
    std::fill_n(a, size, T(std::numeric_limits<R>::quiet_NaN()));
    return;
  }
  const T direction = conjugated(determinant_of(u, n) * determinant_of(vh, n));
  for (int c = 0; c < n; c++) {
    R others = 1;
    for (int k = 0; k < n; k++)
      if (k != c) others *= s[static_cast<size_t>(k)];
    for (int r = 0; r < n; r++) {
      const auto at = static_cast<size_t>(int64_t{c} * n + r);
      scaled[at] = u[at] * others * direction;
    }
  }
  lapack::multiply(n, scaled.data(), vh.data(), a);
}
void cofactor(const Tensor& out) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> a(out);
    if (a.rows > 0) a.each([&](int64_t i) { cofactors(a[i], a.rows); });
  });
}

void cholesky(const Tensor& out, const Tensor& info, bool upper) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> a(out);
    const int n = a.rows;
    a.each([&](int64_t i) {
      data_of<int>(info)[i] = n == 0 ? 0 : lapack::potrf(upper ? 'U' : 'L', n, a[i], n);
      for (int c = 0; c < n; c++)
        for (int r = upper ? c + 1 : 0; r < (upper ? n : c); r++) a[i][int64_t{c} * n + r] = T(0);
    });
  });
}

void cholesky_solve(const Tensor& b, const Tensor& factor, bool upper) {
  with_type(b, [&]<class T>(T*) {
    const Batch<T> x(b), a(factor);
    if (x.rows == 0 || x.cols == 0) return;
    x.each([&](int64_t i) { lapack::potrs(upper ? 'U' : 'L', a.rows, x.cols, a[i], a.rows, x[i], x.rows); });
  });
}

void cholesky_inverse(const Tensor& factor, const Tensor& info, bool upper) {
  with_type(factor, [&]<class T>(T*) {
    const Batch<T> a(factor);
    const int n = a.rows;
    a.each([&](int64_t i) {
      data_of<int>(info)[i] = n == 0 ? 0 : lapack::potri(upper ? 'U' : 'L', n, a[i], n);
      // LAPACK writes one triangle.
      for (int c = 0; c < n; c++)
        for (int r = 0; r < c; r++) {
          T &above = a[i][int64_t{c} * n + r], &below = a[i][int64_t{r} * n + c];
          if (upper)
            below = conjugated(above);
          else
            above = conjugated(below);
        }
    });
  });
}

void triangular_solve(const Tensor& b, const Tensor& a, bool upper, bool left, bool unitriangular, int64_t transpose) {
  with_type(b, [&]<class T>(T*) {
    const Batch<T> x(b), factor(a);
    if (x.rows == 0 || x.cols == 0) return;
    x.each([&](int64_t i) {
      lapack::trsm<T>({upper, left, unitriangular, transpose}, x.rows, x.cols, factor[i], factor.rows, x[i], x.rows);
    });
  });
}

void geqrf(const Tensor& out, const Tensor& tau) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> a(out);
    const int k = std::min(a.rows, a.cols);
    if (k > 0) a.each([&](int64_t i) { lapack::geqrf(a.rows, a.cols, a[i], a.rows, data_of<T>(tau) + i * k); });
  });
}

void orgqr(const Tensor& out, const Tensor& tau) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> q(out);
    const int64_t k = tau.size(-1);
    if (q.rows > 0 && q.cols > 0)
      q.each([&](int64_t i) {
        lapack::orgqr(q.rows, q.cols, static_cast<int>(k), q[i], q.rows, data_of<T>(tau) + i * k);
      });
  });
}

void ormqr(const Tensor& out, const Tensor& a, const Tensor& tau, bool left, bool adjoint) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> c(out), v(a);
    if (c.rows == 0 || c.cols == 0 || v.cols == 0) return;
    const char trans = !adjoint ? 'N' : lapack::complex_type<T> ? 'C' : 'T';
    c.each([&](int64_t i) {
      lapack::ormqr(left ? 'L' : 'R', trans, c.rows, c.cols, v.cols, v[i], v.rows, data_of<T>(tau) + i * v.cols, c[i]);
    });
  });
}

[[maybe_unused]] const bool registered =
    lu_factor_kernel.set(kCPU, lu_factor) && lu_solve_kernel.set(kCPU, lu_solve) &&
    lu_permutation_kernel.set(kCPU, lu_permutation) && inverse_kernel.set(kCPU, inverse) &&
    lu_det_kernel.set(kCPU, lu_det) && lu_slogdet_kernel.set(kCPU, lu_slogdet) && cofactor_kernel.set(kCPU, cofactor) &&
    cholesky_kernel.set(kCPU, cholesky) && cholesky_solve_kernel.set(kCPU, cholesky_solve) &&
    cholesky_inverse_kernel.set(kCPU, cholesky_inverse) && triangular_solve_kernel.set(kCPU, triangular_solve) &&
    geqrf_kernel.set(kCPU, geqrf) && orgqr_kernel.set(kCPU, orgqr) && ormqr_kernel.set(kCPU, ormqr);

}  // namespace
}  // namespace cresset::cpu
