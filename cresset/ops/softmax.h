// Softmax and its logarithm along a dimension.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// The result's type is computed in (half types in float); x is converted while it is read.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t dim)>, softmax_kernel, "softmax");
// dx = (g - sum(g * y)) * y
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim)>, softmax_backward_kernel,
               "softmax_backward");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t dim)>, log_softmax_kernel, "log_softmax");
// dx = g - exp(y) * sum(g)
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& y, int64_t dim)>,
               log_softmax_backward_kernel, "log_softmax_backward");

// exp(x) / sum(exp(x)) along dim; with a dtype, x is taken as that type.
CRESSET_API Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& softmax_out(Tensor& out, const Tensor& self, int64_t dim,
                                std::optional<DType> dtype = std::nullopt);
// log(softmax(x)), finite where softmax is too small for its type.
CRESSET_API Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);
CRESSET_API Tensor& log_softmax_out(Tensor& out, const Tensor& self, int64_t dim,
                                    std::optional<DType> dtype = std::nullopt);
// softmax(-x)
CRESSET_API Tensor softmin(const Tensor& self, int64_t dim, std::optional<DType> dtype = std::nullopt);

// For formulas. Differentiable.
CRESSET_API Tensor softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim);
CRESSET_API Tensor log_softmax_backward(const Tensor& grad_output, const Tensor& output, int64_t dim);

}  // namespace cresset
