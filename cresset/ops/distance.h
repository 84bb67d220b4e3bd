// Distances between vectors, and lengths.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// |x|^exponent, times the sign of x if asked for. 0 to a negative power is 0: gradients of lengths are 0 there.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, double exponent, bool is_signed)>, magnitude_power_kernel,
               "magnitude_power");
// out[.., i, j] is the distance of a[.., i, :] and b[.., j, :]; all have the same leading dimensions.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, double p)>, cdist_kernel, "cdist");
// Of a: the sum over j of g times the distance's slope.
CRESSET_KERNEL(Kernel<void(const Tensor& da, const Tensor& g, const Tensor& a, const Tensor& b, const Tensor& distances,
                           double p)>,
               cdist_backward_kernel, "cdist_backward");

CRESSET_API Tensor cdist(const Tensor& x1, const Tensor& x2, double p = 2,
                         std::optional<int64_t> compute_mode = std::nullopt);
// The distances of all pairs of rows, i < j.
CRESSET_API Tensor pdist(const Tensor& self, double p = 2);
CRESSET_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-6,
                                     bool keepdim = false);
CRESSET_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-8);
// self divided by its p-norm along dim, or by eps if that is more.
CRESSET_API Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
// x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta
CRESSET_API Tensor local_response_norm(const Tensor& input, int64_t size, double alpha = 1e-4, double beta = 0.75,
                                       double k = 1);

// For formulas. Differentiable.
CRESSET_API Tensor magnitude_power(const Tensor& x, double exponent, bool is_signed = false);

}  // namespace cresset
