#include "cresset/nn/layers/fold.h"

#include "cresset/nn/functional/fold.h"
#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

using detail::one_or_tuple;
using detail::print_line;

namespace {
template <class Options>
std::string window_text(const Options& o) {
  return "kernel_size=" + one_or_tuple(o.kernel_size()) + ", dilation=" + one_or_tuple(o.dilation()) +
         ", padding=" + one_or_tuple(o.padding()) + ", stride=" + one_or_tuple(o.stride());
}
}  // namespace

FoldImpl::FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
    : FoldImpl(FoldOptions(output_size, kernel_size)) {}
FoldImpl::FoldImpl(const FoldOptions& options) : Stateless(options) {}
Tensor FoldImpl::forward(const Tensor& input) { return functional::fold(input, options); }
void FoldImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "output_size=" + one_or_tuple(options.output_size()) + ", " + window_text(options));
}

UnfoldImpl::UnfoldImpl(ExpandingArray<2> kernel_size) : UnfoldImpl(UnfoldOptions(kernel_size)) {}
UnfoldImpl::UnfoldImpl(const UnfoldOptions& options) : Stateless(options) {}
Tensor UnfoldImpl::forward(const Tensor& input) { return functional::unfold(input, options); }
void UnfoldImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this, window_text(options)); }

PixelShuffleImpl::PixelShuffleImpl(const PixelShuffleOptions& options) : Stateless(options) {}
Tensor PixelShuffleImpl::forward(const Tensor& input) { return functional::pixel_shuffle(input, options); }
void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "upscale_factor=" + std::to_string(options.upscale_factor()));
}

PixelUnshuffleImpl::PixelUnshuffleImpl(const PixelUnshuffleOptions& options) : Stateless(options) {}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) { return functional::pixel_unshuffle(input, options); }
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "downscale_factor=" + std::to_string(options.downscale_factor()));
}

ChannelShuffleImpl::ChannelShuffleImpl(const ChannelShuffleOptions& options) : Stateless(options) {}
Tensor ChannelShuffleImpl::forward(const Tensor& input) { return functional::channel_shuffle(input, options); }
void ChannelShuffleImpl::pretty_print(std::ostream& stream) const {
  print_line(stream, *this, "groups=" + std::to_string(options.groups()));
}

}  // namespace cresset::nn
