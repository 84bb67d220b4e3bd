// Functions of one number, element by element: powers and logarithms, trigonometry, rounding, and the activations that
// rest on them.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

// The kernel and the three forms of an op of one tensor.
#define CRESSET_UNARY_OP(name)                       \
  CRESSET_KERNEL(UnaryKernel, name##_kernel, #name); \
  CRESSET_API Tensor name(const Tensor& self);       \
  CRESSET_API Tensor& name##_(const Tensor& self);   \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self);

CRESSET_UNARY_OP(abs)  // of complex numbers real
CRESSET_UNARY_OP(sign)
CRESSET_UNARY_OP(sgn)
CRESSET_UNARY_OP(square)
CRESSET_UNARY_OP(reciprocal)
CRESSET_UNARY_OP(sqrt)
CRESSET_UNARY_OP(rsqrt)
CRESSET_UNARY_OP(exp2)
CRESSET_UNARY_OP(expm1)
CRESSET_UNARY_OP(log)
CRESSET_UNARY_OP(log2)
CRESSET_UNARY_OP(log10)
CRESSET_UNARY_OP(log1p)
CRESSET_UNARY_OP(sin)
CRESSET_UNARY_OP(cos)
CRESSET_UNARY_OP(tan)
CRESSET_UNARY_OP(asin)
CRESSET_UNARY_OP(acos)
CRESSET_UNARY_OP(atan)
CRESSET_UNARY_OP(sinh)
CRESSET_UNARY_OP(cosh)
CRESSET_UNARY_OP(tanh)
CRESSET_UNARY_OP(asinh)
CRESSET_UNARY_OP(acosh)
CRESSET_UNARY_OP(atanh)
CRESSET_UNARY_OP(sigmoid)
CRESSET_UNARY_OP(silu)
CRESSET_UNARY_OP(floor)
CRESSET_UNARY_OP(ceil)
CRESSET_UNARY_OP(round)  // halves to the even neighbour
CRESSET_UNARY_OP(trunc)
CRESSET_UNARY_OP(frac)
CRESSET_UNARY_OP(rad2deg)
CRESSET_UNARY_OP(deg2rad)
CRESSET_UNARY_OP(sinc)
#undef CRESSET_UNARY_OP

CRESSET_KERNEL(UnaryKernel, angle_kernel, "angle");
CRESSET_API Tensor angle(const Tensor& self);
CRESSET_API Tensor& angle_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor positive(const Tensor& self);       // self itself
CRESSET_API Tensor conj_physical(const Tensor& self);  // self itself unless complex
CRESSET_API Tensor& conj_physical_(const Tensor& self);
CRESSET_API Tensor& conj_physical_out(Tensor& out, const Tensor& self);

CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, int64_t decimals, DType compute)>, round_decimals_kernel,
               "round_decimals");
CRESSET_API Tensor round(const Tensor& self, int64_t decimals);
CRESSET_API Tensor& round_(const Tensor& self, int64_t decimals);
CRESSET_API Tensor& round_out(Tensor& out, const Tensor& self, int64_t decimals);

// log(x / (1 - x)); with eps, x is first brought into [eps, 1 - eps].
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, std::optional<double> eps, DType compute)>, logit_kernel,
               "logit");
CRESSET_API Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt);
CRESSET_API Tensor& logit_(const Tensor& self, std::optional<double> eps = std::nullopt);
CRESSET_API Tensor& logit_out(Tensor& out, const Tensor& self, std::optional<double> eps = std::nullopt);

// x times the normal distribution's function: exactly ("none"), or by way of tanh ("tanh").
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, bool by_tanh)>, gelu_kernel, "gelu");
CRESSET_API Tensor gelu(const Tensor& self, std::string_view approximate = "none");
CRESSET_API Tensor& gelu_(const Tensor& self, std::string_view approximate = "none");
CRESSET_API Tensor& gelu_out(Tensor& out, const Tensor& self, std::string_view approximate = "none");

// For formulas. Differentiable; kernels of their own for real numbers.
CRESSET_KERNEL(BinaryKernel, tanh_backward_kernel, "tanh_backward");
CRESSET_KERNEL(BinaryKernel, sigmoid_backward_kernel, "sigmoid_backward");
CRESSET_KERNEL(BinaryKernel, silu_backward_kernel, "silu_backward");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& x, bool by_tanh)>, gelu_backward_kernel,
               "gelu_backward");
CRESSET_KERNEL(
    Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& x, std::optional<double> eps, DType compute)>,
    logit_backward_kernel, "logit_backward");
CRESSET_API Tensor tanh_backward(const Tensor& grad_output, const Tensor& output);
CRESSET_API Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output);
CRESSET_API Tensor silu_backward(const Tensor& grad_output, const Tensor& self);
CRESSET_API Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate = "none");

}  // namespace cresset
