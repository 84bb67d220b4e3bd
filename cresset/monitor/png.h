// PNG files from tensors, for images in event files.
#pragma once

#include <string>

#include "cresset/core/tensor.h"

namespace cresset::monitor {

// uint8 [C, H, W]; C is 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
std::string png_of(const Tensor& image);

}  // namespace cresset::monitor
