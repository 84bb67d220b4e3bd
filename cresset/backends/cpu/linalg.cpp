// CPU kernels of ops/linalg that need no library: the check of LAPACK's info, and small singular values.
#include "cresset/ops/linalg.h"
#include "cresset/core/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cresset::cpu {
namespace {

[[noreturn]] void fail(LinAlgFailure failure, int info, const std::string& batch) {
  switch (failure) {
    case LinAlgFailure::inverse:
      throw LinAlgError(message_of("linalg_check: ", batch, "The diagonal element ", info,
                                   " is zero, the inversion could not be completed because the input matrix is "
                                   "singular."));
    case LinAlgFailure::solve:
      throw LinAlgError(message_of("linalg_check: ", batch, "The solver failed because the input matrix is singular."));
    case LinAlgFailure::cholesky:
      throw LinAlgError(message_of("linalg_check: ", batch,
                                   "The factorization could not be completed because the input is not "
                                   "positive-definite (the leading minor of order ",
                                   info, " is not positive-definite)."));
    case LinAlgFailure::lu:
      throw LinAlgError(message_of("linalg_check: ", batch, "U[", info, ",", info,
                                   "] is zero and using it on lu_solve would result in a division by zero. If you "
                                   "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                                   "linalg.lu_factor_ex(A, pivot)"));
    case LinAlgFailure::svd:
      if (info < 0)
        throw LinAlgError(message_of("linalg_check: ", batch,
                                     "The algorithm failed to converge because the input matrix contained non-finite "
                                     "values."));
      throw LinAlgError(message_of("linalg_check: ", batch,
                                   "The algorithm failed to converge because the input matrix is ill-conditioned or "
                                   "has too many repeated singular values (error code: ",
                                   info, ")."));
    case LinAlgFailure::eig:
      if (info < 0)
        throw LinAlgError(message_of("linalg_check: ", batch, "input tensor should not contain infs or NaNs."));
      [[fallthrough]];
    case LinAlgFailure::eigh:
      throw LinAlgError(message_of("linalg_check: ", batch,
                                   "The algorithm failed to converge because the input matrix is ill-conditioned or "
                                   "has too many repeated eigenvalues (error code: ",
                                   info, ")."));
    case LinAlgFailure::lstsq:
      throw LinAlgError(message_of("linalg_check: ", batch,
                                   "The least squares solution could not be computed because the input matrix does "
                                   "not have full rank (error code: ",
                                   info, ")."));
  }
  __builtin_unreachable();
}

void check(const Tensor& info, int64_t failure) {
  const int* found = static_cast<const int*>(info.impl()->data());
  for (int64_t i = 0; i < info.numel(); i++)
    if (found[i] != 0)
      fail(static_cast<LinAlgFailure>(failure), found[i],
           info.dim() == 0 ? "" : message_of("(Batch element ", i, "): "));
}

template <class T, class F>
void each_row(const Tensor& s, const Tensor& atol, const Tensor& rtol, const F& f) {
  const int64_t k = s.size(-1), rows = k == 0 ? 0 : s.numel() / k;
  const T *values = static_cast<const T*>(s.impl()->data()), *a = static_cast<const T*>(atol.impl()->data()),
          *r = static_cast<const T*>(rtol.impl()->data());
  for (int64_t i = 0; i < rows; i++) {
    T largest = 0;
    for (int64_t j = 0; j < k; j++) largest = std::max(largest, std::abs(values[i * k + j]));
    f(i, k, values + i * k, std::max(a[atol.numel() > 1 ? i : 0], r[rtol.numel() > 1 ? i : 0] * largest));
  }
}

template <class T>
void reciprocals(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol) {
  T* to = static_cast<T*>(out.impl()->data());
  each_row<T>(s, atol, rtol, [&](int64_t row, int64_t k, const T* values, T cut) {
    for (int64_t j = 0; j < k; j++) to[row * k + j] = std::abs(values[j]) > cut ? 1 / values[j] : 0;
  });
}
void cut_reciprocal(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol) {
  s.dtype() == kDouble ? reciprocals<double>(out, s, atol, rtol) : reciprocals<float>(out, s, atol, rtol);
}

template <class T>
void counts(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol) {
  int64_t* to = static_cast<int64_t*>(out.impl()->data());
  std::fill_n(to, out.numel(), 0);
  each_row<T>(s, atol, rtol, [&](int64_t row, int64_t k, const T* values, T cut) {
    to[row] = std::count_if(values, values + k, [&](T x) { return std::abs(x) > cut; });
  });
}
void cut_count(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol) {
  s.dtype() == kDouble ? counts<double>(out, s, atol, rtol) : counts<float>(out, s, atol, rtol);
}

template <class T>
void logdets(const Tensor& out, const Tensor& sign, const Tensor& logabsdet) {
  const T* logs = static_cast<const T*>(logabsdet.impl()->data());
  for (int64_t i = 0; i < out.numel(); i++) {
    if (out.is_complex())
      static_cast<std::complex<T>*>(out.impl()->data())[i] = {
          logs[i], std::arg(static_cast<const std::complex<T>*>(sign.impl()->data())[i])};
    else
      static_cast<T*>(out.impl()->data())[i] =
          static_cast<const T*>(sign.impl()->data())[i] < 0 ? std::numeric_limits<T>::quiet_NaN() : logs[i];
  }
}
void logdet(const Tensor& out, const Tensor& sign, const Tensor& logabsdet) {
  logabsdet.dtype() == kDouble ? logdets<double>(out, sign, logabsdet) : logdets<float>(out, sign, logabsdet);
}

[[maybe_unused]] const bool registered = linalg_check_kernel.set(kCPU, check) && logdet_kernel.set(kCPU, logdet) &&
                                         cut_reciprocal_kernel.set(kCPU, cut_reciprocal) &&
                                         cut_count_kernel.set(kCPU, cut_count);

}  // namespace
}  // namespace cresset::cpu
