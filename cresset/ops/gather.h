// Indexing along one dimension: gather and scatter with an index for every element, index_select and its relatives with
// one for every slice, and take and put over the flattened tensor. The general index is in ops/index.h.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Kernels see one form: `index` (int64 or int32) has the shape that is gone over, with stride 0 where one index serves
// a whole slice; the indexed tensor has at least that shape in every other dimension than dim. Where indices meet,
// values are written in the order along dim, whatever the number of threads.
enum class ScatterMode : uint8_t { store, add, multiply, amax, amin };
// Throws for an index outside [0, size), or [-size, size) where negative ones count from the end. Writes nothing.
CRESSET_KERNEL(Kernel<void(const Tensor& index, int64_t size, int64_t dim, bool wraps)>, check_index_kernel,
               "check_index", 0);
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& index, int64_t dim, bool wraps)>,
               gather_kernel, "gather");
// The index has been checked. `mode` is a ScatterMode.
CRESSET_KERNEL(Kernel<void(const Tensor& self, const Tensor& index, const Tensor& src, int64_t dim, int64_t mode)>,
               scatter_kernel, "scatter");
// x / count in place, rounded down where x is an integer; a count of 0 divides by 1.
CRESSET_KERNEL(Kernel<void(const Tensor& x, const Tensor& count)>, divide_by_count_kernel, "divide_by_count");

CRESSET_API Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false);
CRESSET_API Tensor& gather_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                               bool sparse_grad = false);
CRESSET_API Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim = std::nullopt);
CRESSET_API Tensor& take_along_dim_out(Tensor& out, const Tensor& self, const Tensor& indices,
                                       std::optional<int64_t> dim = std::nullopt);

CRESSET_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
CRESSET_API Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
CRESSET_API Tensor& scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
CRESSET_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
CRESSET_API Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
CRESSET_API Tensor& scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
// reduce is "add" or "multiply".
CRESSET_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           std::string_view reduce);
CRESSET_API Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             std::string_view reduce);
CRESSET_API Tensor& scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                std::string_view reduce);
CRESSET_API Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                           std::string_view reduce);
CRESSET_API Tensor& scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                             std::string_view reduce);
CRESSET_API Tensor& scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                                std::string_view reduce);
CRESSET_API Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
CRESSET_API Tensor& scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
CRESSET_API Tensor& scatter_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                                    const Tensor& src);
// reduce is "sum", "prod", "mean", "amax" or "amin".
CRESSET_API Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                  std::string_view reduce, bool include_self = true);
CRESSET_API Tensor& scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                    std::string_view reduce, bool include_self = true);
CRESSET_API Tensor& scatter_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                                       const Tensor& src, std::string_view reduce, bool include_self = true);

CRESSET_API Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
CRESSET_API Tensor& index_select_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index);
CRESSET_API Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             const Scalar& alpha = 1);
CRESSET_API Tensor& index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                               const Scalar& alpha = 1);
CRESSET_API Tensor& index_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                                  const Tensor& source, const Scalar& alpha = 1);
CRESSET_API Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
CRESSET_API Tensor& index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
CRESSET_API Tensor& index_copy_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                                   const Tensor& source);
CRESSET_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
CRESSET_API Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
CRESSET_API Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);
CRESSET_API Tensor& index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);
// reduce is "prod", "mean", "amax" or "amin".
CRESSET_API Tensor index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                std::string_view reduce, bool include_self = true);
CRESSET_API Tensor& index_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                  std::string_view reduce, bool include_self = true);
CRESSET_API Tensor& index_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& source, std::string_view reduce, bool include_self = true);

// The tensor is seen as if it were flat.
CRESSET_API Tensor take(const Tensor& self, const Tensor& index);
CRESSET_API Tensor& take_out(Tensor& out, const Tensor& self, const Tensor& index);
CRESSET_API Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
CRESSET_API Tensor& put_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);

}  // namespace cresset
