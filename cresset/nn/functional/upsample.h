// Resizing and sampling of images as functions.
#pragma once

#include "cresset/core/tensor.h"
#include "cresset/nn/options/upsample.h"

namespace cresset::nn::functional {

CRESSET_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});
// The grid by which grid_sample applies the affine maps theta [N, 2, 3] or [N, 3, 4] to images of this size.
CRESSET_API Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false);
CRESSET_API Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {});

}  // namespace cresset::nn::functional
