// Diagonals and triangles of matrices.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// out[..., i, j] = x[..., i, j] where j - i >= diagonal (upper) or j - i <= diagonal (lower), 0 elsewhere. x may be
// out.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t diagonal, bool upper)>, triangle_kernel,
               "triangle");

CRESSET_API Tensor tril(const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor& tril_(const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor& tril_out(Tensor& out, const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor triu(const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor& triu_(const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor& triu_out(Tensor& out, const Tensor& self, int64_t diagonal = 0);

CRESSET_API Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);
CRESSET_API Tensor linalg_diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
CRESSET_API Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
CRESSET_API Tensor diag(const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor& diag_out(Tensor& out, const Tensor& self, int64_t diagonal = 0);
CRESSET_API Tensor diagflat(const Tensor& self, int64_t offset = 0);
CRESSET_API Tensor& fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap = false);
CRESSET_API Tensor trace(const Tensor& self);
CRESSET_API Tensor& trace_out(Tensor& out, const Tensor& self);

}  // namespace cresset
