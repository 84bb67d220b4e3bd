// The bilinear map of two inputs.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

// y[.., o] = sum over i, j of input1[.., i] * weight[o, i, j] * input2[.., j], plus bias[o].
CRESSET_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});

}  // namespace cresset
