// Ops that order elements along a dimension.
#pragma once

#include "cresset/core/kernel.h"

namespace cresset {

CRESSET_API inline constinit Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t k,
                                         int64_t dim, bool largest, bool sorted)>
    topk_kernel{"topk", 2};

// The k largest (or smallest) elements along a dimension and where they stood. nan is above all; of equals the first
// comes first.
CRESSET_API std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                                            bool sorted = true);
CRESSET_API std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t k,
                                                  int64_t dim = -1, bool largest = true, bool sorted = true);

}  // namespace cresset
