// Convolutions as functions.
#pragma once

#include "cresset/nn/options/conv.h"

namespace cresset::nn::functional {

CRESSET_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
CRESSET_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
CRESSET_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});
CRESSET_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                                    const ConvTranspose1dFuncOptions& options = {});
CRESSET_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                    const ConvTranspose2dFuncOptions& options = {});
CRESSET_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight,
                                    const ConvTranspose3dFuncOptions& options = {});

}  // namespace cresset::nn::functional
