// Small textbook algorithms in complex double, for the cases of ops/linalg.
#pragma once

#include <algorithm>
#include <functional>

#include "tests/ops/cases/cases.h"

namespace cresset::test::linalg {

struct Mat {
  int64_t rows = 0, cols = 0;
  std::vector<Complex> v;
  static Mat zeros(int64_t rows, int64_t cols) {
    return {rows, cols, std::vector<Complex>(static_cast<size_t>(rows * cols))};
  }
  static Mat identity(int64_t n) {
    Mat m = zeros(n, n);
    for (int64_t i = 0; i < n; i++) m(i, i) = 1;
    return m;
  }
  Complex& operator()(int64_t i, int64_t j) { return v[static_cast<size_t>(i * cols + j)]; }
  const Complex& operator()(int64_t i, int64_t j) const { return v[static_cast<size_t>(i * cols + j)]; }
};

inline Mat mul(const Mat& a, const Mat& b) {
  Mat y = Mat::zeros(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t j = 0; j < b.cols; j++)
      for (int64_t k = 0; k < a.cols; k++) y(i, j) += a(i, k) * b(k, j);
  return y;
}
inline Mat adjoint(const Mat& a) {
  Mat y = Mat::zeros(a.cols, a.rows);
  for (int64_t i = 0; i < a.rows; i++)
    for (int64_t j = 0; j < a.cols; j++) y(j, i) = std::conj(a(i, j));
  return y;
}
inline Mat part(const Mat& a, int64_t rows, int64_t cols) {
  Mat y = Mat::zeros(rows, cols);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) y(i, j) = a(i, j);
  return y;
}

// A x = b by Gauss and Jordan; returns the determinant as well.
struct Solved {
  Mat x;
  Complex det;
};
inline Solved solve(Mat a, Mat b) {
  const int64_t n = a.rows;
  Complex det = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t p = k;
    for (int64_t i = k; i < n; i++)
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    if (a(p, k) == 0.0) return {b, 0};
    if (p != k) det = -det;
    for (int64_t j = 0; j < n; j++) std::swap(a(p, j), a(k, j));
    for (int64_t j = 0; j < b.cols; j++) std::swap(b(p, j), b(k, j));
    det *= a(k, k);
    const Complex over = 1.0 / a(k, k);
    for (int64_t j = 0; j < n; j++) a(k, j) *= over;
    for (int64_t j = 0; j < b.cols; j++) b(k, j) *= over;
    for (int64_t i = 0; i < n; i++) {
      if (i == k) continue;
      const Complex f = a(i, k);
      for (int64_t j = 0; j < n; j++) a(i, j) -= f * a(k, j);
      for (int64_t j = 0; j < b.cols; j++) b(i, j) -= f * b(k, j);
    }
  }
  return {b, det};
}
inline Mat inverse(const Mat& a) { return solve(a, Mat::identity(a.rows)).x; }

inline Mat cholesky(const Mat& a) {
  Mat l = Mat::zeros(a.rows, a.rows);
  for (int64_t j = 0; j < a.rows; j++)
    for (int64_t i = j; i < a.rows; i++) {
      Complex sum = a(i, j);
      for (int64_t k = 0; k < j; k++) sum -= l(i, k) * std::conj(l(j, k));
      l(i, j) = i == j ? Complex(std::sqrt(sum.real())) : sum / l(j, j);
    }
  return l;
}

// LAPACK compares complex pivots by |re| + |im|.
struct Lu {
  Mat packed;
  std::vector<int64_t> pivots;
};
inline Lu lu(Mat a) {
  const int64_t k = std::min(a.rows, a.cols);
  std::vector<int64_t> pivots;
  auto size = [](Complex x) { return std::abs(x.real()) + std::abs(x.imag()); };
  for (int64_t c = 0; c < k; c++) {
    int64_t p = c;
    for (int64_t i = c; i < a.rows; i++)
      if (size(a(i, c)) > size(a(p, c))) p = i;
    pivots.push_back(p + 1);
    for (int64_t j = 0; j < a.cols; j++) std::swap(a(p, j), a(c, j));
    for (int64_t i = c + 1; i < a.rows; i++) {
      a(i, c) /= a(c, c);
      for (int64_t j = c + 1; j < a.cols; j++) a(i, j) -= a(i, c) * a(c, j);
    }
  }
  return {a, pivots};
}
inline Mat lower(const Mat& packed) {
  Mat y = part(packed, packed.rows, std::min(packed.rows, packed.cols));
  for (int64_t i = 0; i < y.rows; i++)
    for (int64_t j = i; j < y.cols; j++) y(i, j) = i == j ? 1 : 0;
  return y;
}
inline Mat upper(const Mat& packed) {
  Mat y = part(packed, std::min(packed.rows, packed.cols), packed.cols);
  for (int64_t i = 0; i < y.rows; i++)
    for (int64_t j = 0; j < std::min(i, y.cols); j++) y(i, j) = 0;
  return y;
}
inline Mat permutation(const std::vector<int64_t>& pivots, int64_t rows) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; i++) order[static_cast<size_t>(i)] = i;
  for (size_t i = 0; i < pivots.size(); i++) std::swap(order[i], order[static_cast<size_t>(pivots[i] - 1)]);
  Mat p = Mat::zeros(rows, rows);
  for (int64_t i = 0; i < rows; i++) p(order[static_cast<size_t>(i)], i) = 1;
  return p;
}

// Eigenvalues of a Hermitian matrix, rising, by Jacobi's rotations.
inline std::vector<double> hermitian_values(Mat a) {
  const int64_t n = a.rows;
  for (int sweep = 0; sweep < 60; sweep++)
    for (int64_t p = 0; p < n; p++)
      for (int64_t q = p + 1; q < n; q++) {
        const double size = std::abs(a(p, q));
        if (size < 1e-300) continue;
        const Complex phase = a(p, q) / size;
        const double theta = 0.5 * std::atan2(2 * size, a(q, q).real() - a(p, p).real());
        const double c = std::cos(theta), s = std::sin(theta);
        Mat r = Mat::identity(n);
        r(p, p) = c;
        r(p, q) = s * phase;
        r(q, p) = -s * std::conj(phase);
        r(q, q) = c;
        a = mul(adjoint(r), mul(a, r));
      }
  std::vector<double> values;
  for (int64_t i = 0; i < n; i++) values.push_back(a(i, i).real());
  std::sort(values.begin(), values.end());
  return values;
}
inline std::vector<double> singular_values(const Mat& a) {
  const bool tall = a.rows >= a.cols;
  std::vector<double> values = hermitian_values(tall ? mul(adjoint(a), a) : mul(a, adjoint(a)));
  std::reverse(values.begin(), values.end());
  for (double& x : values) x = std::sqrt(std::max(x, 0.0));
  return values;
}

// One matrix of the batch at a time; results are put together again. An f's result has `rank` dimensions (a matrix: 2).
inline Mat matrix_at(const Array& x, const Index& batch) {
  const size_t lead = x.sizes.size() - 2;
  Mat m = Mat::zeros(x.sizes[lead], x.sizes[lead + 1]);
  for (int64_t i = 0; i < m.rows; i++)
    for (int64_t j = 0; j < m.cols; j++) {
      Index at(batch.end() - static_cast<std::ptrdiff_t>(lead), batch.end());
      for (size_t d = 0; d < lead; d++)
        if (x.sizes[d] == 1) at[d] = 0;
      at.push_back(i);
      at.push_back(j);
      m(i, j) = x[at];
    }
  return m;
}
inline Ints batch_of(const Array& x) { return Ints(x.sizes.begin(), x.sizes.end() - 2); }
inline Array infos(const Array& x) {
  Array y = Array::filled(batch_of(x));
  y.dtype = kInt;
  return y;
}
inline Array each(const Ints& batch, const Ints& sizes, const std::function<std::vector<Complex>(const Index&)>& f) {
  Array y;
  y.sizes = batch;
  y.sizes.insert(y.sizes.end(), sizes.begin(), sizes.end());
  for_each_index(batch, [&](const Index& at) {
    for (Complex value : f(at)) y.values.push_back(value);
  });
  return y;
}
inline Array each_matrix(const Array& x, const Ints& sizes, const std::function<std::vector<Complex>(const Mat&)>& f) {
  return each(batch_of(x), sizes, [&](const Index& at) { return f(matrix_at(x, at)); });
}

// ---- inputs
inline Tensor map_matrices(const Tensor& x, const std::function<Mat(const Mat&)>& f) {
  Array a = read(x);
  Array y = each_matrix(a, {a.sizes.end()[-2], a.sizes.back()}, [&](const Mat& m) { return f(m).v; });
  return tensor_of(y, x.dtype());
}
// The diagonal outweighs the rest, so that no seed makes a matrix that is nearly singular.
inline Tensor regular(Make& make, const Ints& sizes) {
  return map_matrices(make.tensor(sizes), [&](Mat m) {
    for (int64_t i = 0; i < m.rows; i++)
      for (int64_t j = 0; j < m.cols; j++) m(i, j) = i == j ? m(i, j) + 5.0 + static_cast<double>(i) : m(i, j) * 0.25;
    return m;
  });
}
inline Tensor positive(Make& make, const Ints& sizes) {
  return map_matrices(make.tensor(sizes), [&](const Mat& m) {
    Mat y = mul(m, adjoint(m));
    for (Complex& x : y.v) x *= 0.25;
    for (int64_t i = 0; i < m.rows; i++) y(i, i) += 1.0;
    return y;
  });
}
inline Tensor triangular(Make& make, const Ints& sizes, bool upper) {
  return map_matrices(regular(make, sizes), [&](Mat m) {
    for (int64_t i = 0; i < m.rows; i++)
      for (int64_t j = 0; j < m.cols; j++)
        if (upper ? j < i : j > i) m(i, j) = 0;
    for (int64_t i = 0; i < m.rows; i++) m(i, i) = m(i, i).real();  // as a Cholesky factor's
    return m;
  });
}

// A function: the cases are made before main, in no known order.
inline std::vector<DType> lapack_dtypes() { return {kFloat, kDouble, kComplex64, kComplex128}; }
inline std::vector<OpCase> with_lapack_dtypes(std::vector<OpCase> cases) {
  for (OpCase& one : cases) {
    one.dtypes = lapack_dtypes();
    if (one.refused.empty()) one.refused = without(all_dtypes, {kFloat, kDouble, kComplex64, kComplex128});
    one.tolerance = std::max(one.tolerance, 40.0);
    one.same_bits_strided = one.same_bits_threads = false;
  }
  return cases;
}
inline ErrorCase not_square(const std::string& op) {
  return {"not square", [](Make& m) -> Values { return {m.tensor({2, 3})}; }, op + ": "};
}
inline ErrorCase vector_given(const std::string& op) {
  return {"vector", [](Make& m) -> Values { return {m.tensor({3})}; }, op + ": The input tensor"};
}

}  // namespace cresset::test::linalg
