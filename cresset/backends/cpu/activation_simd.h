// Inner functions of the activations and their slopes, in float and double, compiled once per SIMD target.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {

// The constant is three numbers p, q, r of the compute type. A slope's inputs are g and x.
enum class ActivationOp : uint8_t {
  leaky_relu,
  leaky_relu_backward,
  elu,
  elu_backward,
  elu_backward_from_result,
  softplus,
  softplus_backward,
  log_sigmoid,
  log_sigmoid_backward,
  mish,
  mish_backward,
  softsign,
  softsign_backward,
  tanhshrink,
  tanhshrink_backward,
  hardsigmoid,
  hardsigmoid_backward,
  hardswish,
  hardswish_backward,
  hardshrink,
  softshrink,
  shrink_backward,
  threshold_backward,
  prelu,                  // x, weight
  prelu_backward,         // g, x, weight
  prelu_backward_weight,  // g, x
  glu,                    // a, b
  glu_backward_first,     // g, b
  glu_backward_second,    // g, a, b
  count
};

InnerFunction activation_simd(ActivationOp op, DType compute);  // kFloat or kDouble

}  // namespace cresset::cpu
