// Products of matrices and vectors.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// out = beta * added + alpha * a @ b for matrices, or for batches of them (three dimensions). What is added broadcasts
// to out's shape, and may be out itself or undefined. Half types add up in float.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& added, const Tensor& a, const Tensor& b, const Scalar& beta,
                           const Scalar& alpha)>,
               gemm_kernel, "gemm");

CRESSET_API Tensor mm(const Tensor& self, const Tensor& mat2);
CRESSET_API Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
CRESSET_API Tensor bmm(const Tensor& self, const Tensor& mat2);
CRESSET_API Tensor& bmm_out(Tensor& out, const Tensor& self, const Tensor& mat2);
CRESSET_API Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                         const Scalar& alpha = 1);
CRESSET_API Tensor& addmm_(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                           const Scalar& alpha = 1);
CRESSET_API Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                              const Scalar& beta = 1, const Scalar& alpha = 1);
CRESSET_API Tensor mv(const Tensor& self, const Tensor& vec);
CRESSET_API Tensor& mv_out(Tensor& out, const Tensor& self, const Tensor& vec);
CRESSET_API Tensor dot(const Tensor& self, const Tensor& tensor);
CRESSET_API Tensor& dot_out(Tensor& out, const Tensor& self, const Tensor& tensor);
CRESSET_API Tensor matmul(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other);
// input @ weight.t() + bias; any number of leading dimensions.
CRESSET_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
CRESSET_API Tensor& linear_out(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias = {});

}  // namespace cresset
