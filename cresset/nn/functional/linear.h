// Linear and bilinear maps as functions.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset::nn::functional {

CRESSET_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
CRESSET_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});

}  // namespace cresset::nn::functional
