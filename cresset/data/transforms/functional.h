// The transforms as plain functions of images: tensors [..., H, W], colour ones [..., 3, H, W]; uint8 from 0 to 255 or
// floating from 0 to 1. torchvision's names and meanings.
#pragma once

#include <string_view>
#include <utility>

#include "cresset/core/tensor.h"

namespace cresset::data::transforms {

enum class ImageLayout { kCHW, kHWC };
enum class Interpolation { kNearest, kBilinear };

namespace functional {

// Float32 from 0 to 1 of uint8 from 0 to 255; other types as they are. [H, W] becomes [1, H, W], kHWC is turned to [C,
// H, W].
CRESSET_API Tensor to_tensor(const Tensor& image, ImageLayout layout = ImageLayout::kCHW);
CRESSET_API Tensor per_channel(ArrayRef<double> values);  // [C, 1, 1]
CRESSET_API Tensor normalize(const Tensor& image, const Tensor& mean, const Tensor& stddev);

// What lies outside the image is 0.
CRESSET_API Tensor crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width);
CRESSET_API Tensor center_crop(const Tensor& image, IntArrayRef size);
// One number: the shorter edge, with the aspect kept; two: height and width.
CRESSET_API Tensor resize(const Tensor& image, IntArrayRef size,
                          Interpolation interpolation = Interpolation::kBilinear);
CRESSET_API Tensor resized_crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width,
                                IntArrayRef size, Interpolation interpolation = Interpolation::kBilinear);
CRESSET_API Tensor hflip(const Tensor& image);
CRESSET_API Tensor vflip(const Tensor& image);
// One number for all sides; two: left and right, top and bottom; four: left, top, right, bottom. mode: constant, edge,
// reflect, symmetric (the edge itself is repeated first).
CRESSET_API Tensor pad(const Tensor& image, IntArrayRef padding, double fill = 0, std::string_view mode = "constant");
// Counter-clockwise, about the centre, in the same frame.
CRESSET_API Tensor rotate(const Tensor& image, double degrees, Interpolation interpolation = Interpolation::kNearest,
                          double fill = 0);

CRESSET_API Tensor rgb_to_grayscale(const Tensor& image);  // [..., 1, H, W]
CRESSET_API Tensor adjust_brightness(const Tensor& image, double factor);
CRESSET_API Tensor adjust_contrast(const Tensor& image, double factor);
CRESSET_API Tensor adjust_saturation(const Tensor& image, double factor);
CRESSET_API Tensor adjust_hue(const Tensor& image, double shift);  // -0.5 to 0.5 of the circle

// The random parts, drawn from sample_generator().
struct Box {
  int64_t top, left, height, width;
};
CRESSET_API Box random_box(const Tensor& image, int64_t height, int64_t width);
CRESSET_API Box random_resized_box(const Tensor& image, std::pair<double, double> scale,
                                   std::pair<double, double> ratio);
struct Jitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
};
CRESSET_API Tensor color_jitter(const Tensor& image, const Jitter& jitter);

// For the constructors of transforms.
CRESSET_API void check_probability(const char* who, double p);
CRESSET_API void check_jitter(const char* who, const Jitter& jitter);
// Two numbers in order, inside the bounds.
CRESSET_API void check_interval(const char* who, const char* what, std::pair<double, double> interval,
                                std::pair<double, double> bounds);

}  // namespace functional
}  // namespace cresset::data::transforms
