// Convolutions in one, two and three dimensions, and their transposes.
#pragma once

#include <string_view>

#include "cresset/core/kernel_table.h"

namespace cresset {

// x is [batch, channels, positions...], w [outputs, channels / groups, window...], with one to three dimensions of
// positions. stride and dilation have an entry for each, padding two: all in front, then all behind. The two backward
// kernels are the adjoints without conjugation; the first adds a bias too, since it is the transposed convolution.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, int64_t groups)>,
               convolution_kernel, "convolution");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& w, const Tensor& bias, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, int64_t groups)>,
               convolution_backward_input_kernel, "convolution_backward_input");
CRESSET_KERNEL(Kernel<void(const Tensor& dw, const Tensor& g, const Tensor& x, IntArrayRef stride, IntArrayRef padding,
                           IntArrayRef dilation, int64_t groups)>,
               convolution_backward_weight_kernel, "convolution_backward_weight");

// "same" or "valid". A type of its own, so that a list of numbers, {0, 0}, is never taken for a string.
struct PaddingMode {
  std::string_view name;
  template <class T>
  requires std::is_convertible_v<const T&, std::string_view> PaddingMode(const T& mode) : name(mode) {}
};

// Each takes [batch, channels, positions...], or one image without batch. One value stands for all directions.
CRESSET_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                          IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                          PaddingMode padding, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                          IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                          PaddingMode padding, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {}, IntArrayRef stride = 1,
                          IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1);
CRESSET_API Tensor conv3d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                          PaddingMode padding, IntArrayRef dilation = 1, int64_t groups = 1);

// weight is [channels, outputs / groups, window...]. output_padding is added behind the result.
CRESSET_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                                    IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                    int64_t groups = 1, IntArrayRef dilation = 1);
CRESSET_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                                    IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                    int64_t groups = 1, IntArrayRef dilation = 1);
CRESSET_API Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const Tensor& bias = {},
                                    IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                    int64_t groups = 1, IntArrayRef dilation = 1);

// Any of them; the weight's dimensions say which.
CRESSET_API Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                               IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                               int64_t groups);
// conv1d of [time, batch, channels] with weight [window, channels, outputs].
CRESSET_API Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad = 0);

}  // namespace cresset
