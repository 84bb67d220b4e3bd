// Pools. Those of maxima also give the places of the maxima, which MaxUnpool takes.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/pool.h"

namespace cresset::nn {

#define CRESSET_POOL_LAYER(Name, Argument)                                           \
  struct CRESSET_API Name##Impl : Stateless<Name##Impl, Name##Options> {             \
    CRESSET_IF_CALLED Name##Impl(Argument size) : Name##Impl(Name##Options(size)) {} \
    explicit Name##Impl(const Name##Options& options);                               \
    Tensor forward(const Tensor& input);                                             \
    void pretty_print(std::ostream& stream) const override;                          \
  };                                                                                 \
  CRESSET_LAYER(Name)
CRESSET_POOL_LAYER(AvgPool1d, ExpandingArray<1>);
CRESSET_POOL_LAYER(AvgPool2d, ExpandingArray<2>);
CRESSET_POOL_LAYER(AvgPool3d, ExpandingArray<3>);
CRESSET_POOL_LAYER(AdaptiveAvgPool1d, ExpandingArray<1>);
CRESSET_POOL_LAYER(AdaptiveAvgPool2d, ExpandingArrayWithOptionalElem<2>);
CRESSET_POOL_LAYER(AdaptiveAvgPool3d, ExpandingArrayWithOptionalElem<3>);
#undef CRESSET_POOL_LAYER

#define CRESSET_MAX_POOL_LAYER(Name, Argument)                                       \
  struct CRESSET_API Name##Impl : Stateless<Name##Impl, Name##Options> {             \
    CRESSET_IF_CALLED Name##Impl(Argument size) : Name##Impl(Name##Options(size)) {} \
    explicit Name##Impl(const Name##Options& options);                               \
    Tensor forward(const Tensor& input);                                             \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);            \
    void pretty_print(std::ostream& stream) const override;                          \
  };                                                                                 \
  CRESSET_LAYER(Name)
CRESSET_MAX_POOL_LAYER(MaxPool1d, ExpandingArray<1>);
CRESSET_MAX_POOL_LAYER(MaxPool2d, ExpandingArray<2>);
CRESSET_MAX_POOL_LAYER(MaxPool3d, ExpandingArray<3>);
CRESSET_MAX_POOL_LAYER(AdaptiveMaxPool1d, ExpandingArray<1>);
CRESSET_MAX_POOL_LAYER(AdaptiveMaxPool2d, ExpandingArrayWithOptionalElem<2>);
CRESSET_MAX_POOL_LAYER(AdaptiveMaxPool3d, ExpandingArrayWithOptionalElem<3>);
#undef CRESSET_MAX_POOL_LAYER

// Windows at random places, drawn anew each time unless _random_samples [batch, channels, rank] says where.
#define CRESSET_FRACTIONAL_POOL_LAYER(rank)                                                       \
  struct CRESSET_API FractionalMaxPool##rank##dImpl : Cloneable<FractionalMaxPool##rank##dImpl> { \
    CRESSET_IF_CALLED FractionalMaxPool##rank##dImpl(ExpandingArray<rank> kernel_size)            \
        : FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions(kernel_size)) {}       \
    explicit FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions options_);          \
    void reset() override;                                                                        \
    Tensor forward(const Tensor& input);                                                          \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input);                         \
    void pretty_print(std::ostream& stream) const override;                                       \
    FractionalMaxPool##rank##dOptions options;                                                    \
    Tensor _random_samples;                                                                       \
  };                                                                                              \
  CRESSET_LAYER(FractionalMaxPool##rank##d)
CRESSET_FRACTIONAL_POOL_LAYER(2);
CRESSET_FRACTIONAL_POOL_LAYER(3);
#undef CRESSET_FRACTIONAL_POOL_LAYER

#define CRESSET_UNPOOL_LAYER(rank)                                                                           \
  struct CRESSET_API MaxUnpool##rank##dImpl : Stateless<MaxUnpool##rank##dImpl, MaxUnpool##rank##dOptions> { \
    CRESSET_IF_CALLED MaxUnpool##rank##dImpl(ExpandingArray<rank> kernel_size)                               \
        : MaxUnpool##rank##dImpl(MaxUnpool##rank##dOptions(kernel_size)) {}                                  \
    explicit MaxUnpool##rank##dImpl(const MaxUnpool##rank##dOptions& options);                               \
    Tensor forward(const Tensor& input, const Tensor& indices,                                               \
                   const std::optional<std::vector<int64_t>>& output_size = std::nullopt);                   \
    void pretty_print(std::ostream& stream) const override;                                                  \
                                                                                                             \
   protected:                                                                                                \
    CRESSET_FORWARD_DEFAULTS_IN_SOURCE                                                                       \
  };                                                                                                         \
  CRESSET_LAYER(MaxUnpool##rank##d)
CRESSET_UNPOOL_LAYER(1);
CRESSET_UNPOOL_LAYER(2);
CRESSET_UNPOOL_LAYER(3);
#undef CRESSET_UNPOOL_LAYER

#define CRESSET_LP_POOL_LAYER(rank)                                                                 \
  struct CRESSET_API LPPool##rank##dImpl : Stateless<LPPool##rank##dImpl, LPPool##rank##dOptions> { \
    CRESSET_IF_CALLED LPPool##rank##dImpl(double norm_type, ExpandingArray<rank> kernel_size)       \
        : LPPool##rank##dImpl(LPPool##rank##dOptions(norm_type, kernel_size)) {}                    \
    explicit LPPool##rank##dImpl(const LPPool##rank##dOptions& options);                            \
    Tensor forward(const Tensor& input);                                                            \
    void pretty_print(std::ostream& stream) const override;                                         \
  };                                                                                                \
  CRESSET_LAYER(LPPool##rank##d)
CRESSET_LP_POOL_LAYER(1);
CRESSET_LP_POOL_LAYER(2);
CRESSET_LP_POOL_LAYER(3);
#undef CRESSET_LP_POOL_LAYER

}  // namespace cresset::nn
