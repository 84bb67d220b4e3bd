// Reductions over dimensions.
#pragma once

#include "cresset/core/kernel.h"

namespace cresset {

// `out` has x's rank, with size 1 where a dimension is reduced.
CRESSET_API inline constinit Kernel<void(const Tensor& out, const Tensor& x, IntArrayRef dims)> sum_kernel{"sum"};

// No dims: all of them. Integers and bool add up in int64 unless a dtype is given.
CRESSET_API Tensor sum(const Tensor& self, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor sum(const Tensor& self, IntArrayRef dim, bool keepdim = false,
                       std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& sum_out(Tensor& out, const Tensor& self, IntArrayRef dim, bool keepdim = false,
                            std::optional<DType> dtype = std::nullopt);

}  // namespace cresset
