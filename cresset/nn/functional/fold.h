// Fold, Unfold and shuffles as functions.
#pragma once

#include "cresset/core/tensor.h"
#include "cresset/nn/options/fold.h"

namespace cresset::nn::functional {

CRESSET_API Tensor fold(const Tensor& input, const FoldFuncOptions& options);
CRESSET_API Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
CRESSET_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
CRESSET_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
CRESSET_API Tensor channel_shuffle(const Tensor& input, const ChannelShuffleFuncOptions& options);

}  // namespace cresset::nn::functional
