// Activations as functions. inplace writes into the input and returns it.
#pragma once

#include "cresset/nn/options/activation.h"

namespace cresset::nn::functional {

CRESSET_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
CRESSET_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
CRESSET_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
CRESSET_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
CRESSET_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
CRESSET_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
CRESSET_API Tensor hardsigmoid(Tensor input, const HardsigmoidFuncOptions& options = {});
CRESSET_API Tensor hardswish(Tensor input, const HardswishFuncOptions& options = {});
CRESSET_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
CRESSET_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
CRESSET_API Tensor logsigmoid(const Tensor& input);
CRESSET_API Tensor mish(Tensor input, const MishFuncOptions& options = {});
CRESSET_API Tensor prelu(const Tensor& input, const Tensor& weight);
CRESSET_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
CRESSET_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
CRESSET_API Tensor rrelu(Tensor input, const RReLUFuncOptions& options = {});
CRESSET_API Tensor sigmoid(const Tensor& input);
CRESSET_API Tensor silu(Tensor input, const SiLUFuncOptions& options = {});
CRESSET_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
CRESSET_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
CRESSET_API Tensor softsign(const Tensor& input);
CRESSET_API Tensor tanh(const Tensor& input);
CRESSET_API Tensor tanhshrink(const Tensor& input);
CRESSET_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);

CRESSET_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
CRESSET_API Tensor softmin(const Tensor& input, const SoftminFuncOptions& options);
CRESSET_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);
CRESSET_API Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {});

}  // namespace cresset::nn::functional
