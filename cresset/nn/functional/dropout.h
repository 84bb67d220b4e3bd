// Dropout as functions.
#pragma once

#include "cresset/core/tensor.h"
#include "cresset/nn/options/dropout.h"

namespace cresset::nn::functional {

CRESSET_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
// Whole channels; the input has a batch dimension or not.
CRESSET_API Tensor dropout1d(Tensor input, const Dropout1dFuncOptions& options = {});
CRESSET_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});
CRESSET_API Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options = {});
CRESSET_API Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options = {});
CRESSET_API Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace cresset::nn::functional
