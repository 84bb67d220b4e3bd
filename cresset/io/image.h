// PNG and JPEG files as uint8 tensors [C, H, W], as torchvision.io's. The decoders are in libcresset_image.so.
#pragma once

#include <string>
#include <vector>

#include "cresset/core/tensor.h"
#include "cresset/io/codecs.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

enum class ImageReadMode { UNCHANGED = 0, GRAY = 1, GRAY_ALPHA = 2, RGB = 3, RGB_ALPHA = 4 };  // torchvision's names

// PNG or JPEG, by their first bytes rather than by the name. 16 bits are scaled to 8, palettes and CMYK become RGB;
// alpha that the mode leaves out is dropped.
// More pixels than the limits allow are an error before any is decoded.
CRESSET_API Tensor read_image(const std::string& path, ImageReadMode mode = ImageReadMode::UNCHANGED,
                              const UnpackLimits& limits = kImageLimits);
CRESSET_API Tensor decode_image(Bytes bytes, ImageReadMode mode = ImageReadMode::UNCHANGED,
                                const std::string& name = "<memory>", const UnpackLimits& limits = kImageLimits);

// An image is uint8 [C, H, W] or [H, W], C from 1 to 4 (1 or 3 for JPEG); floating values count from 0 to 1.
CRESSET_API std::vector<uint8_t> encode_png(const Tensor& image);
CRESSET_API std::vector<uint8_t> encode_jpeg(const Tensor& image, int quality = 75);
CRESSET_API void write_png(const std::string& path, const Tensor& image);
CRESSET_API void write_jpeg(const std::string& path, const Tensor& image, int quality = 75);

}  // namespace cresset::io
