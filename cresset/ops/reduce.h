// Reductions over dimensions.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// `out` has x's dimensions, with size 1 or missing where they are reduced; no dims means all.
using ReduceKernel = Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims)>;
CRESSET_KERNEL(ReduceKernel, sum_kernel, "sum");
CRESSET_KERNEL(ReduceKernel, mean_kernel, "mean");
CRESSET_KERNEL(ReduceKernel, amax_kernel, "amax");
CRESSET_KERNEL(ReduceKernel, amin_kernel, "amin");
// values and indices have size 1 along dim.
using BestKernel = Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t dim)>;
CRESSET_KERNEL(BestKernel, max_dim_kernel, "max", 2);
CRESSET_KERNEL(BestKernel, min_dim_kernel, "min", 2);
// 1 where x is the maximum `top` (broadcast), 0 elsewhere; and such a mask divided by the number of its ones.
CRESSET_KERNEL(Kernel<void(const Tensor& mask, const Tensor& x, const Tensor& top)>, tie_mask_kernel, "tie_mask");
CRESSET_KERNEL(Kernel<void(const Tensor& share, const Tensor& mask, const Tensor& count)>, tie_share_kernel,
               "tie_share");

// No dims: all of them. Integers and bool add up in int64 unless a dtype is given.
CRESSET_API Tensor sum(const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& sum_out(Tensor& out, const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false,
                       std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& sum_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false,
                            std::optional<DType> dtype = std::nullopt);
// What broadcasting from `size` would have made of a smaller tensor, summed back.
CRESSET_API Tensor sum_to_size(const Tensor& self, IntArrayRef size);

CRESSET_API Tensor mean(const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor mean(const Tensor& self, IntArrayRef dim, bool keepdim = false,
                        std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& mean_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false,
                             std::optional<DType> dtype = std::nullopt);

// Of all elements, and along dims: nan wins. The gradient is shared among equals; with a single dim, where the index is
// returned as well, it goes to the first.
CRESSET_API Tensor max(const Tensor& self);
CRESSET_API Tensor& max_out(Tensor& out, const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> max_out(Tensor& max, Tensor& max_values, const Tensor& self, int64_t dim,
                                                 bool keepdim = false);
CRESSET_API Tensor min(const Tensor& self);
CRESSET_API Tensor& min_out(Tensor& out, const Tensor& self);
CRESSET_API std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> min_out(Tensor& min, Tensor& min_indices, const Tensor& self, int64_t dim,
                                                 bool keepdim = false);
CRESSET_API Tensor amax(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
CRESSET_API Tensor& amax_out(Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
CRESSET_API Tensor amin(const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
CRESSET_API Tensor& amin_out(Tensor& out, const Tensor& self, IntArrayRef dim = {}, bool keepdim = false);
CRESSET_API std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim = std::nullopt,
                                               bool keepdim = false);
CRESSET_API std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& min, Tensor& max, const Tensor& self,
                                                     std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
// The place of the first maximum (minimum) along dim, or in row-major order among all elements.
CRESSET_API Tensor argmax(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
CRESSET_API Tensor& argmax_out(Tensor& out, const Tensor& self, std::optional<int64_t> dim = std::nullopt,
                               bool keepdim = false);
CRESSET_API Tensor argmin(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
CRESSET_API Tensor& argmin_out(Tensor& out, const Tensor& self, std::optional<int64_t> dim = std::nullopt,
                               bool keepdim = false);

// For formulas: gather along dim without its checks, and its opposite, which adds into zeros of shape `sizes` and
// trusts the index. Differentiable.
CRESSET_API Tensor gather_along(const Tensor& x, const Tensor& index, int64_t dim);
CRESSET_API Tensor scatter_along(IntArrayRef sizes, const Tensor& index, const Tensor& src, int64_t dim);
// The gradient of values that were picked along dim, which keepdim kept or dropped: g goes to where they stood.
CRESSET_API Tensor selected_backward(IntArrayRef sizes, const Tensor& index, const Tensor& g, int64_t dim,
                                     bool keepdim);

}  // namespace cresset
