// Options of Fold and Unfold, and of what moves channels into space.
#pragma once

#include "cresset/core/arg.h"
#include "cresset/nn/expanding_array.h"

namespace cresset::nn {

struct CRESSET_API FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<2>, output_size);
  CRESSET_ARG(ExpandingArray<2>, kernel_size);
  CRESSET_ARG(ExpandingArray<2>, dilation) = 1;
  CRESSET_ARG(ExpandingArray<2>, padding) = 0;
  CRESSET_ARG(ExpandingArray<2>, stride) = 1;
};

struct CRESSET_API UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<2>, kernel_size);
  CRESSET_ARG(ExpandingArray<2>, dilation) = 1;
  CRESSET_ARG(ExpandingArray<2>, padding) = 0;
  CRESSET_ARG(ExpandingArray<2>, stride) = 1;
};

struct CRESSET_API PixelShuffleOptions {
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  CRESSET_ARG(int64_t, upscale_factor);
};

struct CRESSET_API PixelUnshuffleOptions {
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  CRESSET_ARG(int64_t, downscale_factor);
};

struct CRESSET_API ChannelShuffleOptions {
  ChannelShuffleOptions(int64_t groups) : groups_(groups) {}
  CRESSET_ARG(int64_t, groups);
};

namespace functional {
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
using ChannelShuffleFuncOptions = ChannelShuffleOptions;
}  // namespace functional

}  // namespace cresset::nn
