// Products that are composed of ops/matmul's or of pointwise ops: with something added, of vectors, over chosen
// dimensions, of chains of matrices. einsum is in ops/einsum.h.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_API Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                           const Scalar& alpha = 1);
CRESSET_API Tensor& baddbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                             const Scalar& alpha = 1);
CRESSET_API Tensor& baddbmm_out(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                                const Scalar& beta = 1, const Scalar& alpha = 1);
CRESSET_API Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                          const Scalar& alpha = 1);
CRESSET_API Tensor& addbmm_(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                            const Scalar& alpha = 1);
CRESSET_API Tensor& addbmm_out(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                               const Scalar& beta = 1, const Scalar& alpha = 1);
CRESSET_API Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
                         const Scalar& alpha = 1);
CRESSET_API Tensor& addmv_(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta = 1,
                           const Scalar& alpha = 1);
CRESSET_API Tensor& addmv_out(Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec,
                              const Scalar& beta = 1, const Scalar& alpha = 1);
CRESSET_API Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1,
                        const Scalar& alpha = 1);
CRESSET_API Tensor& addr_(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta = 1,
                          const Scalar& alpha = 1);
CRESSET_API Tensor& addr_out(Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2,
                             const Scalar& beta = 1, const Scalar& alpha = 1);

CRESSET_API Tensor outer(const Tensor& self, const Tensor& vec2);
CRESSET_API Tensor& outer_out(Tensor& out, const Tensor& self, const Tensor& vec2);
CRESSET_API Tensor inner(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& inner_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor vdot(const Tensor& self, const Tensor& other);  // self conjugated
CRESSET_API Tensor& vdot_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1);
CRESSET_API Tensor& linalg_vecdot_out(Tensor& out, const Tensor& x, const Tensor& y, int64_t dim = -1);
CRESSET_API Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other);
CRESSET_API Tensor& tensordot_out(Tensor& out, const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                                  IntArrayRef dims_other);
CRESSET_API Tensor kron(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& kron_out(Tensor& out, const Tensor& self, const Tensor& other);
// Without a dim, the first dimension of size 3.
CRESSET_API Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim = std::nullopt);
CRESSET_API Tensor& cross_out(Tensor& out, const Tensor& self, const Tensor& other,
                              std::optional<int64_t> dim = std::nullopt);
CRESSET_API Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim = -1);
CRESSET_API Tensor& linalg_cross_out(Tensor& out, const Tensor& self, const Tensor& other, int64_t dim = -1);

// Multiplied in the order that takes the fewest multiplications.
CRESSET_API Tensor linalg_multi_dot(TensorList tensors);
CRESSET_API Tensor& linalg_multi_dot_out(Tensor& out, TensorList tensors);
CRESSET_API Tensor chain_matmul(TensorList matrices);
CRESSET_API Tensor& chain_matmul_out(Tensor& out, TensorList matrices);
CRESSET_API Tensor matrix_power(const Tensor& self, int64_t n);
CRESSET_API Tensor& matrix_power_out(Tensor& out, const Tensor& self, int64_t n);

CRESSET_API Tensor vander(const Tensor& x, std::optional<int64_t> N = std::nullopt, bool increasing = false);
CRESSET_API Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N = std::nullopt);

// For formulas: the conjugate transpose of each matrix.
CRESSET_API Tensor adjoint_of(const Tensor& x);

}  // namespace cresset
