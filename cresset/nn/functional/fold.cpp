#include "cresset/nn/functional/fold.h"

#include "cresset/ops/fold.h"
#include "cresset/ops/vision.h"

namespace cresset::nn::functional {

Tensor fold(const Tensor& input, const FoldFuncOptions& o) {
  return cresset::col2im(input, o.output_size(), o.kernel_size(), o.dilation(), o.padding(), o.stride());
}
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& o) {
  return cresset::im2col(input, o.kernel_size(), o.dilation(), o.padding(), o.stride());
}
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o) {
  return cresset::pixel_shuffle(input, o.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& o) {
  return cresset::pixel_unshuffle(input, o.downscale_factor());
}
Tensor channel_shuffle(const Tensor& input, const ChannelShuffleFuncOptions& o) {
  return cresset::channel_shuffle(input, o.groups());
}

}  // namespace cresset::nn::functional
