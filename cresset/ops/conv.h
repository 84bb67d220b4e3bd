// Convolution in two dimensions.
#pragma once

#include <string_view>

#include "cresset/core/kernel.h"

namespace cresset {

// x is [batch, channels, height, width], w [outputs, channels / groups, height, width]. stride and dilation have two
// entries, padding four: top, left, bottom, right. The two backward kernels are the adjoints without conjugation.
CRESSET_API inline constinit Kernel<void(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias,
                                         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, int64_t groups)>
    conv2d_kernel{"conv2d"};
CRESSET_API inline constinit Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& w, IntArrayRef stride,
                                         IntArrayRef padding, IntArrayRef dilation, int64_t groups)>
    conv2d_backward_input_kernel{"conv2d_backward_input"};
CRESSET_API inline constinit Kernel<void(const Tensor& dw, const Tensor& g, const Tensor& x, IntArrayRef stride,
                                         IntArrayRef padding, IntArrayRef dilation, int64_t groups)>
    conv2d_backward_weight_kernel{"conv2d_backward_weight"};

// "same" or "valid". A type of its own, so that a list of numbers, {0, 0}, is never taken for a string.
struct PaddingMode {
  std::string_view name;
  template <class T>
  requires std::is_convertible_v<const T&, std::string_view> PaddingMode(const T& mode) : name(mode) {}
};

// Takes [batch, channels, height, width], or one image without batch. One value stands for both directions.
CRESSET_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                          IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                          PaddingMode padding, IntArrayRef dilation = 1, int64_t groups = 1);

}  // namespace cresset
