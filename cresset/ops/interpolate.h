// Resizing: interpolate, and the upsample ops that it chooses from.
#pragma once

#include <string_view>

#include "cresset/core/kernel_table.h"

namespace cresset {

// How a position of the result is made from positions of the input.
enum class Resampling : int64_t { nearest, nearest_exact, linear, cubic, area, linear_smooth, cubic_smooth };

// x is [batch, channels, ..] with one to three more dimensions, which have other sizes in y. The factors by which the
// user wants them larger (depth, height, width) decide positions where they are above 0; otherwise the sizes do.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, int64_t resampling, bool align_corners, double factor_d,
                           double factor_h, double factor_w)>,
               resample_kernel, "resample");
// The adjoint: dx gets back what each of its elements gave.
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, int64_t resampling, bool align_corners, double factor_d,
                           double factor_h, double factor_w)>,
               resample_backward_kernel, "resample_backward");

CRESSET_API Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                      std::optional<double> scales = std::nullopt);
CRESSET_API Tensor& upsample_nearest1d_out(Tensor& out, const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales = std::nullopt);
CRESSET_API Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                      std::optional<double> scales_h = std::nullopt,
                                      std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor& upsample_nearest2d_out(Tensor& out, const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                      std::optional<double> scales_d = std::nullopt,
                                      std::optional<double> scales_h = std::nullopt,
                                      std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor& upsample_nearest3d_out(Tensor& out, const Tensor& self, IntArrayRef output_size,
                                           std::optional<double> scales_d = std::nullopt,
                                           std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
// nearest as others count it: from the middle of each position.
CRESSET_API Tensor _upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                             std::optional<double> scales = std::nullopt);
CRESSET_API Tensor _upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                             std::optional<double> scales_h = std::nullopt,
                                             std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor _upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                             std::optional<double> scales_d = std::nullopt,
                                             std::optional<double> scales_h = std::nullopt,
                                             std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                     std::optional<double> scales = std::nullopt);
CRESSET_API Tensor& upsample_linear1d_out(Tensor& out, const Tensor& self, IntArrayRef output_size, bool align_corners,
                                          std::optional<double> scales = std::nullopt);
CRESSET_API Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                       std::optional<double> scales_h = std::nullopt,
                                       std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor& upsample_bilinear2d_out(Tensor& out, const Tensor& self, IntArrayRef output_size,
                                            bool align_corners, std::optional<double> scales_h = std::nullopt,
                                            std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                      std::optional<double> scales_h = std::nullopt,
                                      std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor& upsample_bicubic2d_out(Tensor& out, const Tensor& self, IntArrayRef output_size, bool align_corners,
                                           std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                        std::optional<double> scales_d = std::nullopt,
                                        std::optional<double> scales_h = std::nullopt,
                                        std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor& upsample_trilinear3d_out(Tensor& out, const Tensor& self, IntArrayRef output_size,
                                             bool align_corners, std::optional<double> scales_d = std::nullopt,
                                             std::optional<double> scales_h = std::nullopt,
                                             std::optional<double> scales_w = std::nullopt);
// Smoothed where the result is smaller, as image libraries do.
CRESSET_API Tensor _upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                           std::optional<double> scales_h = std::nullopt,
                                           std::optional<double> scales_w = std::nullopt);
CRESSET_API Tensor _upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                          std::optional<double> scales_h = std::nullopt,
                                          std::optional<double> scales_w = std::nullopt);

// To a size, or larger by a factor. mode: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area.
CRESSET_API Tensor interpolate(const Tensor& input, OptionalIntArrayRef size = std::nullopt,
                               std::optional<double> scale_factor = std::nullopt, std::string_view mode = "nearest",
                               std::optional<bool> align_corners = std::nullopt,
                               std::optional<bool> recompute_scale_factor = std::nullopt, bool antialias = false);
// A factor for each dimension.
CRESSET_API Tensor interpolate(const Tensor& input, OptionalIntArrayRef size, const std::vector<double>& scale_factor,
                               std::string_view mode = "nearest", std::optional<bool> align_corners = std::nullopt,
                               std::optional<bool> recompute_scale_factor = std::nullopt, bool antialias = false);

}  // namespace cresset
