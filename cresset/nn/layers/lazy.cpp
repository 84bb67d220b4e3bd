#include "cresset/nn/layers/lazy.h"

#include <ostream>
#include <sstream>

#include "cresset/ops/all.h"

namespace cresset::nn {

namespace detail {
void not_initialized(const Module& layer, const char* what) {
  throw ValueError(message_of(short_name(layer), ": ", what,
                              " was called before the first forward, which finds the number of inputs (call forward "
                              "with a batch, or initialize_parameters, first)"));
}
}  // namespace detail

namespace {

// A tensor of another size in the same handle: dtype, device and whoever holds it stay.
void become(const Tensor& x, const Dims& sizes) { x.set_data(zeros(sizes, x.options())); }

// Each kind of layer: where its features stand in the input, whether they are known, and how its tensors follow them.
bool is_open(const LinearImpl& layer) { return layer.weight.size(1) == 0; }
int64_t features_of(const LinearImpl&, const Tensor& input) { return input.size(-1); }
int64_t features_in(const LinearImpl& layer) { return layer.weight.size(1); }
void take(LinearImpl& layer, int64_t features) {
  layer.options.in_features(features);
  become(layer.weight, {layer.weight.size(0), features});
}
void note(LinearImpl& layer, int64_t features) { layer.options.in_features(features); }

template <size_t D, class Derived>
int channel_dim(const ConvNdImpl<D, Derived>& layer) {
  return layer.options.transposed() ? 0 : 1;
}
template <size_t D, class Derived>
bool is_open(const ConvNdImpl<D, Derived>& layer) {
  return layer.weight.size(channel_dim(layer)) == 0;
}
template <size_t D, class Derived>
int64_t features_of(const ConvNdImpl<D, Derived>& layer, const Tensor& input) {
  const int64_t rank = static_cast<int64_t>(D);
  CRESSET_CHECK_AS(ShapeError, input.dim() == rank + 1 || input.dim() == rank + 2, short_name(layer), ": Expected ",
                   rank + 1, "D (unbatched) or ", rank + 2, "D (batched) input, found shape ", text_of(input.sizes()));
  return input.size(-rank - 1);
}
template <size_t D, class Derived>
int64_t features_in(const ConvNdImpl<D, Derived>& layer) {
  return layer.options.transposed() ? layer.weight.size(0) : layer.weight.size(1) * layer.options.groups();
}
template <size_t D, class Derived>
void take(ConvNdImpl<D, Derived>& layer, int64_t features) {
  CRESSET_CHECK_AS(ValueError, features % layer.options.groups() == 0, short_name(layer),
                   ": in_channels must be divisible by groups, found ", features, " and ", layer.options.groups());
  layer.options.in_channels(features);
  Dims sizes(layer.weight.sizes());
  sizes[channel_dim(layer)] = layer.options.transposed() ? features : features / layer.options.groups();
  become(layer.weight, sizes);
}
template <size_t D, class Derived>
void note(ConvNdImpl<D, Derived>& layer, int64_t features) {
  layer.options.in_channels(features);
}

template <size_t D, class Derived, class Options>
int64_t features_in(const NormImplBase<D, Derived, Options>& layer) {
  if (layer.weight.defined()) return layer.weight.size(0);
  return layer.running_mean.defined() ? layer.running_mean.size(0) : layer.options.num_features();
}
template <size_t D, class Derived, class Options>
bool is_open(const NormImplBase<D, Derived, Options>& layer) {
  return features_in(layer) == 0;
}
template <size_t D, class Derived, class Options>
int64_t features_of(const NormImplBase<D, Derived, Options>& layer, const Tensor& input) {
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, short_name(layer), ": found input of shape ", text_of(input.sizes()),
                   " (expected [batch, channels, ...])");
  const int64_t rank = static_cast<int64_t>(D);
  const bool alone = std::is_same_v<Options, InstanceNormOptions> && input.dim() == rank + 1;  // without batch
  return input.size(alone ? 0 : 1);
}
template <size_t D, class Derived, class Options>
void take(NormImplBase<D, Derived, Options>& layer, int64_t features) {
  layer.options.num_features(features);
  for (const Tensor* x : {&layer.weight, &layer.bias, &layer.running_mean, &layer.running_var})
    if (x->defined()) become(*x, {features});
}
template <size_t D, class Derived, class Options>
void note(NormImplBase<D, Derived, Options>& layer, int64_t features) {
  layer.options.num_features(features);
}

}  // namespace

template <class Derived, class Layer, class Options>
LazyLayer<Derived, Layer, Options>::LazyLayer(const Options& options_) : Layer(options_) {}

template <class Derived, class Layer, class Options>
bool LazyLayer<Derived, Layer, Options>::has_uninitialized_params() const {
  return is_open(*this);
}

template <class Derived, class Layer, class Options>
void LazyLayer<Derived, Layer, Options>::initialize(int64_t features) {
  NoGradGuard no_grad;
  take(*this, features);
  Layer::reset_parameters();
}

template <class Derived, class Layer, class Options>
void LazyLayer<Derived, Layer, Options>::initialize_parameters(const Tensor& input) {
  if (is_open(*this))
    initialize(features_of(*this, input));
  else
    note(*this, features_in(*this));  // a copy of a layer within a larger module gets tensors, but old options
}

template <class Derived, class Layer, class Options>
void LazyLayer<Derived, Layer, Options>::reset_parameters() {
  if (is_open(*this)) detail::not_initialized(*this, "reset_parameters");
  Layer::reset_parameters();
}

template <class Derived, class Layer, class Options>
void LazyLayer<Derived, Layer, Options>::before_load(const StateDict& state, const std::string& prefix) {
  if (!is_open(*this)) return;
  const Tensor* saved = state.find(prefix + "weight");
  if (!saved) saved = state.find(prefix + "running_mean");
  if (!saved || !saved->defined() || saved->dim() == 0) return;
  int64_t features = saved->size(0);
  if constexpr (std::is_same_v<Layer, LinearImpl>) {
    if (saved->dim() != 2) return;
    features = saved->size(1);
  } else if constexpr (requires { this->options.groups(); }) {
    if (saved->dim() != this->weight.dim()) return;
    if (!this->options.transposed()) features = saved->size(1) * this->options.groups();
  }
  initialize(features);
}

template <class Derived, class Layer, class Options>
std::shared_ptr<Module> LazyLayer<Derived, Layer, Options>::clone(const std::optional<Device>& device) const {
  return Cloneable<Derived>::copy_of(static_cast<const Derived&>(*this), device);
}

// Once it knows its size it is the plain layer, and says so.
template <class Derived, class Layer, class Options>
void LazyLayer<Derived, Layer, Options>::pretty_print(std::ostream& stream) const {
  std::ostringstream line;
  Layer::pretty_print(line);
  std::string text = line.str();
  const size_t lazy = text.find("Lazy");
  if (!is_open(*this) && lazy < text.find('(')) text.erase(lazy, 4);
  stream << text;
}

template class LazyLayer<LazyLinearImpl, LinearImpl, LazyLinearOptions>;
LazyLinearImpl::LazyLinearImpl(int64_t out_features) : LazyLayer(out_features) {}
LazyLinearImpl::LazyLinearImpl(const LazyLinearOptions& options) : LazyLayer(options) {}
Tensor LazyLinearImpl::forward(const Tensor& input) {
  initialize_parameters(input);
  return LinearImpl::forward(input);
}

#define CRESSET_LAZY_LAYERS(rank)                                                                                     \
  template class LazyLayer<LazyConv##rank##dImpl, Conv##rank##dImpl, LazyConv##rank##dOptions>;                       \
  LazyConv##rank##dImpl::LazyConv##rank##dImpl(int64_t out_channels, ExpandingArray<rank> kernel_size)                \
      : LazyLayer(LazyConv##rank##dOptions(out_channels, kernel_size)) {}                                             \
  LazyConv##rank##dImpl::LazyConv##rank##dImpl(const LazyConv##rank##dOptions& options) : LazyLayer(options) {}       \
  Tensor LazyConv##rank##dImpl::forward(const Tensor& input) {                                                        \
    initialize_parameters(input);                                                                                     \
    return Conv##rank##dImpl::forward(input);                                                                         \
  }                                                                                                                   \
  template class LazyLayer<LazyConvTranspose##rank##dImpl, ConvTranspose##rank##dImpl,                                \
                           LazyConvTranspose##rank##dOptions>;                                                        \
  LazyConvTranspose##rank##dImpl::LazyConvTranspose##rank##dImpl(int64_t out_channels,                                \
                                                                 ExpandingArray<rank> kernel_size)                    \
      : LazyLayer(LazyConvTranspose##rank##dOptions(out_channels, kernel_size)) {}                                    \
  LazyConvTranspose##rank##dImpl::LazyConvTranspose##rank##dImpl(const LazyConvTranspose##rank##dOptions& options)    \
      : LazyLayer(options) {}                                                                                         \
  Tensor LazyConvTranspose##rank##dImpl::forward(const Tensor& input, const OptionalIntArrayRef& output_size) {       \
    initialize_parameters(input);                                                                                     \
    return ConvTranspose##rank##dImpl::forward(input, output_size);                                                   \
  }                                                                                                                   \
  template class LazyLayer<LazyBatchNorm##rank##dImpl, BatchNorm##rank##dImpl, LazyBatchNormOptions>;                 \
  LazyBatchNorm##rank##dImpl::LazyBatchNorm##rank##dImpl(const LazyBatchNormOptions& options) : LazyLayer(options) {} \
  Tensor LazyBatchNorm##rank##dImpl::forward(const Tensor& input) {                                                   \
    initialize_parameters(input);                                                                                     \
    return BatchNorm##rank##dImpl::forward(input);                                                                    \
  }                                                                                                                   \
  template class LazyLayer<LazyInstanceNorm##rank##dImpl, InstanceNorm##rank##dImpl, LazyInstanceNormOptions>;        \
  LazyInstanceNorm##rank##dImpl::LazyInstanceNorm##rank##dImpl(const LazyInstanceNormOptions& options)                \
      : LazyLayer(options) {}                                                                                         \
  Tensor LazyInstanceNorm##rank##dImpl::forward(const Tensor& input) {                                                \
    initialize_parameters(input);                                                                                     \
    return InstanceNorm##rank##dImpl::forward(input);                                                                 \
  }
CRESSET_LAZY_LAYERS(1)
CRESSET_LAZY_LAYERS(2)
CRESSET_LAZY_LAYERS(3)
#undef CRESSET_LAZY_LAYERS

}  // namespace cresset::nn
