// The convolutions and their two adjoints. Each is linear in both of its tensors, so that the three give each other's
// gradients to any order; the transposed convolution is the adjoint by the input.
#include "cresset/ops/conv.h"

#include <limits>

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pad.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

constexpr int kMost = 3;  // dimensions of positions

// How the window moves; plain numbers, which a formula may capture.
struct Window {
  int rank;
  int64_t stride_[kMost], padding_[2 * kMost], dilation_[kMost], groups;
  IntArrayRef stride() const { return {stride_, static_cast<size_t>(rank)}; }
  IntArrayRef padding() const { return {padding_, static_cast<size_t>(2 * rank)}; }
  IntArrayRef dilation() const { return {dilation_, static_cast<size_t>(rank)}; }
};

void expand(const char* name, IntArrayRef list, int rank, int64_t* to) {
  CRESSET_CHECK_AS(ShapeError, list.size() == 1 || list.size() == static_cast<size_t>(rank), "convolution: expected ",
                   name, " to be a single integer value or a list of ", rank,
                   " values to match the convolution dimensions, but got ", name, "=", text_of(list));
  for (int d = 0; d < rank; d++) to[d] = list[list.size() == 1 ? 0 : static_cast<size_t>(d)];
}
bool all_above(IntArrayRef list, int64_t least) {
  for (int64_t n : list)
    if (n <= least) return false;
  return true;
}

Window window_of(int rank, IntArrayRef stride, IntArrayRef dilation, int64_t groups) {
  Window window{rank, {}, {}, {}, groups};
  expand("stride", stride, rank, window.stride_);
  expand("dilation", dilation, rank, window.dilation_);
  CRESSET_CHECK_AS(ValueError, all_above(stride, 0), "convolution: non-positive stride is not supported, found ",
                   text_of(stride));
  CRESSET_CHECK_AS(ValueError, all_above(dilation, 0), "convolution: dilation should be greater than zero, but got ",
                   text_of(dilation));
  CRESSET_CHECK_AS(ValueError, groups > 0, "convolution: non-positive groups is not supported, found ", groups);
  return window;
}
void set_padding(Window& window, IntArrayRef padding) {
  expand("padding", padding, window.rank, window.padding_);
  CRESSET_CHECK_AS(ValueError, all_above(padding, -1), "convolution: negative padding is not supported, found ",
                   text_of(padding));
  for (int d = 0; d < window.rank; d++) window.padding_[window.rank + d] = window.padding_[d];
}

void check_types(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  CRESSET_CHECK_AS(DeviceError,
                   input.device() == weight.device() && (!bias.defined() || bias.device() == input.device()),
                   "convolution: Expected all tensors to be on the same device, but found input on ",
                   input.device().str(), ", weight on ", weight.device().str());
  CRESSET_CHECK_AS(TypeError, input.dtype() == weight.dtype(), "convolution: expected scalar type ",
                   cresset::toString(input.dtype()), " but found ", cresset::toString(weight.dtype()), ": Input type (",
                   name_of(input.dtype()), ") and weight type (", name_of(weight.dtype()), ") should be the same");
  CRESSET_CHECK_AS(TypeError, !bias.defined() || bias.dtype() == input.dtype(), "convolution: Input type (",
                   name_of(input.dtype()), ") and bias type (", bias.defined() ? name_of(bias.dtype()) : "",
                   ") should be the same");
  CRESSET_CHECK_AS(TypeError, input.dtype() != kBool, "convolution: not implemented for 'Bool'");
}

void check_weight_rank(const Tensor& weight, int rank) {
  CRESSET_CHECK_AS(ShapeError, weight.dim() == rank + 2, "convolution: expected ", rank + 2,
                   "-dimensional weight, but got weight of size ", text_of(weight.sizes()));
}
// The name that users know: conv2d, conv_transpose2d.
std::string name_of_rank(int rank, bool transposed) {
  return message_of(transposed ? "conv_transpose" : "conv", rank, "d");
}

void check_shapes(const Tensor& input, const Tensor& weight, const Tensor& bias, const Window& window,
                  bool transposed) {
  const int rank = window.rank;
  const int64_t groups = window.groups;
  CRESSET_CHECK_AS(ShapeError, input.dim() == rank + 1 || input.dim() == rank + 2, "convolution: Expected ", rank + 1,
                   "D (unbatched) or ", rank + 2, "D (batched) input to ", name_of_rank(rank, transposed),
                   ", but got input of size: ", text_of(input.sizes()));
  check_weight_rank(weight, rank);
  const int64_t first = weight.size(0), channels = input.size(-rank - 1);
  CRESSET_CHECK_AS(ShapeError, first >= groups, "convolution: Given groups=", groups,
                   ", expected weight to be at least ", groups, " at dimension 0, but got weight of size ",
                   text_of(weight.sizes()), " instead");
  CRESSET_CHECK_AS(ShapeError, first % groups == 0, "convolution: Given groups=", groups,
                   ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ",
                   text_of(weight.sizes()), " instead");
  const int64_t wanted = transposed ? first : weight.size(1) * groups;
  CRESSET_CHECK_AS(ShapeError, channels == wanted, "convolution: Given ",
                   transposed ? std::string("transposed=1") : message_of("groups=", groups), ", weight of size ",
                   text_of(weight.sizes()), ", expected input", text_of(input.sizes()), " to have ", wanted,
                   " channels, but got ", channels, " channels instead");
  const int64_t outputs = transposed ? weight.size(1) * groups : first;
  CRESSET_CHECK_AS(ShapeError, !bias.defined() || (bias.dim() == 1 && bias.size(0) == outputs), "convolution: Given ",
                   transposed ? "transposed=1, " : "", "weight of size ", text_of(weight.sizes()),
                   ", expected bias to be 1-dimensional with ", outputs, " elements, but got bias of size ",
                   bias.defined() ? text_of(bias.sizes()) : "", " instead");
}

std::string by_x(IntArrayRef list) {  // "2 x 3"
  std::string text;
  for (int64_t n : list) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

// Sizes are counted in int64: a padding (stride, dilation) with which they would not fit is refused by its name.
int64_t countable(__int128 size, const char* what, IntArrayRef found, const Tensor& input) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  CRESSET_CHECK_AS(ShapeError, size <= most && size >= -most, "convolution: found ", what, "=", text_of(found),
                   " for an input of size ", text_of(input.sizes()), ", which overflows (expected sizes up to ", most,
                   ")");
  return static_cast<int64_t>(size);
}

Dims result_sizes(const Tensor& input, const Tensor& weight, const Window& window) {
  Dims sizes{input.size(0), weight.size(0)}, padded, reach;
  bool fits = true;
  for (int d = 0; d < window.rank; d++) {
    const __int128 wide = static_cast<__int128>(input.size(d + 2)) + window.padding_[d];
    padded.push_back(countable(wide + window.padding_[window.rank + d], "padding",
                               window.padding().slice(0, static_cast<size_t>(window.rank)), input));
    reach.push_back(countable(static_cast<__int128>(window.dilation_[d]) * (weight.size(d + 2) - 1) + 1, "dilation",
                              window.dilation(), input));
    fits = fits && weight.size(d + 2) > 0 && padded[d] >= reach[d];
    sizes.push_back((padded[d] - reach[d]) / window.stride_[d] + 1);
  }
  CRESSET_CHECK_AS(ShapeError, fits, "convolution: Calculated padded input size per channel: (", by_x(padded),
                   "). Kernel size: (", by_x(reach), "). Kernel size can't be greater than actual input size",
                   " (found input ", text_of(input.sizes()), " and weight ", text_of(weight.sizes()), ")");
  return sizes;
}

Dims transposed_sizes(const Tensor& input, const Tensor& weight, const Window& window, IntArrayRef output_padding) {
  int64_t behind[kMost];
  expand("output_padding", output_padding, window.rank, behind);
  CRESSET_CHECK_AS(ValueError, all_above(output_padding, -1),
                   "convolution: negative output_padding is not supported, found ", text_of(output_padding));
  Dims sizes{input.size(0), weight.size(1) * window.groups}, positions;
  bool fits = true;
  for (int d = 0; d < window.rank; d++) {
    CRESSET_CHECK_AS(ValueError, behind[d] < std::max(window.stride_[d], window.dilation_[d]),
                     "convolution: output padding must be smaller than either stride or dilation, but got "
                     "output_padding ",
                     text_of(output_padding), ", stride ", text_of(window.stride()), ", dilation ",
                     text_of(window.dilation()));
    const __int128 apart = static_cast<__int128>(input.size(d + 2) - 1) * window.stride_[d];
    const __int128 reach = static_cast<__int128>(window.dilation_[d]) * (weight.size(d + 2) - 1) + behind[d] + 1;
    countable(apart, "stride", window.stride(), input);
    countable(apart + reach, "dilation", window.dilation(), input);
    positions.push_back(countable(apart + reach - static_cast<__int128>(2) * window.padding_[d], "padding",
                                  window.padding().slice(0, static_cast<size_t>(window.rank)), input));
    fits = fits && weight.size(d + 2) > 0 && input.size(d + 2) > 0 && positions[d] > 0;
    sizes.push_back(positions[d]);
  }
  CRESSET_CHECK_AS(ShapeError, fits, "convolution: Given input size per channel: (", by_x(input.sizes().slice(2)),
                   "). Calculated output size per channel: (", by_x(positions), "). Output size is too small");
  return sizes;
}

// Channels-last only if an input is, and only images: as PyTorch 1.13's.
Tensor result_beside(const Tensor& a, const Tensor& b, IntArrayRef sizes) {
  if (a.suggest_memory_format() != MemoryFormat::ChannelsLast &&
      b.suggest_memory_format() != MemoryFormat::ChannelsLast)
    return empty_contiguous(sizes, a.dtype(), a.device());
  return empty_strided(sizes, channels_last_strides(sizes), a.options());
}

// A gradient that was expanded from few numbers (sum's) is written out once rather than read through slow paths.
Tensor dense(const Tensor& g) {
  for (int64_t d = 0; d < g.dim(); d++)
    if (g.size(d) > 1 && g.stride(d) == 0) return g.contiguous();
  return g;
}

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const Window& window);
Tensor backward_weight(const Tensor& x, IntArrayRef weight_sizes, const Tensor& g, const Window& window);

Tensor bias_gradient(const Tensor& g) {
  Dims others{0};
  for (int64_t d = 2; d < g.dim(); d++) others.push_back(d);
  return sum(g, others);
}

// The sum over outputs of g times the weights that reached them: x's gradient, and the transposed convolution of g.
// Written to dx, which is fresh.
Tensor backward_input(const char* name, Tensor dx, const Tensor& w, const Tensor& g, const Tensor& bias,
                      const Window& window) {
  convolution_backward_input_kernel(dx, g, w, bias, window.stride(), window.padding(), window.dilation(),
                                    window.groups);
  return differentiable(
      name, dx, inputs(g, w, bias), saved(kept_if(w.requires_grad(), g), kept_if(g.requires_grad(), w)),
      [window, sizes = KeptDims(w.sizes())](const Tensor& h, Wants wants, const Tensor& g, const Tensor& w) {
        Tensor full = dense(h);
        return grads(wants(0) ? convolve(full, conj(w), {}, window) : Tensor(),
                     wants(1) ? backward_weight(full, sizes, conj(g), window) : Tensor(),
                     wants(2) ? bias_gradient(h) : Tensor());
      });
}

// The sum over positions of g times the inputs that the weights met: w's gradient.
Tensor backward_weight(const Tensor& x, IntArrayRef weight_sizes, const Tensor& g, const Window& window) {
  Tensor dw = result_beside(x, g, weight_sizes);
  convolution_backward_weight_kernel(dw, g, x, window.stride(), window.padding(), window.dilation(), window.groups);
  return differentiable(
      "ConvolutionBackwardBackward0", dw, inputs(g, x),
      saved(kept_if(x.requires_grad(), g), kept_if(g.requires_grad(), x)),
      [window, sizes = KeptDims(x.sizes())](const Tensor& h, Wants wants, const Tensor& g, const Tensor& x) {
        Tensor full = dense(h);
        return grads(wants(0) ? convolve(conj(x), full, {}, window) : Tensor(),
                     wants(1) ? backward_input("ConvolutionBackwardBackward0", result_beside(g, full, sizes), full,
                                               conj(g), {}, window)
                              : Tensor());
      });
}

Tensor convolve(const Tensor& x, const Tensor& w, const Tensor& bias, const Window& given) {
  const Dims sizes = result_sizes(x, w, given);
  // A stride beyond the input takes one position; libraries would count with it.
  Window window = given;
  for (int d = 0; d < window.rank; d++)
    window.stride_[d] =
        std::min(window.stride_[d], x.size(d + 2) + window.padding_[d] + window.padding_[window.rank + d]);
  Tensor y = result_beside(x, w, sizes);
  convolution_kernel(y, x, w, bias, window.stride(), window.padding(), window.dilation(), window.groups);
  return differentiable("ConvolutionBackward0", y, inputs(x, w, bias),
                        saved(kept_if(w.requires_grad(), x), kept_if(x.requires_grad(), w)),
                        [window, x_sizes = KeptDims(x.sizes()), w_sizes = KeptDims(w.sizes())](
                            const Tensor& g, Wants wants, const Tensor& x, const Tensor& w) {
                          Tensor full = dense(g);
                          return grads(wants(0)
                                           ? backward_input("ConvolutionBackwardBackward0",
                                                            result_beside(full, w, x_sizes), conj(w), full, {}, window)
                                           : Tensor(),
                                       wants(1) ? backward_weight(conj(x), w_sizes, full, window) : Tensor(),
                                       wants(2) ? bias_gradient(g) : Tensor());
                        });
}

// Output padding of a stride or more (a dilation allows it) leaves room for inputs that are not there: they are zeros
// here, so that a convolution of the result has the input's size again.
Tensor reaching_padding(const Tensor& x, const Window& window, IntArrayRef output_padding) {
  int64_t behind[kMost];
  expand("output_padding", output_padding, window.rank, behind);
  Dims pad;
  bool any = false;
  for (int d = window.rank - 1; d >= 0; d--) {
    pad.push_back(0);
    pad.push_back(behind[d] / window.stride_[d]);
    any = any || pad.back() > 0;
  }
  return any ? constant_pad_nd(x, pad, 0) : x;
}

// Checks shapes, and lends an image without batch one.
Tensor checked(const Tensor& input, const Tensor& weight, const Tensor& bias, const Window& window, bool transposed,
               IntArrayRef output_padding) {
  check_shapes(input, weight, bias, window, transposed);
  const bool single = input.dim() == window.rank + 1;
  Tensor x = single ? unsqueeze(input, 0) : input;
  if (!transposed) {
    Tensor y = convolve(x, weight, bias, window);
    return single ? squeeze(y, 0) : y;
  }
  Tensor y = empty_contiguous(transposed_sizes(x, weight, window, output_padding), x.dtype(), x.device());
  y = backward_input("ConvolutionBackward0", y, weight, reaching_padding(x, window, output_padding), bias, window);
  return single ? squeeze(y, 0) : y;
}

Tensor by_number(int rank, const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                 IntArrayRef padding, IntArrayRef dilation, int64_t groups) {
  check_types(input, weight, bias);
  Window window = window_of(rank, stride, dilation, groups);
  set_padding(window, padding);
  return checked(input, weight, bias, window, false, 0);
}

Tensor by_name(int rank, const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
               PaddingMode padding, IntArrayRef dilation, int64_t groups) {
  check_types(input, weight, bias);
  Window window = window_of(rank, stride, dilation, groups);
  CRESSET_CHECK_AS(ValueError, padding.name == "same" || padding.name == "valid",
                   "convolution: Invalid padding string: '", padding.name, "' (expected 'same' or 'valid')");
  check_weight_rank(weight, rank);
  if (padding.name == "same") {
    for (int d = 0; d < rank; d++) {  // an odd rest goes to the end
      CRESSET_CHECK_AS(ValueError, window.stride_[d] == 1,
                       "convolution: padding='same' is not supported for strided convolutions, found stride ",
                       text_of(stride));
      const int64_t total = countable(static_cast<__int128>(window.dilation_[d]) * (weight.size(d + 2) - 1), "dilation",
                                      window.dilation(), input);
      window.padding_[d] = total / 2;
      window.padding_[rank + d] = total - total / 2;
    }
  }
  return checked(input, weight, bias, window, false, 0);
}

Tensor transposed(int rank, const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                  IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) {
  check_types(input, weight, bias);
  Window window = window_of(rank, stride, dilation, groups);
  set_padding(window, padding);
  return checked(input, weight, bias, window, true, output_padding);
}

}  // namespace

// The three forms of one rank. The overload by name is registered through a function that takes a plain string.
#define CRESSET_CONV(conv, transposed_name, rank)                                                                     \
  static const Op& conv##_op =                                                                                        \
      define_op(#conv,                                                                                                \
                static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&, IntArrayRef, IntArrayRef,         \
                                       IntArrayRef, int64_t)>(&conv),                                                 \
                "input, weight, bias={}, stride=1, padding=0, dilation=1, groups=1",                                  \
                "Convolution (cross-correlation) of the input with weights, plus bias.", {.where = Where::function}); \
  Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, \
              IntArrayRef dilation, int64_t groups) try {                                                             \
    CRESSET_INTERCEPT(conv, , Tensor, input, weight, bias, stride, padding, dilation, groups);                        \
    return by_number(rank, input, weight, bias, stride, padding, dilation, groups);                                   \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(conv, , input, weight, bias, stride, padding, dilation, groups)                                   \
  static Tensor conv##_by_name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,     \
                               std::string_view padding, IntArrayRef dilation, int64_t groups) {                      \
    return conv(input, weight, bias, stride, PaddingMode(padding), dilation, groups);                                 \
  }                                                                                                                   \
  static const Op& conv##_padding_op =                                                                                \
      define_op(#conv, &conv##_by_name, "input, weight, bias, stride, padding, dilation=1, groups=1",                 \
                #conv " with padding \"same\" or \"valid\".", {.overload = "padding", .where = Where::function});     \
  Tensor conv(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, PaddingMode padding, \
              IntArrayRef dilation, int64_t groups) try {                                                             \
    CRESSET_INTERCEPT(conv, _padding, Tensor, input, weight, bias, stride, padding.name, dilation, groups);           \
    return by_name(rank, input, weight, bias, stride, padding, dilation, groups);                                     \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(conv, _padding, input, weight, bias, stride, padding.name, dilation, groups)                      \
  static const Op& transposed_name##_op =                                                                             \
      define_op(#transposed_name, &transposed_name,                                                                   \
                "input, weight, bias={}, stride=1, padding=0, output_padding=0, groups=1, dilation=1",                \
                "Transposed convolution: the adjoint of " #conv ", plus bias.", {.where = Where::function});          \
  Tensor transposed_name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,           \
                         IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation) try { \
    CRESSET_INTERCEPT(transposed_name, , Tensor, input, weight, bias, stride, padding, output_padding, groups,        \
                      dilation);                                                                                      \
    return transposed(rank, input, weight, bias, stride, padding, output_padding, groups, dilation);                  \
  }                                                                                                                   \
  CRESSET_ERRORS_OF(transposed_name, , input, weight, bias, stride, padding, output_padding, groups, dilation)

CRESSET_CONV(conv1d, conv_transpose1d, 1)
CRESSET_CONV(conv2d, conv_transpose2d, 2)
CRESSET_CONV(conv3d, conv_transpose3d, 3)
#undef CRESSET_CONV

static const Op& convolution_op = define_op(
    "convolution", &convolution, "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
    "Convolution or transposed convolution in as many dimensions as the weight has.", {.where = Where::function});
Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups) try {
  CRESSET_INTERCEPT(convolution, , Tensor, input, weight, bias, stride, padding, dilation, transposed, output_padding,
                    groups);
  check_types(input, weight, bias);
  const auto rank = static_cast<int>(weight.dim()) - 2;
  CRESSET_CHECK_AS(ShapeError, rank >= 1 && rank <= kMost && input.dim() == weight.dim(),
                   "convolution: found input of size ", text_of(input.sizes()), " and weight of size ",
                   text_of(weight.sizes()), " (expected 3 to 5 dimensions, as many of each)");
  Window window = window_of(rank, stride, dilation, groups);
  set_padding(window, padding);
  return checked(input, weight, bias, window, transposed, output_padding);
}
CRESSET_ERRORS_OF(convolution, , input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)

CRESSET_OP(conv_tbc, , Tensor, (const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad),
           "self, weight, bias, pad=0", Gradient::composed,
           "conv1d of [time, batch, channels] with weight [window, channels, outputs].")
Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) try {
  CRESSET_INTERCEPT(conv_tbc, , Tensor, self, weight, bias, pad);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 3, "conv_tbc: Input must have 3 dims: time, batch, in_channel, found ",
                   text_of(self.sizes()));
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 3,
                   "conv_tbc: Weight tensor must have 3 dims: kernel_width, in_channels, out_channels, found ",
                   text_of(weight.sizes()));
  CRESSET_CHECK_AS(ShapeError, bias.dim() == 1, "conv_tbc: Bias must be 1-D, found ", text_of(bias.sizes()));
  Tensor y = conv1d(permute(self, {1, 2, 0}), permute(weight, {2, 1, 0}), bias, 1, pad);
  return permute(y, {2, 0, 1}).contiguous();
}
CRESSET_ERRORS_OF(conv_tbc, , self, weight, bias, pad)

}  // namespace cresset
