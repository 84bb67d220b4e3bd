// conv2d and its two adjoints. Each is linear in both of its tensors, so that the three give each other's gradients to
// any order.
#include "cresset/ops/conv.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// How the kernel's window moves; plain numbers, which a formula may capture.
struct Window {
  int64_t stride[2], padding[4], dilation[2], groups;
};

void expand_pair(const char* name, IntArrayRef list, int64_t (&pair)[2]) {
  CRESSET_CHECK_AS(ShapeError, list.size() == 1 || list.size() == 2, "conv2d: expected ", name,
                   " to be a single integer value or a list of 2 values to match the convolution dimensions, but got ",
                   name, "=", text_of(list));
  pair[0] = list[0];
  pair[1] = list[list.size() - 1];
}

Window window_of(IntArrayRef stride, IntArrayRef dilation, int64_t groups) {
  Window window{{}, {0, 0, 0, 0}, {}, groups};
  expand_pair("stride", stride, window.stride);
  expand_pair("dilation", dilation, window.dilation);
  CRESSET_CHECK_AS(ValueError, window.stride[0] > 0 && window.stride[1] > 0,
                   "conv2d: non-positive stride is not supported, found ", text_of(stride));
  CRESSET_CHECK_AS(ValueError, window.dilation[0] > 0 && window.dilation[1] > 0,
                   "conv2d: dilation should be greater than zero, but got ", text_of(dilation));
  CRESSET_CHECK_AS(ValueError, groups > 0, "conv2d: non-positive groups is not supported, found ", groups);
  return window;
}

void check_types(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_defined("conv2d", "input", input);
  check_defined("conv2d", "weight", weight);
  CRESSET_CHECK_AS(DeviceError,
                   input.device() == weight.device() && (!bias.defined() || bias.device() == input.device()),
                   "conv2d: Expected all tensors to be on the same device, but found input on ", input.device().str(),
                   ", weight on ", weight.device().str());
  CRESSET_CHECK_AS(TypeError, input.dtype() == weight.dtype(), "conv2d: expected scalar type ",
                   cresset::toString(input.dtype()), " but found ", cresset::toString(weight.dtype()), ": Input type (",
                   name_of(input.dtype()), ") and weight type (", name_of(weight.dtype()), ") should be the same");
  CRESSET_CHECK_AS(TypeError, !bias.defined() || bias.dtype() == input.dtype(), "conv2d: Input type (",
                   name_of(input.dtype()), ") and bias type (", bias.defined() ? name_of(bias.dtype()) : "",
                   ") should be the same");
  CRESSET_CHECK_AS(TypeError, input.dtype() != kBool, "conv2d: not implemented for 'Bool'");
}

void check_shapes(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t groups) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 3 || input.dim() == 4,
                   "conv2d: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: ",
                   text_of(input.sizes()));
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 4, "conv2d: expected 4-dimensional weight, but got weight of size ",
                   text_of(weight.sizes()));
  const int64_t outputs = weight.size(0), channels = input.size(-3);
  CRESSET_CHECK_AS(ShapeError, outputs >= groups, "conv2d: Given groups=", groups, ", expected weight to be at least ",
                   groups, " at dimension 0, but got weight of size ", text_of(weight.sizes()), " instead");
  CRESSET_CHECK_AS(ShapeError, outputs % groups == 0, "conv2d: Given groups=", groups,
                   ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ",
                   text_of(weight.sizes()), " instead");
  CRESSET_CHECK_AS(ShapeError, channels == weight.size(1) * groups, "conv2d: Given groups=", groups,
                   ", weight of size ", text_of(weight.sizes()), ", expected input", text_of(input.sizes()),
                   " to have ", weight.size(1) * groups, " channels, but got ", channels, " channels instead");
  CRESSET_CHECK_AS(ShapeError, !bias.defined() || (bias.dim() == 1 && bias.size(0) == outputs),
                   "conv2d: Given weight of size ", text_of(weight.sizes()),
                   ", expected bias to be 1-dimensional with ", outputs, " elements, but got bias of size ",
                   bias.defined() ? text_of(bias.sizes()) : "", " instead");
}

Dims result_sizes(const Tensor& input, const Tensor& weight, const Window& window) {
  int64_t padded[2], out[2];
  bool fits = true;
  for (int d = 0; d < 2; d++) {
    padded[d] = input.size(d - 2) + window.padding[d] + window.padding[d + 2];
    const int64_t reach = window.dilation[d] * (weight.size(d - 2) - 1) + 1;
    out[d] = (padded[d] - reach) / window.stride[d] + 1;
    fits = fits && weight.size(d - 2) > 0 && padded[d] >= reach;
  }
  CRESSET_CHECK_AS(ShapeError, fits, "conv2d: Calculated padded input size per channel: (", padded[0], " x ", padded[1],
                   "). Kernel size: (", window.dilation[0] * (weight.size(2) - 1) + 1, " x ",
                   window.dilation[1] * (weight.size(3) - 1) + 1,
                   "). Kernel size can't be greater than actual input size");
  return {input.size(0), weight.size(0), out[0], out[1]};
}

// Channels-last only if an input is.
Tensor result_beside(const Tensor& a, const Tensor& b, IntArrayRef sizes) {
  if (a.suggest_memory_format() != MemoryFormat::ChannelsLast &&
      b.suggest_memory_format() != MemoryFormat::ChannelsLast)
    return empty_contiguous(sizes, a.dtype(), a.device());
  return empty_strided(sizes, channels_last_strides(sizes), a.options());
}

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const Window& window);
Tensor backward_weight(const Tensor& x, IntArrayRef weight_sizes, const Tensor& g, const Window& window);

// The sum over outputs of g times the weights that reached them: x's gradient.
Tensor backward_input(IntArrayRef input_sizes, const Tensor& w, const Tensor& g, const Window& window) {
  Tensor dx = result_beside(g, w, input_sizes);
  conv2d_backward_input_kernel(dx, g, w, window.stride, window.padding, window.dilation, window.groups);
  return differentiable("ConvolutionBackwardInputBackward0", dx, inputs(g, w), saved(g, w),
                        [window](const Tensor& h, Wants wants, const Tensor& g, const Tensor& w) {
                          return grads(wants(0) ? convolve(h, conj(w), {}, window) : Tensor(),
                                       wants(1) ? backward_weight(h, w.sizes(), conj(g), window) : Tensor());
                        });
}

// The sum over positions of g times the inputs that the weights met: w's gradient.
Tensor backward_weight(const Tensor& x, IntArrayRef weight_sizes, const Tensor& g, const Window& window) {
  Tensor dw = result_beside(x, g, weight_sizes);
  conv2d_backward_weight_kernel(dw, g, x, window.stride, window.padding, window.dilation, window.groups);
  return differentiable("ConvolutionBackwardWeightBackward0", dw, inputs(g, x), saved(g, x),
                        [window](const Tensor& h, Wants wants, const Tensor& g, const Tensor& x) {
                          return grads(wants(0) ? convolve(conj(x), h, {}, window) : Tensor(),
                                       wants(1) ? backward_input(x.sizes(), h, conj(g), window) : Tensor());
                        });
}

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const Window& window) {
  Tensor y = result_beside(x, w, result_sizes(x, w, window));
  conv2d_kernel(y, x, w, bias, window.stride, window.padding, window.dilation, window.groups);
  return differentiable("ConvolutionBackward0", y, inputs(x, w, bias), saved(x, w),
                        [window](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w) {
                          return grads(wants(0) ? backward_input(x.sizes(), conj(w), g, window) : Tensor(),
                                       wants(1) ? backward_weight(conj(x), w.sizes(), g, window) : Tensor(),
                                       wants(2) ? sum(g, {0, 2, 3}) : Tensor());
                        });
}

Tensor checked_conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, const Window& window) {
  check_shapes(input, weight, bias, window.groups);
  if (input.dim() == 4) return convolve(input, weight, bias, window);
  return squeeze(convolve(unsqueeze(input, 0), weight, bias, window), 0);
}

using ByNumber = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef,
                            int64_t);

const Op& conv2d_op = define_op(
    "conv2d", static_cast<ByNumber>(&conv2d), "input, weight, bias={}, stride=1, padding=0, dilation=1, groups=1",
    "Convolution (cross-correlation) of images with weights, plus bias.", {.where = Where::function});

Tensor conv2d_by_name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                      std::string_view padding, IntArrayRef dilation, int64_t groups) {
  return conv2d(input, weight, bias, stride, PaddingMode(padding), dilation, groups);
}
const Op& conv2d_padding_op =
    define_op("conv2d", &conv2d_by_name, "input, weight, bias, stride, padding, dilation=1, groups=1",
              "conv2d with padding \"same\" or \"valid\".", {.overload = "padding", .where = Where::function});

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, int64_t groups) try {
  CRESSET_INTERCEPT(conv2d, , Tensor, input, weight, bias, stride, padding, dilation, groups);
  check_types(input, weight, bias);
  Window window = window_of(stride, dilation, groups);
  int64_t around[2];
  expand_pair("padding", padding, around);
  CRESSET_CHECK_AS(ValueError, around[0] >= 0 && around[1] >= 0, "conv2d: negative padding is not supported, found ",
                   text_of(padding));
  for (int i = 0; i < 4; i++) window.padding[i] = around[i % 2];
  return checked_conv2d(input, weight, bias, window);
}
CRESSET_ERRORS_OF(conv2d, , input, weight, bias, stride, padding, dilation, groups)

Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, PaddingMode padding,
              IntArrayRef dilation, int64_t groups) try {
  CRESSET_INTERCEPT(conv2d, _padding, Tensor, input, weight, bias, stride, padding.name, dilation, groups);
  check_types(input, weight, bias);
  Window window = window_of(stride, dilation, groups);
  CRESSET_CHECK_AS(ValueError, padding.name == "same" || padding.name == "valid", "conv2d: Invalid padding string: '",
                   padding.name, "' (expected 'same' or 'valid')");
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 4, "conv2d: expected 4-dimensional weight, but got weight of size ",
                   text_of(weight.sizes()));
  if (padding.name == "same") {
    CRESSET_CHECK_AS(ValueError, window.stride[0] == 1 && window.stride[1] == 1,
                     "conv2d: padding='same' is not supported for strided convolutions, found stride ",
                     text_of(stride));
    for (int d = 0; d < 2; d++) {  // an odd rest goes to the end
      const int64_t total = window.dilation[d] * (weight.size(d + 2) - 1);
      window.padding[d] = total / 2;
      window.padding[d + 2] = total - total / 2;
    }
  }
  return checked_conv2d(input, weight, bias, window);
}
CRESSET_ERRORS_OF(conv2d, _padding, input, weight, bias, stride, padding.name, dilation, groups)

}  // namespace cresset
