// Thin: the work is in the ops of the same names.
#include "cresset/nn/functional/activation.h"

#include "cresset/ops/all.h"

namespace cresset::nn::functional {

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? cresset::elu_(input, options.alpha()) : cresset::elu(input, options.alpha());
}
Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? cresset::selu_(input) : cresset::selu(input);
}
Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? cresset::celu_(input, options.alpha()) : cresset::celu(input, options.alpha());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) { return cresset::gelu(input, options.approximate()); }
Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  CRESSET_CHECK_AS(
      ShapeError, input.dim() != 0,
      "glu: glu does not suppport scalars because halving size must be even (expected at least one dimension)");
  return cresset::glu(input, options.dim());
}
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return cresset::hardshrink(input, options.lambda());
}
Tensor hardsigmoid(Tensor input, const HardsigmoidFuncOptions& options) {
  return options.inplace() ? cresset::hardsigmoid_(input) : cresset::hardsigmoid(input);
}
Tensor hardswish(Tensor input, const HardswishFuncOptions& options) {
  return options.inplace() ? cresset::hardswish_(input) : cresset::hardswish(input);
}
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  return options.inplace() ? cresset::hardtanh_(input, options.min_val(), options.max_val())
                           : cresset::hardtanh(input, options.min_val(), options.max_val());
}
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? cresset::leaky_relu_(input, options.negative_slope())
                           : cresset::leaky_relu(input, options.negative_slope());
}
Tensor logsigmoid(const Tensor& input) { return cresset::log_sigmoid(input); }
Tensor mish(Tensor input, const MishFuncOptions& options) {
  return options.inplace() ? cresset::mish_(input) : cresset::mish(input);
}
Tensor prelu(const Tensor& input, const Tensor& weight) { return cresset::prelu(input, weight); }
Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? cresset::relu_(input) : cresset::relu(input);
}
Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? cresset::relu6_(input) : cresset::relu6(input);
}
Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  return options.inplace() ? cresset::rrelu_(input, options.lower(), options.upper(), options.training())
                           : cresset::rrelu(input, options.lower(), options.upper(), options.training());
}
Tensor sigmoid(const Tensor& input) { return cresset::sigmoid(input); }
Tensor silu(Tensor input, const SiLUFuncOptions& options) {
  return options.inplace() ? cresset::silu_(input) : cresset::silu(input);
}
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return cresset::softplus(input, options.beta(), options.threshold());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return cresset::softshrink(input, options.lambda());
}
Tensor softsign(const Tensor& input) { return cresset::softsign(input); }
Tensor tanh(const Tensor& input) { return cresset::tanh(input); }
Tensor tanhshrink(const Tensor& input) { return cresset::tanhshrink(input); }
Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return options.inplace() ? cresset::threshold_(input, options.threshold(), options.value())
                           : cresset::threshold(input, options.threshold(), options.value());
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return cresset::softmax(input, options.dim(), options.dtype());
}
Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return cresset::softmin(input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return cresset::log_softmax(input, options.dim(), options.dtype());
}
Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  return cresset::gumbel_softmax(logits, options.tau(), options.hard(), options.dim());
}

}  // namespace cresset::nn::functional
