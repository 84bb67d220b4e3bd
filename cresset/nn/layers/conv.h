// Convolutions. Weights and bias start evenly between ±1 / sqrt(inputs of one output).
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/options/conv.h"

namespace cresset::nn {

template <size_t D, class Derived>
class CRESSET_API ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(detail::ConvNdOptions<D> options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  detail::ConvNdOptions<D> options;
  Tensor weight, bias;

 protected:
  Tensor convolve(const Tensor& input);
  Tensor convolve_transposed(const Tensor& input, const OptionalIntArrayRef& output_size);
  // In the order that pad() takes: the last direction first, before and behind.
  std::vector<int64_t> _reversed_padding_repeated_twice;

 private:
  Dims output_padding(const Tensor& input, const OptionalIntArrayRef& output_size) const;
};

// padding_mode says what stands beyond the edge; padding may be kSame or kValid.
#define CRESSET_CONV_LAYER(rank)                                                                                     \
  class CRESSET_API Conv##rank##dImpl : public ConvNdImpl<rank, Conv##rank##dImpl> {                                 \
   public:                                                                                                           \
    CRESSET_IF_CALLED Conv##rank##dImpl(int64_t in_channels, int64_t out_channels, ExpandingArray<rank> kernel_size) \
        : Conv##rank##dImpl(Conv##rank##dOptions(in_channels, out_channels, kernel_size)) {}                         \
    explicit Conv##rank##dImpl(Conv##rank##dOptions options_);                                                       \
    Tensor forward(const Tensor& input);                                                                             \
  };                                                                                                                 \
  extern template class ConvNdImpl<rank, Conv##rank##dImpl>;                                                         \
  CRESSET_LAYER(Conv##rank##d)
CRESSET_CONV_LAYER(1);
CRESSET_CONV_LAYER(2);
CRESSET_CONV_LAYER(3);
#undef CRESSET_CONV_LAYER

// Of the sizes that a stride makes possible, output_size chooses one; without, output_padding does.
#define CRESSET_CONV_TRANSPOSE_LAYER(rank)                                                                     \
  class CRESSET_API ConvTranspose##rank##dImpl : public ConvNdImpl<rank, ConvTranspose##rank##dImpl> {         \
   public:                                                                                                     \
    CRESSET_IF_CALLED ConvTranspose##rank##dImpl(int64_t in_channels, int64_t out_channels,                    \
                                                 ExpandingArray<rank> kernel_size)                             \
        : ConvTranspose##rank##dImpl(ConvTranspose##rank##dOptions(in_channels, out_channels, kernel_size)) {} \
    explicit ConvTranspose##rank##dImpl(ConvTranspose##rank##dOptions options_);                               \
    Tensor forward(const Tensor& input, const OptionalIntArrayRef& output_size = std::nullopt);                \
                                                                                                               \
   protected:                                                                                                  \
    CRESSET_FORWARD_DEFAULTS_IN_SOURCE                                                                         \
  };                                                                                                           \
  extern template class ConvNdImpl<rank, ConvTranspose##rank##dImpl>;                                          \
  CRESSET_LAYER(ConvTranspose##rank##d)
CRESSET_CONV_TRANSPOSE_LAYER(1);
CRESSET_CONV_TRANSPOSE_LAYER(2);
CRESSET_CONV_TRANSPOSE_LAYER(3);
#undef CRESSET_CONV_TRANSPOSE_LAYER

}  // namespace cresset::nn
