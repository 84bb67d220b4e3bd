// Special functions: the error function's family, gamma's, Bessel's, and the normal distribution's.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

#define CRESSET_SPECIAL_OP_OUT(name)                 \
  CRESSET_KERNEL(UnaryKernel, name##_kernel, #name); \
  CRESSET_API Tensor name(const Tensor& self);       \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self);
#define CRESSET_SPECIAL_OP(name) \
  CRESSET_SPECIAL_OP_OUT(name)   \
  CRESSET_API Tensor& name##_(const Tensor& self);

CRESSET_SPECIAL_OP(erf)
CRESSET_SPECIAL_OP(erfc)
CRESSET_SPECIAL_OP(erfinv)
CRESSET_SPECIAL_OP(lgamma)
CRESSET_SPECIAL_OP(digamma)
CRESSET_SPECIAL_OP(i0)
CRESSET_SPECIAL_OP_OUT(special_i0e)
CRESSET_SPECIAL_OP_OUT(special_i1)
CRESSET_SPECIAL_OP_OUT(special_i1e)
CRESSET_SPECIAL_OP_OUT(special_entr)
CRESSET_SPECIAL_OP_OUT(special_erfcx)
CRESSET_SPECIAL_OP_OUT(special_ndtr)
CRESSET_SPECIAL_OP_OUT(special_ndtri)
CRESSET_SPECIAL_OP_OUT(special_log_ndtr)
CRESSET_SPECIAL_OP_OUT(special_bessel_j0)
CRESSET_SPECIAL_OP_OUT(special_bessel_j1)
CRESSET_SPECIAL_OP_OUT(special_bessel_y0)
CRESSET_SPECIAL_OP_OUT(special_bessel_y1)
#undef CRESSET_SPECIAL_OP
#undef CRESSET_SPECIAL_OP_OUT

// The n-th derivative of digamma.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t n, DType compute)>, polygamma_kernel,
               "polygamma");
CRESSET_API Tensor polygamma(int64_t n, const Tensor& self);
CRESSET_API Tensor& polygamma_(const Tensor& self, int64_t n);
CRESSET_API Tensor& polygamma_out(Tensor& out, int64_t n, const Tensor& self);
// The logarithm of the multivariate gamma function of p dimensions.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t p, DType compute)>, mvlgamma_kernel, "mvlgamma");
CRESSET_API Tensor mvlgamma(const Tensor& self, int64_t p);
CRESSET_API Tensor& mvlgamma_(const Tensor& self, int64_t p);
CRESSET_API Tensor& mvlgamma_out(Tensor& out, const Tensor& self, int64_t p);

}  // namespace cresset
