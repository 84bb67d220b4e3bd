// Options of Upsample, interpolate and grid_sample.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/shape.h"
#include "cresset/nn/enums.h"

namespace cresset::nn {

struct CRESSET_API UpsampleOptions {
  using mode_t = enumtype::Choice<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                                  enumtype::kTrilinear>;
  CRESSET_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  CRESSET_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  CRESSET_ARG(mode_t, mode) = kNearest;
  CRESSET_ARG(std::optional<bool>, align_corners) = std::nullopt;
  CRESSET_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
};

namespace functional {

struct CRESSET_API InterpolateFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                                  enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
  CRESSET_ARG(std::optional<std::vector<int64_t>>, size) = std::nullopt;
  CRESSET_ARG(std::optional<std::vector<double>>, scale_factor) = std::nullopt;
  CRESSET_ARG(mode_t, mode) = kNearest;
  CRESSET_ARG(std::optional<bool>, align_corners) = std::nullopt;
  CRESSET_ARG(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  CRESSET_ARG(bool, antialias) = false;
};

struct CRESSET_API GridSampleFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kBilinear, enumtype::kNearest, enumtype::kBicubic>;
  using padding_mode_t = enumtype::Choice<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
  CRESSET_ARG(mode_t, mode) = kBilinear;
  CRESSET_ARG(padding_mode_t, padding_mode) = kZeros;
  CRESSET_ARG(std::optional<bool>, align_corners) = std::nullopt;
};

}  // namespace functional
}  // namespace cresset::nn
