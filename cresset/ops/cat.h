// Joining tensors along a dimension, old (cat) or new (stack), and cutting one into chunks.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Every tensor has out's shape but for dim, along which they follow one another; dtypes may differ from out's.
CRESSET_KERNEL(Kernel<void(const Tensor& out, TensorList tensors, int64_t dim)>, cat_kernel, "cat");

CRESSET_API Tensor cat(TensorList tensors, int64_t dim = 0);
CRESSET_API Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim = 0);
CRESSET_API Tensor stack(TensorList tensors, int64_t dim = 0);
CRESSET_API Tensor& stack_out(Tensor& out, TensorList tensors, int64_t dim = 0);
CRESSET_API std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);

}  // namespace cresset
