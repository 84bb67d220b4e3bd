// Indexing with tensors: reading (index), writing (index_put), and nonzero, which turns masks into indices. The methods
// x[i], x.index({…}) and x.index_put_({…}, …), which take every kind of index, are built on them.
#pragma once

#include "cresset/core/indexing.h"
#include "cresset/core/kernel_table.h"

namespace cresset {

// Kernels see one form: the indexed side is [D1…Dk, R…], the plain side [I…, R…], and the k indices (int64 or int32,
// maybe negative) all have shape I, with stride 0 where they were broadcast. `dims` are D1…Dk's places in the user's
// tensor, for messages. Bounds are checked before anything is written. index_put writes in the order of I wherever two
// indices meet, whatever the number of threads.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& self, TensorList indices, IntArrayRef dims)>, index_kernel,
               "index");
CRESSET_KERNEL(
    Kernel<void(const Tensor& self, const Tensor& values, TensorList indices, IntArrayRef dims, bool accumulate)>,
    index_put_kernel, "index_put");
CRESSET_KERNEL(Kernel<void(const Tensor& count, const Tensor& x)>, count_nonzero_kernel, "count_nonzero");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x)>, nonzero_kernel, "nonzero");

// One index per dimension, an undefined tensor for a whole dimension; a bool tensor stands for as many as it has.
CRESSET_API Tensor index(const Tensor& self, TensorList indices);
CRESSET_API Tensor& index_out(Tensor& out, const Tensor& self, TensorList indices);
CRESSET_API Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate = false);
CRESSET_API Tensor& index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate = false);
CRESSET_API Tensor nonzero(const Tensor& self);
CRESSET_API Tensor& nonzero_out(Tensor& out, const Tensor& self);

}  // namespace cresset
