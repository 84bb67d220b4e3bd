// Layers that learn the number of their inputs from the first forward (or from a state dict that is loaded). Until then
// their weights have no elements; they keep their identity when they get their size, so an optimizer may hold them.
#pragma once

#include "cresset/nn/layers/conv.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/nn/layers/norm.h"

namespace cresset::nn {

namespace detail {
[[noreturn]] CRESSET_API void not_initialized(const Module& layer, const char* what);
}

template <class Derived, class Layer, class Options>
class CRESSET_API LazyLayer : public Layer {
 public:
  LazyLayer(const Options& options_);
  // False from the first forward on.
  bool has_uninitialized_params() const;
  // What the first forward does before it computes.
  void initialize_parameters(const Tensor& input);
  void reset_parameters();
  void before_load(const StateDict& state, const std::string& prefix) override;
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

 protected:
  void initialize(int64_t features);
};

struct CRESSET_API LazyLinearImpl : LazyLayer<LazyLinearImpl, LinearImpl, LazyLinearOptions> {
  explicit LazyLinearImpl(int64_t out_features);
  explicit LazyLinearImpl(const LazyLinearOptions& options);
  Tensor forward(const Tensor& input);
};
extern template class LazyLayer<LazyLinearImpl, LinearImpl, LazyLinearOptions>;
CRESSET_LAYER(LazyLinear);

#define CRESSET_LAZY_LAYERS(rank)                                                                                     \
  struct CRESSET_API LazyConv##rank##dImpl                                                                            \
      : LazyLayer<LazyConv##rank##dImpl, Conv##rank##dImpl, LazyConv##rank##dOptions> {                               \
    LazyConv##rank##dImpl(int64_t out_channels, ExpandingArray<rank> kernel_size);                                    \
    explicit LazyConv##rank##dImpl(const LazyConv##rank##dOptions& options);                                          \
    Tensor forward(const Tensor& input);                                                                              \
  };                                                                                                                  \
  extern template class LazyLayer<LazyConv##rank##dImpl, Conv##rank##dImpl, LazyConv##rank##dOptions>;                \
  CRESSET_LAYER(LazyConv##rank##d);                                                                                   \
  struct CRESSET_API LazyConvTranspose##rank##dImpl                                                                   \
      : LazyLayer<LazyConvTranspose##rank##dImpl, ConvTranspose##rank##dImpl, LazyConvTranspose##rank##dOptions> {    \
    LazyConvTranspose##rank##dImpl(int64_t out_channels, ExpandingArray<rank> kernel_size);                           \
    explicit LazyConvTranspose##rank##dImpl(const LazyConvTranspose##rank##dOptions& options);                        \
    Tensor forward(const Tensor& input, const OptionalIntArrayRef& output_size = std::nullopt);                       \
  };                                                                                                                  \
  extern template class LazyLayer<LazyConvTranspose##rank##dImpl, ConvTranspose##rank##dImpl,                         \
                                  LazyConvTranspose##rank##dOptions>;                                                 \
  CRESSET_LAYER(LazyConvTranspose##rank##d);                                                                          \
  struct CRESSET_API LazyBatchNorm##rank##dImpl                                                                       \
      : LazyLayer<LazyBatchNorm##rank##dImpl, BatchNorm##rank##dImpl, LazyBatchNormOptions> {                         \
    explicit LazyBatchNorm##rank##dImpl(const LazyBatchNormOptions& options = {});                                    \
    Tensor forward(const Tensor& input);                                                                              \
  };                                                                                                                  \
  extern template class LazyLayer<LazyBatchNorm##rank##dImpl, BatchNorm##rank##dImpl, LazyBatchNormOptions>;          \
  CRESSET_LAYER(LazyBatchNorm##rank##d);                                                                              \
  struct CRESSET_API LazyInstanceNorm##rank##dImpl                                                                    \
      : LazyLayer<LazyInstanceNorm##rank##dImpl, InstanceNorm##rank##dImpl, LazyInstanceNormOptions> {                \
    explicit LazyInstanceNorm##rank##dImpl(const LazyInstanceNormOptions& options = {});                              \
    Tensor forward(const Tensor& input);                                                                              \
  };                                                                                                                  \
  extern template class LazyLayer<LazyInstanceNorm##rank##dImpl, InstanceNorm##rank##dImpl, LazyInstanceNormOptions>; \
  CRESSET_LAYER(LazyInstanceNorm##rank##d)
CRESSET_LAZY_LAYERS(1);
CRESSET_LAZY_LAYERS(2);
CRESSET_LAZY_LAYERS(3);
#undef CRESSET_LAZY_LAYERS

}  // namespace cresset::nn
