// The larger and smaller of two, and bounds.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

// maximum and minimum give nan where either is; fmax and fmin only where both are.
CRESSET_KERNEL(BinaryKernel, maximum_kernel, "maximum");
CRESSET_KERNEL(BinaryKernel, minimum_kernel, "minimum");
CRESSET_KERNEL(BinaryKernel, fmax_kernel, "fmax");
CRESSET_KERNEL(BinaryKernel, fmin_kernel, "fmin");
// g where a is the extremum, half of it where both are. sign: 1 for the maximum, -1 for the minimum.
CRESSET_KERNEL(
    Kernel<void(const Tensor& out, const Tensor& g, const Tensor& a, const Tensor& b, int64_t sign, DType compute)>,
    extremum_backward_kernel, "extremum_backward");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const std::optional<Scalar>& min,
                           const std::optional<Scalar>& max, DType compute)>,
               clamp_kernel, "clamp");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& min, const Tensor& max, DType compute)>,
               clamp_tensor_kernel, "clamp");
// g where min <= x <= max; with `inner`, where min < x < max.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                           const std::optional<Scalar>& max, bool inner)>,
               clamp_backward_kernel, "clamp_backward");

CRESSET_API Tensor maximum(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& maximum_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor minimum(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& minimum_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor max(const Tensor& self, const Tensor& other);  // maximum
CRESSET_API Tensor& max_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor min(const Tensor& self, const Tensor& other);  // minimum
CRESSET_API Tensor& min_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor fmax(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& fmax_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor fmin(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& fmin_out(Tensor& out, const Tensor& self, const Tensor& other);

// At least one bound. Where min > max, everything becomes max.
CRESSET_API Tensor clamp(const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max = std::nullopt);
CRESSET_API Tensor& clamp_(const Tensor& self, const std::optional<Scalar>& min,
                           const std::optional<Scalar>& max = std::nullopt);
CRESSET_API Tensor& clamp_out(Tensor& out, const Tensor& self, const std::optional<Scalar>& min,
                              const std::optional<Scalar>& max = std::nullopt);
CRESSET_API Tensor clamp(const Tensor& self, const Tensor& min = {}, const Tensor& max = {});
CRESSET_API Tensor& clamp_(const Tensor& self, const Tensor& min = {}, const Tensor& max = {});
CRESSET_API Tensor& clamp_out(Tensor& out, const Tensor& self, const Tensor& min = {}, const Tensor& max = {});
CRESSET_API Tensor clamp_min(const Tensor& self, const Scalar& min);
CRESSET_API Tensor& clamp_min_(const Tensor& self, const Scalar& min);
CRESSET_API Tensor& clamp_min_out(Tensor& out, const Tensor& self, const Scalar& min);
CRESSET_API Tensor clamp_min(const Tensor& self, const Tensor& min);
CRESSET_API Tensor& clamp_min_(const Tensor& self, const Tensor& min);
CRESSET_API Tensor& clamp_min_out(Tensor& out, const Tensor& self, const Tensor& min);
CRESSET_API Tensor clamp_max(const Tensor& self, const Scalar& max);
CRESSET_API Tensor& clamp_max_(const Tensor& self, const Scalar& max);
CRESSET_API Tensor& clamp_max_out(Tensor& out, const Tensor& self, const Scalar& max);
CRESSET_API Tensor clamp_max(const Tensor& self, const Tensor& max);
CRESSET_API Tensor& clamp_max_(const Tensor& self, const Tensor& max);
CRESSET_API Tensor& clamp_max_out(Tensor& out, const Tensor& self, const Tensor& max);

// For formulas: linear in g. Differentiable.
CRESSET_API Tensor clamp_backward(const Tensor& g, const Tensor& x, const std::optional<Scalar>& min,
                                  const std::optional<Scalar>& max, bool inner = false);

}  // namespace cresset
