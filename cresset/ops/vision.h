// Sampling images along grids, and moving channels into space and back.
#pragma once

#include <string_view>

#include "cresset/core/tensor.h"

namespace cresset {

// x [N, C, (D,) H, W], grid [N, .., 2 or 3] with x first, from -1 to 1. interpolation_mode: 0 bilinear, 1 nearest, 2
// bicubic; padding_mode: 0 zeros, 1 border, 2 reflection.
CRESSET_API Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                                int64_t padding_mode, bool align_corners);
// mode: bilinear, nearest or bicubic; padding_mode: zeros, border or reflection.
CRESSET_API Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode = "bilinear",
                               std::string_view padding_mode = "zeros", bool align_corners = false);
// The grid by which grid_sample applies the affine maps theta [N, 2, 3] or [N, 3, 4].
CRESSET_API Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners);

// [.., C * r * r, H, W] to [.., C, H * r, W * r], and back.
CRESSET_API Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor);
CRESSET_API Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor);
// Deals the groups' channels out in turn.
CRESSET_API Tensor channel_shuffle(const Tensor& self, int64_t groups);

}  // namespace cresset
