// Linear algebra: factorisations, solutions, inverses, determinants, eigenvalues, norms. C++ names are PyTorch's
// linalg_…; linalg::… are aliases.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// A matrix that is singular, not positive-definite, or on which an algorithm did not converge.
class CRESSET_API LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
};

// What a nonzero info means.
enum class LinAlgFailure : uint8_t { inverse, solve, cholesky, lu, svd, eigh, eig, lstsq };

// ---- kernels: matrices lie column by column, batches one after the other, as LAPACK wants them; ops bring them there.
// `info` is LAPACK's, per matrix.
CRESSET_KERNEL(Kernel<void(const Tensor& info, int64_t failure)>, linalg_check_kernel, "linalg_check", 0);
CRESSET_KERNEL(Kernel<void(const Tensor& lu, const Tensor& pivots, const Tensor& info)>, lu_factor_kernel, "lu_factor",
               3);
// In place on b: op(A) x = b, by A's factors. transpose: 0, 1, or 2 for the adjoint.
CRESSET_KERNEL(Kernel<void(const Tensor& b, const Tensor& lu, const Tensor& pivots, int64_t transpose)>,
               lu_solve_kernel, "lu_solve");
CRESSET_KERNEL(Kernel<void(const Tensor& permutation, const Tensor& pivots)>, lu_permutation_kernel, "lu_permutation");
CRESSET_KERNEL(Kernel<void(const Tensor& a, const Tensor& info)>, inverse_kernel, "inverse", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& det, const Tensor& lu, const Tensor& pivots)>, lu_det_kernel, "lu_det");
CRESSET_KERNEL(Kernel<void(const Tensor& sign, const Tensor& logabsdet, const Tensor& lu, const Tensor& pivots)>,
               lu_slogdet_kernel, "lu_slogdet", 2);
// log det: nan for a negative real determinant.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& sign, const Tensor& logabsdet)>, logdet_kernel, "logdet");
// a is overwritten by det(A) * inv(A)^H, which exists for singular matrices too.
CRESSET_KERNEL(Kernel<void(const Tensor& a)>, cofactor_kernel, "cofactor");
CRESSET_KERNEL(Kernel<void(const Tensor& a, const Tensor& info, bool upper)>, cholesky_kernel, "cholesky", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& b, const Tensor& factor, bool upper)>, cholesky_solve_kernel,
               "cholesky_solve");
CRESSET_KERNEL(Kernel<void(const Tensor& factor, const Tensor& info, bool upper)>, cholesky_inverse_kernel,
               "cholesky_inverse", 2);
// In place on b: A x = b (left) or x A = b, A triangular.
CRESSET_KERNEL(
    Kernel<void(const Tensor& b, const Tensor& a, bool upper, bool left, bool unitriangular, int64_t transpose)>,
    triangular_solve_kernel, "triangular_solve");
CRESSET_KERNEL(Kernel<void(const Tensor& a, const Tensor& tau)>, geqrf_kernel, "geqrf", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& q, const Tensor& tau)>, orgqr_kernel, "orgqr");
// In place on c: op(Q) c (left) or c op(Q).
CRESSET_KERNEL(Kernel<void(const Tensor& c, const Tensor& a, const Tensor& tau, bool left, bool adjoint)>, ormqr_kernel,
               "ormqr");
// a is destroyed. Without vectors, u and vh are not touched.
CRESSET_KERNEL(
    Kernel<void(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info, const Tensor& a, bool vectors)>,
    svd_kernel, "svd", 5);
// a holds the matrix, of which one triangle is read, and then the vectors.
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& a, const Tensor& info, bool upper, bool vectors)>,
               eigh_kernel, "eigh", 3);
CRESSET_KERNEL(
    Kernel<void(const Tensor& values, const Tensor& vectors, const Tensor& info, const Tensor& a, bool with_vectors)>,
    eig_kernel, "eig", 4);
// b holds max(m, n) rows; driver: 0 gels, 1 gelsy, 2 gelsd, 3 gelss.
CRESSET_KERNEL(Kernel<void(const Tensor& b, const Tensor& rank, const Tensor& singular_values, const Tensor& info,
                           const Tensor& a, double rcond, int64_t driver)>,
               lstsq_kernel, "lstsq", 5);
CRESSET_KERNEL(Kernel<void(const Tensor& a)>, matrix_exp_kernel, "matrix_exp");
// Singular values that count: above max(atol, rtol * the largest of their row). Their reciprocals (else 0), their
// number. atol and rtol are 0-d or have s's leading dimensions, in s's dtype.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol)>,
               cut_reciprocal_kernel, "cut_reciprocal");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& s, const Tensor& atol, const Tensor& rtol)>,
               cut_count_kernel, "cut_count");

// ---- solutions (ops/linalg_solve.cpp)
CRESSET_API Tensor linalg_inv(const Tensor& A);
CRESSET_API Tensor& linalg_inv_out(Tensor& out, const Tensor& A);
CRESSET_API std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors = false);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_inv_ex_out(Tensor& inverse, Tensor& info, const Tensor& A,
                                                           bool check_errors = false);
CRESSET_API Tensor inverse(const Tensor& self);
CRESSET_API Tensor& inverse_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left = true);
CRESSET_API Tensor& linalg_solve_out(Tensor& out, const Tensor& A, const Tensor& B, bool left = true);
CRESSET_API std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left = true,
                                                       bool check_errors = false);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_solve_ex_out(Tensor& result, Tensor& info, const Tensor& A,
                                                             const Tensor& B, bool left = true,
                                                             bool check_errors = false);
CRESSET_API Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left = true,
                                           bool unitriangular = false);
CRESSET_API Tensor& linalg_solve_triangular_out(Tensor& out, const Tensor& self, const Tensor& B, bool upper,
                                                bool left = true, bool unitriangular = false);
CRESSET_API std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper = true,
                                                        bool transpose = false, bool unitriangular = false);
CRESSET_API std::tuple<Tensor&, Tensor&> triangular_solve_out(Tensor& X, Tensor& M, const Tensor& self, const Tensor& A,
                                                              bool upper = true, bool transpose = false,
                                                              bool unitriangular = false);
CRESSET_API Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper = false);
CRESSET_API Tensor& cholesky_solve_out(Tensor& out, const Tensor& self, const Tensor& input2, bool upper = false);
CRESSET_API Tensor cholesky_inverse(const Tensor& self, bool upper = false);
CRESSET_API Tensor& cholesky_inverse_out(Tensor& out, const Tensor& self, bool upper = false);
CRESSET_API Tensor linalg_tensorinv(const Tensor& self, int64_t ind = 2);
CRESSET_API Tensor& linalg_tensorinv_out(Tensor& out, const Tensor& self, int64_t ind = 2);
CRESSET_API Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, OptionalIntArrayRef dims = std::nullopt);
CRESSET_API Tensor& linalg_tensorsolve_out(Tensor& out, const Tensor& self, const Tensor& other,
                                           OptionalIntArrayRef dims = std::nullopt);

// ---- determinants and exponentials (ops/linalg_det.cpp)
CRESSET_API Tensor linalg_det(const Tensor& A);
CRESSET_API Tensor& linalg_det_out(Tensor& out, const Tensor& A);
CRESSET_API Tensor det(const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& A);
CRESSET_API std::tuple<Tensor, Tensor> slogdet(const Tensor& self);
CRESSET_API std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& self);
CRESSET_API Tensor logdet(const Tensor& self);
CRESSET_API Tensor matrix_exp(const Tensor& self);

// ---- factorisations (ops/linalg_factor.cpp, ops/linalg_householder.cpp, ops/linalg_lu.cpp)
CRESSET_API Tensor linalg_cholesky(const Tensor& self, bool upper = false);
CRESSET_API Tensor& linalg_cholesky_out(Tensor& out, const Tensor& self, bool upper = false);
CRESSET_API std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper = false,
                                                          bool check_errors = false);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_cholesky_ex_out(Tensor& L, Tensor& info, const Tensor& self,
                                                                bool upper = false, bool check_errors = false);
CRESSET_API Tensor cholesky(const Tensor& self, bool upper = false);
CRESSET_API Tensor& cholesky_out(Tensor& out, const Tensor& self, bool upper = false);
CRESSET_API std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode = "reduced");
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_qr_out(Tensor& Q, Tensor& R, const Tensor& A,
                                                       std::string_view mode = "reduced");
CRESSET_API std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some = true);
CRESSET_API std::tuple<Tensor&, Tensor&> qr_out(Tensor& Q, Tensor& R, const Tensor& self, bool some = true);
CRESSET_API std::tuple<Tensor, Tensor> geqrf(const Tensor& self);
CRESSET_API std::tuple<Tensor&, Tensor&> geqrf_out(Tensor& a, Tensor& tau, const Tensor& self);
CRESSET_API Tensor linalg_householder_product(const Tensor& input, const Tensor& tau);
CRESSET_API Tensor& linalg_householder_product_out(Tensor& out, const Tensor& input, const Tensor& tau);
CRESSET_API Tensor orgqr(const Tensor& self, const Tensor& input2);
CRESSET_API Tensor& orgqr_out(Tensor& out, const Tensor& self, const Tensor& input2);
CRESSET_API Tensor ormqr(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left = true,
                         bool transpose = false);
CRESSET_API Tensor& ormqr_out(Tensor& out, const Tensor& self, const Tensor& input2, const Tensor& input3,
                              bool left = true, bool transpose = false);
CRESSET_API std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot = true);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_lu_factor_out(Tensor& LU, Tensor& pivots, const Tensor& A,
                                                              bool pivot = true);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot = true,
                                                                   bool check_errors = false);
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&> linalg_lu_factor_ex_out(Tensor& LU, Tensor& pivots, Tensor& info,
                                                                          const Tensor& A, bool pivot = true,
                                                                          bool check_errors = false);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot = true);
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&> linalg_lu_out(Tensor& P, Tensor& L, Tensor& U, const Tensor& A,
                                                                bool pivot = true);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
                                                         bool unpack_data = true, bool unpack_pivots = true);
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&> lu_unpack_out(Tensor& P, Tensor& L, Tensor& U, const Tensor& LU_data,
                                                                const Tensor& LU_pivots, bool unpack_data = true,
                                                                bool unpack_pivots = true);
CRESSET_API Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true,
                                   bool adjoint = false);
CRESSET_API Tensor& linalg_lu_solve_out(Tensor& out, const Tensor& LU, const Tensor& pivots, const Tensor& B,
                                        bool left = true, bool adjoint = false);
CRESSET_API Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots);
CRESSET_API Tensor& lu_solve_out(Tensor& out, const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots);

// ---- eigenvalues and singular values (ops/linalg_spectral.cpp, ops/linalg_rank.cpp)
CRESSET_API std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO = "L");
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_eigh_out(Tensor& eigvals, Tensor& eigvecs, const Tensor& self,
                                                         std::string_view UPLO = "L");
CRESSET_API Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO = "L");
CRESSET_API Tensor& linalg_eigvalsh_out(Tensor& out, const Tensor& self, std::string_view UPLO = "L");
CRESSET_API std::tuple<Tensor, Tensor> linalg_eig(const Tensor& self);
CRESSET_API std::tuple<Tensor&, Tensor&> linalg_eig_out(Tensor& eigenvalues, Tensor& eigenvectors, const Tensor& self);
CRESSET_API Tensor linalg_eigvals(const Tensor& self);
CRESSET_API Tensor& linalg_eigvals_out(Tensor& out, const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices = true);
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&> linalg_svd_out(Tensor& U, Tensor& S, Tensor& Vh, const Tensor& A,
                                                                 bool full_matrices = true);
CRESSET_API Tensor linalg_svdvals(const Tensor& A);
CRESSET_API Tensor& linalg_svdvals_out(Tensor& out, const Tensor& A);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some = true, bool compute_uv = true);
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&> svd_out(Tensor& U, Tensor& S, Tensor& V, const Tensor& self,
                                                          bool some = true, bool compute_uv = true);
CRESSET_API Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian = false);
CRESSET_API Tensor linalg_pinv(const Tensor& self, const Tensor& atol, const Tensor& rtol, bool hermitian = false);
CRESSET_API Tensor linalg_pinv(const Tensor& self, std::optional<double> atol = std::nullopt,
                               std::optional<double> rtol = std::nullopt, bool hermitian = false);
CRESSET_API Tensor& linalg_pinv_out(Tensor& out, const Tensor& self, double rcond, bool hermitian = false);
CRESSET_API Tensor& linalg_pinv_out(Tensor& out, const Tensor& self, const Tensor& atol, const Tensor& rtol,
                                    bool hermitian = false);
CRESSET_API Tensor& linalg_pinv_out(Tensor& out, const Tensor& self, std::optional<double> atol = std::nullopt,
                                    std::optional<double> rtol = std::nullopt, bool hermitian = false);
CRESSET_API Tensor pinverse(const Tensor& self, double rcond = 1e-15);
CRESSET_API Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian = false);
CRESSET_API Tensor linalg_matrix_rank(const Tensor& self, const Tensor& atol, const Tensor& rtol,
                                      bool hermitian = false);
CRESSET_API Tensor linalg_matrix_rank(const Tensor& self, std::optional<double> atol = std::nullopt,
                                      std::optional<double> rtol = std::nullopt, bool hermitian = false);
CRESSET_API Tensor& linalg_matrix_rank_out(Tensor& out, const Tensor& self, double tol, bool hermitian = false);
CRESSET_API Tensor& linalg_matrix_rank_out(Tensor& out, const Tensor& self, const Tensor& atol, const Tensor& rtol,
                                           bool hermitian = false);
CRESSET_API Tensor& linalg_matrix_rank_out(Tensor& out, const Tensor& self, std::optional<double> atol = std::nullopt,
                                           std::optional<double> rtol = std::nullopt, bool hermitian = false);
CRESSET_API std::tuple<Tensor, Tensor, Tensor, Tensor> linalg_lstsq(const Tensor& self, const Tensor& b,
                                                                    std::optional<double> rcond = std::nullopt,
                                                                    std::string_view driver = "gelsy");
CRESSET_API std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> linalg_lstsq_out(Tensor& solution, Tensor& residuals,
                                                                            Tensor& rank, Tensor& singular_values,
                                                                            const Tensor& self, const Tensor& b,
                                                                            std::optional<double> rcond = std::nullopt,
                                                                            std::string_view driver = "gelsy");

}  // namespace cresset
