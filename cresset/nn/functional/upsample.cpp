#include "cresset/nn/functional/upsample.h"

#include "cresset/ops/interpolate.h"
#include "cresset/ops/vision.h"

namespace cresset::nn::functional {

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& o) {
  constexpr const char* modes[] = {"nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact"};
  const char* mode = modes[o.mode().index()];
  OptionalIntArrayRef size;
  if (o.size()) {
    const size_t spatial = static_cast<size_t>(std::max<int64_t>(input.dim() - 2, 0));
    CRESSET_CHECK_AS(ValueError, o.size()->size() == spatial, "interpolate: found size ", text_of(*o.size()),
                     " and input of shape ", text_of(input.sizes()), " (expected ", spatial, " sizes)");
    size = IntArrayRef(*o.size());
  }
  // libtorch refuses align_corners for nearest and area, not for nearest-exact, which has no use for it.
  std::optional<bool> align_corners = o.align_corners();
  if (o.mode().is<enumtype::kNearestExact>() && align_corners == false) align_corners.reset();
  if (o.scale_factor())
    return cresset::interpolate(input, size, *o.scale_factor(), mode, align_corners, o.recompute_scale_factor(),
                                o.antialias());
  return cresset::interpolate(input, size, std::nullopt, mode, align_corners, o.recompute_scale_factor(),
                              o.antialias());
}

Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners) {
  return cresset::affine_grid_generator(theta, size, align_corners);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& o) {
  constexpr const char* modes[] = {"bilinear", "nearest", "bicubic"};
  constexpr const char* paddings[] = {"zeros", "border", "reflection"};
  return cresset::grid_sample(input, grid, modes[o.mode().index()], paddings[o.padding_mode().index()],
                              o.align_corners().value_or(false));
}

}  // namespace cresset::nn::functional
