// Kernels of ops/linalg around eigenvalues and singular values, least squares and the exponential of a matrix.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cresset/backends/cpu/dnn/linalg_batch.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/linalg.h"

namespace cresset::cpu {
namespace {

template <class T>
void set_identity(T* a, int rows, int cols) {
  std::fill_n(a, int64_t{rows} * cols, T(0));
  for (int i = 0; i < std::min(rows, cols); i++) a[int64_t{i} * rows + i] = T(1);
}

template <class T>
bool all_finite(const T* a, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!std::isfinite(std::real(a[i])) || !std::isfinite(std::imag(a[i]))) return false;
  return true;
}

// What LAPACK says of nan; of infinities it may look for singular values for ever, and if it comes back, they are nan.
template <class T, class R>
bool refuses_values(const T* a, int64_t count, R* s, int64_t k, int* info) {
  if (all_finite(a, count)) return false;
  bool nan = false;
  for (int64_t i = 0; i < count; i++) nan = nan || std::isnan(std::real(a[i])) || std::isnan(std::imag(a[i]));
  *info = nan ? -4 : 0;
  std::fill_n(s, k, std::numeric_limits<R>::quiet_NaN());
  return true;
}

void svd(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info, const Tensor& a, bool vectors) {
  with_type(a, [&]<class T>(T*) {
    using R = lapack::Real<T>;
    const Batch<T> from(a);
    const int m = from.rows, n = from.cols, k = std::min(m, n);
    if (!vectors) {
      T unused;
      from.each([&](int64_t i) {
        int found = 0;
        if (!refuses_values(from[i], int64_t{m} * n, data_of<R>(s) + i * k, k, &found) && k > 0)
          found = lapack::gesdd('N', m, n, from[i], m, data_of<R>(s) + i * k, &unused, 1, &unused, 1);
        data_of<int>(info)[i] = found;
      });
      return;
    }
    const Batch<T> left(u), right(vh);
    const char job = left.cols == m && right.rows == n ? 'A' : 'S';
    from.each([&](int64_t i) {
      if (k == 0) {
        set_identity(left[i], left.rows, left.cols);
        set_identity(right[i], right.rows, right.cols);
        data_of<int>(info)[i] = 0;
        return;
      }
      if (refuses_values(from[i], int64_t{m} * n, data_of<R>(s) + i * k, k, data_of<int>(info) + i)) {
        const T nan(std::numeric_limits<R>::quiet_NaN());
        std::fill_n(left[i], int64_t{left.rows} * left.cols, nan);
        std::fill_n(right[i], int64_t{right.rows} * right.cols, nan);
        return;
      }
      data_of<int>(info)[i] =
          lapack::gesdd(job, m, n, from[i], m, data_of<R>(s) + i * k, left[i], m, right[i], right.rows);
    });
  });
}

void eigh(const Tensor& values, const Tensor& a, const Tensor& info, bool upper, bool vectors) {
  with_type(a, [&]<class T>(T*) {
    using R = lapack::Real<T>;
    const Batch<T> from(a);
    const int n = from.rows;
    from.each([&](int64_t i) {
      data_of<int>(info)[i] =
          n == 0 ? 0 : lapack::heevd(vectors ? 'V' : 'N', upper ? 'U' : 'L', n, from[i], n, data_of<R>(values) + i * n);
    });
  });
}

// LAPACK gives complex pairs of a real matrix as real and imaginary columns.
template <class R>
void join_pairs(int n, const R* wr, const R* wi, const R* vr, std::complex<R>* w, std::complex<R>* v) {
  for (int j = 0; j < n; j++) {
    w[j] = {wr[j], wi[j]};
    if (!v) continue;
    const bool pair = wi[j] != 0 && j + 1 < n;
    for (int r = 0; r < n; r++) {
      const R re = vr[int64_t{j} * n + r], im = pair ? vr[int64_t{j + 1} * n + r] : R(0);
      v[int64_t{j} * n + r] = {re, im};
      if (pair) v[int64_t{j + 1} * n + r] = {re, -im};
    }
    if (pair) {
      w[j + 1] = {wr[j + 1], wi[j + 1]};
      j++;
    }
  }
}

void eig(const Tensor& values, const Tensor& vectors, const Tensor& info, const Tensor& a, bool with_vectors) {
  with_type(a, [&]<class T>(T*) {
    using R = lapack::Real<T>;
    using C = std::complex<R>;
    const Batch<T> from(a);
    const int n = from.rows;
    from.each([&](int64_t i) {
      C* w = data_of<C>(values) + i * n;
      C* v = with_vectors ? data_of<C>(vectors) + i * n * n : nullptr;
      if (!all_finite(from[i], int64_t{n} * n)) {
        data_of<int>(info)[i] = -1;
        return;
      }
      data_of<int>(info)[i] = 0;
      if (n == 0) return;
      const char job = with_vectors ? 'V' : 'N';
      if constexpr (lapack::complex_type<T>) {
        T unused;
        data_of<int>(info)[i] = lapack::geev(job, n, from[i], n, w, static_cast<T*>(nullptr),
                                             with_vectors ? v : &unused, with_vectors ? n : 1);
      } else {
        std::vector<R> wr(static_cast<size_t>(n)), wi(static_cast<size_t>(n)),
            vr(with_vectors ? static_cast<size_t>(n) * static_cast<size_t>(n) : 1);
        data_of<int>(info)[i] = lapack::geev(job, n, from[i], n, wr.data(), wi.data(), vr.data(), with_vectors ? n : 1);
        join_pairs(n, wr.data(), wi.data(), vr.data(), w, v);
      }
    });
  });
}

void lstsq(const Tensor& b, const Tensor& rank, const Tensor& singular_values, const Tensor& info, const Tensor& a,
           double rcond, int64_t driver) {
  with_type(a, [&]<class T>(T*) {
    using R = lapack::Real<T>;
    const Batch<T> from(a), x(b);
    const int m = from.rows, n = from.cols, k = std::min(m, n), nrhs = x.cols, ldb = std::max(1, x.rows);
    const auto limit = static_cast<R>(rcond);
    from.each([&](int64_t i) {
      data_of<int>(info)[i] = 0;
      int found = 0;
      if (k == 0 || nrhs == 0) {
        std::fill_n(x[i], int64_t{x.rows} * nrhs, T(0));
      } else if (driver == 0) {
        data_of<int>(info)[i] = lapack::gels(m, n, nrhs, from[i], m, x[i], ldb);
      } else if (driver == 1) {
        data_of<int>(info)[i] = lapack::gelsy(m, n, nrhs, from[i], m, x[i], ldb, limit, &found);
      } else {
        R* s = data_of<R>(singular_values) + i * k;
        if (refuses_values(from[i], int64_t{m} * n, s, k, &found)) {
          std::fill_n(x[i], int64_t{x.rows} * nrhs, T(std::numeric_limits<R>::quiet_NaN()));
          found = 0;
        } else {
          data_of<int>(info)[i] = driver == 2 ? lapack::gelsd(m, n, nrhs, from[i], m, x[i], ldb, s, limit, &found)
                                              : lapack::gelss(m, n, nrhs, from[i], m, x[i], ldb, s, limit, &found);
        }
      }
      if (rank.numel() > 0) data_of<int64_t>(rank)[i] = found;
    });
  });
}

// Scaling and squaring around the [13/13] Padé approximant (Higham, 2005).
template <class T>
void exponential(T* a, int n) {
  using R = lapack::Real<T>;
  static constexpr double c[] = {64764752532480000.,
                                 32382376266240000.,
                                 7771770303897600.,
                                 1187353796428800.,
                                 129060195264000.,
                                 10559470521600.,
                                 670442572800.,
                                 33522128640.,
                                 1323241920.,
                                 40840800.,
                                 960960.,
                                 16380.,
                                 182.,
                                 1.};
  const size_t size = static_cast<size_t>(n) * static_cast<size_t>(n);
  R norm = 0;
  for (int col = 0; col < n; col++) {
    R sum = 0;
    for (int row = 0; row < n; row++) sum += std::abs(a[int64_t{col} * n + row]);
    norm = sum > norm || std::isnan(sum) ? sum : norm;
    if (std::isnan(sum)) break;
  }
  if (!std::isfinite(norm)) return std::fill_n(a, size, T(std::numeric_limits<R>::quiet_NaN())), void();
  const R limit = std::is_same_v<R, double> ? R(5.371920351148152) : R(3.925724783138660);
  const int squarings = norm > limit ? std::max(0, static_cast<int>(std::ceil(std::log2(norm / limit)))) : 0;
  const R scale = std::ldexp(R(1), -squarings);
  for (size_t i = 0; i < size; i++) a[i] *= scale;
  std::vector<T> a2(size), a4(size), a6(size), u(size), v(size), t(size);
  lapack::multiply(n, a, a, a2.data());
  lapack::multiply(n, a2.data(), a2.data(), a4.data());
  lapack::multiply(n, a4.data(), a2.data(), a6.data());
  auto polynomial = [&](std::vector<T>& to, int first) {  // the even (first 0) or odd coefficients
    for (size_t i = 0; i < size; i++)
      t[i] = static_cast<R>(c[first + 12]) * a6[i] + static_cast<R>(c[first + 10]) * a4[i] +
             static_cast<R>(c[first + 8]) * a2[i];
    lapack::multiply(n, a6.data(), t.data(), to.data());
    for (size_t i = 0; i < size; i++)
      to[i] += static_cast<R>(c[first + 6]) * a6[i] + static_cast<R>(c[first + 4]) * a4[i] +
               static_cast<R>(c[first + 2]) * a2[i];
    for (int i = 0; i < n; i++) to[static_cast<size_t>(i) * static_cast<size_t>(n + 1)] += static_cast<R>(c[first]);
  };
  polynomial(u, 1);
  polynomial(v, 0);
  lapack::multiply(n, a, u.data(), t.data());
  for (size_t i = 0; i < size; i++) {
    a[i] = v[i] + t[i];
    v[i] -= t[i];
  }
  std::vector<int> pivots(static_cast<size_t>(n));
  lapack::getrf(n, n, v.data(), n, pivots.data());
  lapack::getrs('N', n, n, v.data(), n, pivots.data(), a, n);
  for (int i = 0; i < squarings; i++) {
    lapack::multiply(n, a, a, t.data());
    std::copy(t.begin(), t.end(), a);
  }
}
void matrix_exp(const Tensor& out) {
  with_type(out, [&]<class T>(T*) {
    const Batch<T> a(out);
    if (a.rows > 0) a.each([&](int64_t i) { exponential(a[i], a.rows); });
  });
}

[[maybe_unused]] const bool registered = svd_kernel.set(kCPU, svd) && eigh_kernel.set(kCPU, eigh) &&
                                         eig_kernel.set(kCPU, eig) && lstsq_kernel.set(kCPU, lstsq) &&
                                         matrix_exp_kernel.set(kCPU, matrix_exp);

}  // namespace
}  // namespace cresset::cpu
