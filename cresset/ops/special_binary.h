// Special functions of two variables: the incomplete gamma functions and Hurwitz's zeta.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

CRESSET_KERNEL(BinaryKernel, igamma_kernel, "igamma");
CRESSET_KERNEL(BinaryKernel, igammac_kernel, "igammac");
CRESSET_KERNEL(BinaryKernel, zeta_kernel, "special_zeta");

CRESSET_API Tensor igamma(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& igamma_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& igamma_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor igammac(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& igammac_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& igammac_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor special_zeta(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& special_zeta_out(Tensor& out, const Tensor& self, const Tensor& other);

}  // namespace cresset
