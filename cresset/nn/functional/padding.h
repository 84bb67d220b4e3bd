// Padding as a function.
#pragma once

#include "cresset/core/tensor.h"
#include "cresset/nn/options/padding.h"

namespace cresset::nn::functional {

CRESSET_API Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace cresset::nn::functional
