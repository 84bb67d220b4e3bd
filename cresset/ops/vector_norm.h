// Norms of elements over dimensions, and what is measured by them.
#pragma once

#include "cresset/ops/statistics.h"

namespace cresset {

// |x|^p, times x if asked. Where x is 0: 0 with x as a factor and for p < 0, too.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double p, bool times_x)>, abs_power_kernel, "abs_power");

// The p-norm (none: 2) over the given dimensions, or of all; p may be 0 and ±inf.
CRESSET_API Tensor norm(const Tensor& self, const Scalar& p = 2);
CRESSET_API Tensor& norm_out(Tensor& out, const Tensor& self, const Scalar& p = 2);
CRESSET_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, DType dtype);
CRESSET_API Tensor& norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p, DType dtype);
CRESSET_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim = false);
CRESSET_API Tensor& norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                             bool keepdim = false);
CRESSET_API Tensor norm(const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim, bool keepdim, DType dtype);
CRESSET_API Tensor& norm_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& p, IntArrayRef dim,
                             bool keepdim, DType dtype);
// The p-norm of self - other.
CRESSET_API Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p = 2);
// Slices along dim whose p-norm is above maxnorm are scaled down to it.
CRESSET_API Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
CRESSET_API Tensor& renorm_(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
CRESSET_API Tensor& renorm_out(Tensor& out, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);

// Rows are variables, columns observations; fweights repeat them, aweights weigh them.
CRESSET_API Tensor cov(const Tensor& self, int64_t correction = 1, const Tensor& fweights = {},
                       const Tensor& aweights = {});
CRESSET_API Tensor corrcoef(const Tensor& self);

// For formulas, differentiable: |x|^p, and x |x|^p.
CRESSET_API Tensor abs_power(const Tensor& x, double p);
CRESSET_API Tensor signed_power(const Tensor& x, double p);

}  // namespace cresset
