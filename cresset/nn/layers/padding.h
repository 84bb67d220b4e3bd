// Padding as layers.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/padding.h"

namespace cresset::nn {

#define CRESSET_PAD_LAYER(Name, rank)                                                         \
  struct CRESSET_API Name##rank##dImpl : Stateless<Name##rank##dImpl, Name##rank##dOptions> { \
    Name##rank##dImpl(ExpandingArray<2 * rank> padding);                                      \
    explicit Name##rank##dImpl(const Name##rank##dOptions& options);                          \
    Tensor forward(const Tensor& input);                                                      \
    void pretty_print(std::ostream& stream) const override;                                   \
  };                                                                                          \
  CRESSET_LAYER(Name##rank##d)
#define CRESSET_PAD_LAYERS(rank)                                                                                   \
  CRESSET_PAD_LAYER(ReflectionPad, rank);                                                                          \
  CRESSET_PAD_LAYER(ReplicationPad, rank);                                                                         \
  CRESSET_PAD_LAYER(CircularPad, rank);                                                                            \
  CRESSET_PAD_LAYER(ZeroPad, rank);                                                                                \
  struct CRESSET_API ConstantPad##rank##dImpl : Stateless<ConstantPad##rank##dImpl, ConstantPad##rank##dOptions> { \
    ConstantPad##rank##dImpl(ExpandingArray<2 * rank> padding, double value);                                      \
    explicit ConstantPad##rank##dImpl(const ConstantPad##rank##dOptions& options);                                 \
    Tensor forward(const Tensor& input);                                                                           \
    void pretty_print(std::ostream& stream) const override;                                                        \
  };                                                                                                               \
  CRESSET_LAYER(ConstantPad##rank##d)
CRESSET_PAD_LAYERS(1);
CRESSET_PAD_LAYERS(2);
CRESSET_PAD_LAYERS(3);
#undef CRESSET_PAD_LAYERS
#undef CRESSET_PAD_LAYER

}  // namespace cresset::nn
