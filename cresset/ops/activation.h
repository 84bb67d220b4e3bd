// Activation functions. Each has a kernel for the gradient, too: one pass, and differentiable again where the function
// is not made of straight lines.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

// p, q and r are the function's own numbers, in the order of its arguments.
using ActivationKernel = Kernel<void(const Tensor& out, const Tensor& x, double p, double q, double r)>;
using ActivationBackwardKernel =
    Kernel<void(const Tensor& out, const Tensor& g, const Tensor& x, double p, double q, double r)>;
CRESSET_KERNEL(ActivationKernel, leaky_relu_kernel, "leaky_relu");
CRESSET_KERNEL(ActivationBackwardKernel, leaky_relu_backward_kernel, "leaky_relu_backward");
CRESSET_KERNEL(ActivationKernel, elu_kernel, "elu");
CRESSET_KERNEL(ActivationBackwardKernel, elu_backward_kernel, "elu_backward");
CRESSET_KERNEL(ActivationBackwardKernel, elu_backward_from_result_kernel, "elu_backward_from_result");
CRESSET_KERNEL(ActivationKernel, softplus_kernel, "softplus");
CRESSET_KERNEL(ActivationBackwardKernel, softplus_backward_kernel, "softplus_backward");
CRESSET_KERNEL(ActivationKernel, log_sigmoid_kernel, "log_sigmoid");
CRESSET_KERNEL(ActivationBackwardKernel, log_sigmoid_backward_kernel, "log_sigmoid_backward");
CRESSET_KERNEL(ActivationKernel, mish_kernel, "mish");
CRESSET_KERNEL(ActivationBackwardKernel, mish_backward_kernel, "mish_backward");
CRESSET_KERNEL(ActivationKernel, softsign_kernel, "softsign");
CRESSET_KERNEL(ActivationBackwardKernel, softsign_backward_kernel, "softsign_backward");
CRESSET_KERNEL(ActivationKernel, tanhshrink_kernel, "tanhshrink");
CRESSET_KERNEL(ActivationBackwardKernel, tanhshrink_backward_kernel, "tanhshrink_backward");
CRESSET_KERNEL(ActivationKernel, hardsigmoid_kernel, "hardsigmoid");
CRESSET_KERNEL(ActivationBackwardKernel, hardsigmoid_backward_kernel, "hardsigmoid_backward");
CRESSET_KERNEL(ActivationKernel, hardswish_kernel, "hardswish");
CRESSET_KERNEL(ActivationBackwardKernel, hardswish_backward_kernel, "hardswish_backward");
CRESSET_KERNEL(ActivationKernel, hardshrink_kernel, "hardshrink");
CRESSET_KERNEL(ActivationKernel, softshrink_kernel, "softshrink");
CRESSET_KERNEL(ActivationBackwardKernel, shrink_backward_kernel, "shrink_backward");  // 0 from -p to p
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Scalar& threshold, const Scalar& value)>,
               threshold_kernel, "threshold");
CRESSET_KERNEL(ActivationBackwardKernel, threshold_backward_kernel, "threshold_backward");  // 0 up to p
// Binary: (x, weight), and for gradients (g, x, weight).
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& weight)>, prelu_kernel, "prelu");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& g, const Tensor& x, const Tensor& weight)>,
               prelu_backward_kernel, "prelu_backward");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& g, const Tensor& x)>, prelu_backward_weight_kernel,
               "prelu_backward_weight");
// a * sigmoid(b); the gradient of both halves at once.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b)>, glu_kernel, "glu");
CRESSET_KERNEL(Kernel<void(const Tensor& to_a, const Tensor& to_b, const Tensor& g, const Tensor& a, const Tensor& b)>,
               glu_backward_kernel, "glu_backward", 2);

CRESSET_API Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
CRESSET_API Tensor& leaky_relu_(const Tensor& self, const Scalar& negative_slope = 0.01);
CRESSET_API Tensor& leaky_relu_out(Tensor& out, const Tensor& self, const Scalar& negative_slope = 0.01);
CRESSET_API Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                       const Scalar& input_scale = 1);
CRESSET_API Tensor& elu_(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                         const Scalar& input_scale = 1);
CRESSET_API Tensor& elu_out(Tensor& out, const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1,
                            const Scalar& input_scale = 1);
CRESSET_API Tensor selu(const Tensor& self);
CRESSET_API Tensor& selu_(const Tensor& self);
CRESSET_API Tensor celu(const Tensor& self, const Scalar& alpha = 1);
CRESSET_API Tensor& celu_(const Tensor& self, const Scalar& alpha = 1);
// log(1 + exp(beta * self)) / beta, and self where beta * self is above the threshold.
CRESSET_API Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
CRESSET_API Tensor& softplus_out(Tensor& out, const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
CRESSET_API Tensor log_sigmoid(const Tensor& self);
CRESSET_API Tensor& log_sigmoid_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor mish(const Tensor& self);
CRESSET_API Tensor& mish_(const Tensor& self);
CRESSET_API Tensor& mish_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor softsign(const Tensor& self);
CRESSET_API Tensor tanhshrink(const Tensor& self);
CRESSET_API Tensor hardtanh(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
CRESSET_API Tensor& hardtanh_(const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1);
CRESSET_API Tensor& hardtanh_out(Tensor& out, const Tensor& self, const Scalar& min_val = -1,
                                 const Scalar& max_val = 1);
CRESSET_API Tensor relu6(const Tensor& self);
CRESSET_API Tensor& relu6_(const Tensor& self);
CRESSET_API Tensor hardsigmoid(const Tensor& self);
CRESSET_API Tensor& hardsigmoid_(const Tensor& self);
CRESSET_API Tensor& hardsigmoid_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor hardswish(const Tensor& self);
CRESSET_API Tensor& hardswish_(const Tensor& self);
CRESSET_API Tensor& hardswish_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor hardshrink(const Tensor& self, const Scalar& lambd = 0.5);
CRESSET_API Tensor& hardshrink_out(Tensor& out, const Tensor& self, const Scalar& lambd = 0.5);
CRESSET_API Tensor softshrink(const Tensor& self, const Scalar& lambd = 0.5);
CRESSET_API Tensor& softshrink_out(Tensor& out, const Tensor& self, const Scalar& lambd = 0.5);
CRESSET_API Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value);
CRESSET_API Tensor& threshold_(const Tensor& self, const Scalar& threshold, const Scalar& value);
CRESSET_API Tensor& threshold_out(Tensor& out, const Tensor& self, const Scalar& threshold, const Scalar& value);
// In training, the slope below zero is drawn for each element between lower and upper; otherwise it is their mean.
CRESSET_API Tensor rrelu(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 0.3333333333333333,
                         bool training = false, std::optional<Generator> generator = std::nullopt);
CRESSET_API Tensor& rrelu_(const Tensor& self, const Scalar& lower = 0.125, const Scalar& upper = 0.3333333333333333,
                           bool training = false, std::optional<Generator> generator = std::nullopt);
// weight has one element, or one for each of dimension 1.
CRESSET_API Tensor prelu(const Tensor& self, const Tensor& weight);
// The first half of dimension dim times the sigmoid of the second.
CRESSET_API Tensor glu(const Tensor& self, int64_t dim = -1);
CRESSET_API Tensor& glu_out(Tensor& out, const Tensor& self, int64_t dim = -1);

}  // namespace cresset
