// Fold and Unfold, and what moves channels into space.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/fold.h"

namespace cresset::nn {

struct CRESSET_API FoldImpl : Stateless<FoldImpl, FoldOptions> {
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size);
  explicit FoldImpl(const FoldOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Fold);

struct CRESSET_API UnfoldImpl : Stateless<UnfoldImpl, UnfoldOptions> {
  UnfoldImpl(ExpandingArray<2> kernel_size);
  explicit UnfoldImpl(const UnfoldOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Unfold);

struct CRESSET_API PixelShuffleImpl : Stateless<PixelShuffleImpl, PixelShuffleOptions> {
  explicit PixelShuffleImpl(const PixelShuffleOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(PixelShuffle);

struct CRESSET_API PixelUnshuffleImpl : Stateless<PixelUnshuffleImpl, PixelUnshuffleOptions> {
  explicit PixelUnshuffleImpl(const PixelUnshuffleOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(PixelUnshuffle);

struct CRESSET_API ChannelShuffleImpl : Stateless<ChannelShuffleImpl, ChannelShuffleOptions> {
  explicit ChannelShuffleImpl(const ChannelShuffleOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(ChannelShuffle);

}  // namespace cresset::nn
