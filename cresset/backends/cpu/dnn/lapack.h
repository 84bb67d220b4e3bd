// The functions of LAPACK and BLAS that the kernels use, under one name for all four types. OpenBLAS has them; the
// Fortran symbols are declared here, since no header of its Debian package does. Character arguments have their
// lengths behind the others.
#pragma once

#include <cblas.h>

#include <complex>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace cresset::cpu::lapack {

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
inline constexpr bool complex_type = !std::is_same_v<T, Real<T>>;

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

#define CRESSET_LAPACK_TYPES(_) _(float, s, or) _(double, d, or) _(ComplexFloat, c, un) _(ComplexDouble, z, un)

extern "C" {
#define CRESSET_DECLARE(T, p, q)                                                                                    \
  void p##getrf_(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info);                         \
  void p##getri_(const int* n, T* a, const int* lda, const int* pivots, T* work, const int* lwork, int* info);      \
  void p##getrs_(const char* trans, const int* n, const int* nrhs, const T* a, const int* lda, const int* pivots,   \
                 T* b, const int* ldb, int* info, size_t);                                                          \
  void p##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                          \
  void p##potri_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);                          \
  void p##potrs_(const char* uplo, const int* n, const int* nrhs, const T* a, const int* lda, T* b, const int* ldb, \
                 int* info, size_t);                                                                                \
  void p##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work, const int* lwork, int* info);   \
  void p##q##gqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau, T* work,            \
                  const int* lwork, int* info);                                                                     \
  void p##q##mqr_(const char* side, const char* trans, const int* m, const int* n, const int* k, const T* a,        \
                  const int* lda, const T* tau, T* c, const int* ldc, T* work, const int* lwork, int* info, size_t, \
                  size_t);                                                                                          \
  void p##gels_(const char* trans, const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,         \
                const int* ldb, T* work, const int* lwork, int* info, size_t);
CRESSET_LAPACK_TYPES(CRESSET_DECLARE)
#undef CRESSET_DECLARE

#define CRESSET_DECLARE(T, p)                                                                                          \
  void p##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u, const int* ldu, T* vt, \
                 const int* ldvt, T* work, const int* lwork, int* iwork, int* info, size_t);                           \
  void p##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w, T* work,                 \
                 const int* lwork, int* iwork, const int* liwork, int* info, size_t, size_t);                          \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* wr, T* wi, T* vl,          \
                const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, int* info, size_t, size_t);        \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, int* jpvt,   \
                 const T* rcond, int* rank, T* work, const int* lwork, int* info);                                     \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, T* s,        \
                 const T* rcond, int* rank, T* work, const int* lwork, int* iwork, int* info);                         \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, T* s,        \
                 const T* rcond, int* rank, T* work, const int* lwork, int* info);
CRESSET_DECLARE(float, s)
CRESSET_DECLARE(double, d)
#undef CRESSET_DECLARE

#define CRESSET_DECLARE(T, R, p)                                                                                       \
  void p##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, const int* ldu, T* vt, \
                 const int* ldvt, T* work, const int* lwork, R* rwork, int* iwork, int* info, size_t);                 \
  void p##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w, T* work,                 \
                 const int* lwork, R* rwork, const int* lrwork, int* iwork, const int* liwork, int* info, size_t,      \
                 size_t);                                                                                              \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* w, T* vl, const int* ldvl, \
                T* vr, const int* ldvr, T* work, const int* lwork, R* rwork, int* info, size_t, size_t);               \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, int* jpvt,   \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* info);                           \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, R* s,        \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* iwork, int* info);               \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b, const int* ldb, R* s,        \
                 const R* rcond, int* rank, T* work, const int* lwork, R* rwork, int* info);
CRESSET_DECLARE(ComplexFloat, float, c)
CRESSET_DECLARE(ComplexDouble, double, z)
#undef CRESSET_DECLARE
}

// The optimal length that a work-space query wrote.
template <class T>
int length_of(T query) {
  return static_cast<int>(std::real(query)) + 1;
}

#define CRESSET_WRAP(T, p, q)                                                                             \
  inline int getrf(int m, int n, T* a, int lda, int* pivots) {                                            \
    int info = 0;                                                                                         \
    p##getrf_(&m, &n, a, &lda, pivots, &info);                                                            \
    return info;                                                                                          \
  }                                                                                                       \
  inline int getri(int n, T* a, int lda, const int* pivots) {                                             \
    int info = 0, query = -1;                                                                             \
    T best;                                                                                               \
    p##getri_(&n, a, &lda, pivots, &best, &query, &info);                                                 \
    int lwork = length_of(best);                                                                          \
    std::vector<T> work(static_cast<size_t>(lwork));                                                      \
    p##getri_(&n, a, &lda, pivots, work.data(), &lwork, &info);                                           \
    return info;                                                                                          \
  }                                                                                                       \
  inline void getrs(char trans, int n, int nrhs, const T* a, int lda, const int* pivots, T* b, int ldb) { \
    int info = 0;                                                                                         \
    p##getrs_(&trans, &n, &nrhs, a, &lda, pivots, b, &ldb, &info, 1);                                     \
  }                                                                                                       \
  inline int potrf(char uplo, int n, T* a, int lda) {                                                     \
    int info = 0;                                                                                         \
    p##potrf_(&uplo, &n, a, &lda, &info, 1);                                                              \
    return info;                                                                                          \
  }                                                                                                       \
  inline int potri(char uplo, int n, T* a, int lda) {                                                     \
    int info = 0;                                                                                         \
    p##potri_(&uplo, &n, a, &lda, &info, 1);                                                              \
    return info;                                                                                          \
  }                                                                                                       \
  inline void potrs(char uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb) {                     \
    int info = 0;                                                                                         \
    p##potrs_(&uplo, &n, &nrhs, a, &lda, b, &ldb, &info, 1);                                              \
  }                                                                                                       \
  inline void geqrf(int m, int n, T* a, int lda, T* tau) {                                                \
    int info = 0, query = -1;                                                                             \
    T best;                                                                                               \
    p##geqrf_(&m, &n, a, &lda, tau, &best, &query, &info);                                                \
    int lwork = length_of(best);                                                                          \
    std::vector<T> work(static_cast<size_t>(lwork));                                                      \
    p##geqrf_(&m, &n, a, &lda, tau, work.data(), &lwork, &info);                                          \
  }                                                                                                       \
  inline void orgqr(int m, int n, int k, T* a, int lda, const T* tau) {                                   \
    int info = 0, query = -1;                                                                             \
    T best;                                                                                               \
    p##q##gqr_(&m, &n, &k, a, &lda, tau, &best, &query, &info);                                           \
    int lwork = length_of(best);                                                                          \
    std::vector<T> work(static_cast<size_t>(lwork));                                                      \
    p##q##gqr_(&m, &n, &k, a, &lda, tau, work.data(), &lwork, &info);                                     \
  }                                                                                                       \
  inline void ormqr(char side, char op, int m, int n, int k, const T* a, int lda, const T* tau, T* c) {   \
    int info = 0, query = -1;                                                                             \
    T best;                                                                                               \
    p##q##mqr_(&side, &op, &m, &n, &k, a, &lda, tau, c, &m, &best, &query, &info, 1, 1);                  \
    int lwork = length_of(best);                                                                          \
    std::vector<T> work(static_cast<size_t>(lwork));                                                      \
    p##q##mqr_(&side, &op, &m, &n, &k, a, &lda, tau, c, &m, work.data(), &lwork, &info, 1, 1);            \
  }                                                                                                       \
  inline int gels(int m, int n, int nrhs, T* a, int lda, T* b, int ldb) {                                 \
    int info = 0, query = -1;                                                                             \
    T best;                                                                                               \
    p##gels_("N", &m, &n, &nrhs, a, &lda, b, &ldb, &best, &query, &info, 1);                              \
    int lwork = length_of(best);                                                                          \
    std::vector<T> work(static_cast<size_t>(lwork));                                                      \
    p##gels_("N", &m, &n, &nrhs, a, &lda, b, &ldb, work.data(), &lwork, &info, 1);                        \
    return info;                                                                                          \
  }
CRESSET_LAPACK_TYPES(CRESSET_WRAP)
#undef CRESSET_WRAP

#define CRESSET_REAL(T, p)                                                                                  \
  inline int gesdd(char job, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt, int ldvt) {           \
    int info = 0, query = -1;                                                                               \
    T best;                                                                                                 \
    std::vector<int> iwork(8 * static_cast<size_t>(m < n ? m : n));                                         \
    p##gesdd_(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, &best, &query, iwork.data(), &info, 1);         \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    p##gesdd_(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.data(), &lwork, iwork.data(), &info, 1);   \
    return info;                                                                                            \
  }                                                                                                         \
  inline int heevd(char job, char uplo, int n, T* a, int lda, T* w) {                                       \
    int info = 0, query = -1, ints = 0;                                                                     \
    T best;                                                                                                 \
    p##syevd_(&job, &uplo, &n, a, &lda, w, &best, &query, &ints, &query, &info, 1, 1);                      \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    std::vector<int> iwork(static_cast<size_t>(ints));                                                      \
    p##syevd_(&job, &uplo, &n, a, &lda, w, work.data(), &lwork, iwork.data(), &ints, &info, 1, 1);          \
    return info;                                                                                            \
  }                                                                                                         \
  inline int geev(char right, int n, T* a, int lda, T* wr, T* wi, T* vr, int ldvr) {                        \
    int info = 0, query = -1, one = 1;                                                                      \
    T best;                                                                                                 \
    p##geev_("N", &right, &n, a, &lda, wr, wi, nullptr, &one, vr, &ldvr, &best, &query, &info, 1, 1);       \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    p##geev_("N", &right, &n, a, &lda, wr, wi, nullptr, &one, vr, &ldvr, work.data(), &lwork, &info, 1, 1); \
    return info;                                                                                            \
  }                                                                                                         \
  inline int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, T rcond, int* rank) {              \
    int info = 0, query = -1;                                                                               \
    T best;                                                                                                 \
    std::vector<int> jpvt(static_cast<size_t>(n));                                                          \
    p##gelsy_(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt.data(), &rcond, rank, &best, &query, &info);            \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    p##gelsy_(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt.data(), &rcond, rank, work.data(), &lwork, &info);      \
    return info;                                                                                            \
  }                                                                                                         \
  inline int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, T* s, T rcond, int* rank) {        \
    int info = 0, query = -1, ints = 0;                                                                     \
    T best;                                                                                                 \
    p##gelsd_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, &best, &query, &ints, &info);               \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    std::vector<int> iwork(static_cast<size_t>(ints));                                                      \
    p##gelsd_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work.data(), &lwork, iwork.data(), &info);  \
    return info;                                                                                            \
  }                                                                                                         \
  inline int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, T* s, T rcond, int* rank) {        \
    int info = 0, query = -1;                                                                               \
    T best;                                                                                                 \
    p##gelss_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, &best, &query, &info);                      \
    int lwork = length_of(best);                                                                            \
    std::vector<T> work(static_cast<size_t>(lwork));                                                        \
    p##gelss_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work.data(), &lwork, &info);                \
    return info;                                                                                            \
  }
CRESSET_REAL(float, s)
CRESSET_REAL(double, d)
#undef CRESSET_REAL

#define CRESSET_COMPLEX(T, R, p)                                                                                      \
  inline int gesdd(char job, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt) {                     \
    int info = 0, query = -1;                                                                                         \
    T best;                                                                                                           \
    const auto small = static_cast<size_t>(m < n ? m : n), large = static_cast<size_t>(m < n ? n : m);                \
    std::vector<int> iwork(8 * small);                                                                                \
    std::vector<R> rwork(7 * small + 5 * small * small + 2 * small * large);                                          \
    p##gesdd_(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, &best, &query, rwork.data(), iwork.data(), &info, 1);     \
    int lwork = length_of(best);                                                                                      \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    p##gesdd_(&job, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work.data(), &lwork, rwork.data(), iwork.data(), &info,   \
              1);                                                                                                     \
    return info;                                                                                                      \
  }                                                                                                                   \
  inline int heevd(char job, char uplo, int n, T* a, int lda, R* w) {                                                 \
    int info = 0, query = -1, ints = 0;                                                                               \
    T best;                                                                                                           \
    R reals = 0;                                                                                                      \
    p##heevd_(&job, &uplo, &n, a, &lda, w, &best, &query, &reals, &query, &ints, &query, &info, 1, 1);                \
    int lwork = length_of(best), lrwork = length_of(reals);                                                           \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    std::vector<R> rwork(static_cast<size_t>(lrwork));                                                                \
    std::vector<int> iwork(static_cast<size_t>(ints));                                                                \
    p##heevd_(&job, &uplo, &n, a, &lda, w, work.data(), &lwork, rwork.data(), &lrwork, iwork.data(), &ints, &info, 1, \
              1);                                                                                                     \
    return info;                                                                                                      \
  }                                                                                                                   \
  inline int geev(char right, int n, T* a, int lda, T* w, T*, T* vr, int ldvr) {                                      \
    int info = 0, query = -1, one = 1;                                                                                \
    T best;                                                                                                           \
    std::vector<R> rwork(2 * static_cast<size_t>(n));                                                                 \
    p##geev_("N", &right, &n, a, &lda, w, nullptr, &one, vr, &ldvr, &best, &query, rwork.data(), &info, 1, 1);        \
    int lwork = length_of(best);                                                                                      \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    p##geev_("N", &right, &n, a, &lda, w, nullptr, &one, vr, &ldvr, work.data(), &lwork, rwork.data(), &info, 1, 1);  \
    return info;                                                                                                      \
  }                                                                                                                   \
  inline int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, R rcond, int* rank) {                        \
    int info = 0, query = -1;                                                                                         \
    T best;                                                                                                           \
    std::vector<int> jpvt(static_cast<size_t>(n));                                                                    \
    std::vector<R> rwork(2 * static_cast<size_t>(n));                                                                 \
    p##gelsy_(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt.data(), &rcond, rank, &best, &query, rwork.data(), &info);        \
    int lwork = length_of(best);                                                                                      \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    p##gelsy_(&m, &n, &nrhs, a, &lda, b, &ldb, jpvt.data(), &rcond, rank, work.data(), &lwork, rwork.data(), &info);  \
    return info;                                                                                                      \
  }                                                                                                                   \
  inline int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, R* s, R rcond, int* rank) {                  \
    int info = 0, query = -1, ints = 0;                                                                               \
    T best;                                                                                                           \
    R reals = 0;                                                                                                      \
    p##gelsd_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, &best, &query, &reals, &ints, &info);                 \
    int lwork = length_of(best);                                                                                      \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    std::vector<R> rwork(static_cast<size_t>(length_of(reals)));                                                      \
    std::vector<int> iwork(static_cast<size_t>(ints));                                                                \
    p##gelsd_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work.data(), &lwork, rwork.data(), iwork.data(),      \
              &info);                                                                                                 \
    return info;                                                                                                      \
  }                                                                                                                   \
  inline int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, R* s, R rcond, int* rank) {                  \
    int info = 0, query = -1;                                                                                         \
    T best;                                                                                                           \
    std::vector<R> rwork(5 * static_cast<size_t>(m < n ? m : n));                                                     \
    p##gelss_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, &best, &query, rwork.data(), &info);                  \
    int lwork = length_of(best);                                                                                      \
    std::vector<T> work(static_cast<size_t>(lwork));                                                                  \
    p##gelss_(&m, &n, &nrhs, a, &lda, b, &ldb, s, &rcond, rank, work.data(), &lwork, rwork.data(), &info);            \
    return info;                                                                                                      \
  }
CRESSET_COMPLEX(ComplexFloat, float, c)
CRESSET_COMPLEX(ComplexDouble, double, z)
#undef CRESSET_COMPLEX
#undef CRESSET_LAPACK_TYPES

struct Triangle {
  bool upper, left, unit;
  int64_t transpose;  // 0, 1, or 2 for the adjoint
};
// b (m x n) := the solution of op(a) x = b or x op(a) = b.
template <class T>
void trsm(const Triangle& t, int m, int n, const T* a, int lda, T* b, int ldb) {
  const auto side = t.left ? CblasLeft : CblasRight;
  const auto uplo = t.upper ? CblasUpper : CblasLower;
  const auto trans = t.transpose == 0 ? CblasNoTrans : t.transpose == 1 ? CblasTrans : CblasConjTrans;
  const auto diag = t.unit ? CblasUnit : CblasNonUnit;
  const T one(1);
  if constexpr (std::is_same_v<T, float>)
    cblas_strsm(CblasColMajor, side, uplo, trans, diag, m, n, one, a, lda, b, ldb);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dtrsm(CblasColMajor, side, uplo, trans, diag, m, n, one, a, lda, b, ldb);
  else if constexpr (std::is_same_v<T, ComplexFloat>)
    cblas_ctrsm(CblasColMajor, side, uplo, trans, diag, m, n, &one, a, lda, b, ldb);
  else
    cblas_ztrsm(CblasColMajor, side, uplo, trans, diag, m, n, &one, a, lda, b, ldb);
}

// c = a @ b, square matrices.
template <class T>
void multiply(int n, const T* a, const T* b, T* c) {
  const T one(1), zero(0);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, one, a, n, b, n, zero, c, n);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, one, a, n, b, n, zero, c, n);
  else if constexpr (std::is_same_v<T, ComplexFloat>)
    cblas_cgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
  else
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, a, n, b, n, &zero, c, n);
}

}  // namespace cresset::cpu::lapack
