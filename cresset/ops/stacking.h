// Joining and cutting under numpy's names, grids of coordinates, and lists of index pairs. cat, stack and split
// themselves are in ops/cat.h and ops/shape.h.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Row k of out is the k-th combination of out.size(1) numbers below n, in dictionary order.
CRESSET_KERNEL(Kernel<void(const Tensor& out, int64_t n, bool with_replacement)>, combinations_kernel, "combinations");
// out[:, k] is the k-th place of the triangle, row by row: of an n x m matrix, below the diagonal `offset` or above.
CRESSET_KERNEL(Kernel<void(const Tensor& out, int64_t rows, int64_t columns, int64_t offset, bool lower)>,
               triangle_indices_kernel, "triangle_indices");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Scalar& start, const Scalar& end, double base)>, logspace_kernel,
               "logspace");

CRESSET_API std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0);
CRESSET_API std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim = 0);
CRESSET_API std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& tensor_indices_or_sections,
                                             int64_t dim = 0);
CRESSET_API std::vector<Tensor> hsplit(const Tensor& self, int64_t sections);
CRESSET_API std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices);
CRESSET_API std::vector<Tensor> vsplit(const Tensor& self, int64_t sections);
CRESSET_API std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices);
CRESSET_API std::vector<Tensor> dsplit(const Tensor& self, int64_t sections);
CRESSET_API std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices);
CRESSET_API std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0);

CRESSET_API Tensor atleast_1d(const Tensor& self);
CRESSET_API std::vector<Tensor> atleast_1d(TensorList tensors);
CRESSET_API Tensor atleast_2d(const Tensor& self);
CRESSET_API std::vector<Tensor> atleast_2d(TensorList tensors);
CRESSET_API Tensor atleast_3d(const Tensor& self);
CRESSET_API std::vector<Tensor> atleast_3d(TensorList tensors);
CRESSET_API Tensor hstack(TensorList tensors);
CRESSET_API Tensor& hstack_out(Tensor& out, TensorList tensors);
CRESSET_API Tensor vstack(TensorList tensors);
CRESSET_API Tensor& vstack_out(Tensor& out, TensorList tensors);
CRESSET_API Tensor dstack(TensorList tensors);
CRESSET_API Tensor& dstack_out(Tensor& out, TensorList tensors);
CRESSET_API Tensor column_stack(TensorList tensors);
CRESSET_API Tensor& column_stack_out(Tensor& out, TensorList tensors);
CRESSET_API Tensor block_diag(TensorList tensors);

CRESSET_API std::vector<Tensor> meshgrid(TensorList tensors);
CRESSET_API std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing);
CRESSET_API Tensor cartesian_prod(TensorList tensors);
CRESSET_API Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);
CRESSET_API Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {});
CRESSET_API Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, const TensorOptions& options = {});
CRESSET_API Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0,
                            const TensorOptions& options = {});
CRESSET_API Tensor& logspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps,
                                 double base = 10.0);

}  // namespace cresset
