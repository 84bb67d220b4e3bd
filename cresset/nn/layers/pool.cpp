#include "cresset/nn/layers/pool.h"

#include "cresset/nn/functional/pool.h"
#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

using detail::one_or_tuple;
using detail::print_line;
using detail::tuple;
using detail::written;
namespace F = functional;

namespace {

template <size_t D>
std::string options_text(const MaxPoolOptions<D>& o) {
  return "kernel_size=" + one_or_tuple(o.kernel_size()) + ", stride=" + one_or_tuple(o.stride()) +
         ", padding=" + one_or_tuple(o.padding()) + ", dilation=" + one_or_tuple(o.dilation()) +
         ", ceil_mode=" + written(o.ceil_mode());
}
template <size_t D>
std::string options_text(const AvgPoolOptions<D>& o) {
  auto list = D == 1 ? tuple : one_or_tuple;  // PyTorch makes a tuple of AvgPool1d's numbers
  return "kernel_size=" + list(o.kernel_size()) + ", stride=" + list(o.stride()) + ", padding=" + list(o.padding());
}
template <size_t D>
std::string options_text(const MaxUnpoolOptions<D>& o) {
  return "kernel_size=" + tuple(o.kernel_size()) + ", stride=" + tuple(o.stride()) + ", padding=" + tuple(o.padding());
}
template <size_t D>
std::string options_text(const LPPoolOptions<D>& o) {
  return "norm_type=" + written(o.norm_type()) + ", kernel_size=" + one_or_tuple(o.kernel_size()) +
         ", stride=" + one_or_tuple(o.stride()) + ", ceil_mode=" + written(o.ceil_mode());
}
std::string size_text(const ExpandingArray<1>& size) { return std::to_string(size->at(0)); }
template <size_t D>
std::string size_text(const ExpandingArrayWithOptionalElem<D>& sizes) {
  auto text = [](std::optional<int64_t> size) { return size ? std::to_string(*size) : "None"; };
  bool same = true;
  for (const auto& size : *sizes) same = same && size == sizes->at(0);
  if (D == 1 || (same && !detail::as_libtorch())) return text(sizes->at(0));
  std::string all = detail::either("(", "[") + text(sizes->at(0));
  for (size_t i = 1; i < D; i++) all += ", " + text(sizes->at(i));
  return all + detail::either(")", "]");
}
template <class Size>
std::string options_text(const AdaptivePoolOptions<Size>& o) {
  return "output_size=" + size_text(o.output_size());
}

template <size_t D>
void check_fractional(const char* name, const FractionalMaxPoolOptions<D>& o) {
  CRESSET_CHECK_AS(ValueError, o.output_size() || o.output_ratio(), name,
                   " requires specifying either an output size, or a pooling ratio");
  CRESSET_CHECK_AS(ValueError, !o.output_size() || !o.output_ratio(), name,
                   ": only one of output_size and output_ratio may be specified");
  if (o.output_ratio())
    for (double ratio : **o.output_ratio())
      CRESSET_CHECK_AS(ValueError, ratio > 0 && ratio < 1, name, ": output_ratio must be between 0 and 1, found ",
                       ratio);
}

template <size_t D>
F::MaxUnpoolFuncOptions<D> function_options(const MaxUnpoolOptions<D>& o,
                                            const std::optional<std::vector<int64_t>>& output_size) {
  return F::MaxUnpoolFuncOptions<D>(o.kernel_size()).stride(o.stride()).padding(o.padding()).output_size(output_size);
}

}  // namespace

#define CRESSET_POOL_LAYER(Name, function)                                                \
  Name##Impl::Name##Impl(const Name##Options& options) : Stateless(options) {}            \
  Tensor Name##Impl::forward(const Tensor& input) { return F::function(input, options); } \
  void Name##Impl::pretty_print(std::ostream& stream) const { print_line(stream, *this, options_text(options)); }
#define CRESSET_MAX_POOL_LAYER(Name, function)                                       \
  CRESSET_POOL_LAYER(Name, function)                                                 \
  std::tuple<Tensor, Tensor> Name##Impl::forward_with_indices(const Tensor& input) { \
    return F::function##_with_indices(input, options);                               \
  }
#define CRESSET_POOL_LAYERS(rank)                                                                                  \
  CRESSET_POOL_LAYER(AvgPool##rank##d, avg_pool##rank##d)                                                          \
  CRESSET_POOL_LAYER(AdaptiveAvgPool##rank##d, adaptive_avg_pool##rank##d)                                         \
  CRESSET_POOL_LAYER(LPPool##rank##d, lp_pool##rank##d)                                                            \
  CRESSET_MAX_POOL_LAYER(MaxPool##rank##d, max_pool##rank##d)                                                      \
  CRESSET_MAX_POOL_LAYER(AdaptiveMaxPool##rank##d, adaptive_max_pool##rank##d)                                     \
  MaxUnpool##rank##dImpl::MaxUnpool##rank##dImpl(const MaxUnpool##rank##dOptions& options) : Stateless(options) {} \
  Tensor MaxUnpool##rank##dImpl::forward(const Tensor& input, const Tensor& indices,                               \
                                         const std::optional<std::vector<int64_t>>& output_size) {                 \
    return F::max_unpool##rank##d(input, indices, function_options(options, output_size));                         \
  }                                                                                                                \
  void MaxUnpool##rank##dImpl::pretty_print(std::ostream& stream) const {                                          \
    print_line(stream, *this, options_text(options));                                                              \
  }
CRESSET_POOL_LAYERS(1)
CRESSET_POOL_LAYERS(2)
CRESSET_POOL_LAYERS(3)

#define CRESSET_FRACTIONAL_POOL_LAYER(rank)                                                                  \
  FractionalMaxPool##rank##dImpl::FractionalMaxPool##rank##dImpl(FractionalMaxPool##rank##dOptions options_) \
      : options(std::move(options_)) {                                                                       \
    FractionalMaxPool##rank##dImpl::reset();                                                                 \
  }                                                                                                          \
  void FractionalMaxPool##rank##dImpl::reset() {                                                             \
    check_fractional("FractionalMaxPool" #rank "d", options);                                                \
    _random_samples = register_buffer(                                                                       \
        "_random_samples", _random_samples.defined() ? _random_samples.clone() : options._random_samples()); \
  }                                                                                                          \
  std::tuple<Tensor, Tensor> FractionalMaxPool##rank##dImpl::forward_with_indices(const Tensor& input) {     \
    auto settings = options;                                                                                 \
    return F::fractional_max_pool##rank##d_with_indices(input, settings._random_samples(_random_samples));   \
  }                                                                                                          \
  Tensor FractionalMaxPool##rank##dImpl::forward(const Tensor& input) {                                      \
    return std::get<0>(forward_with_indices(input));                                                         \
  }                                                                                                          \
  void FractionalMaxPool##rank##dImpl::pretty_print(std::ostream& stream) const { print_line(stream, *this); }
CRESSET_FRACTIONAL_POOL_LAYER(2)
CRESSET_FRACTIONAL_POOL_LAYER(3)

CRESSET_FORWARD_DEFAULTS(MaxUnpool1dImpl, {2, AnyValue(std::optional<std::vector<int64_t>>())})
CRESSET_FORWARD_DEFAULTS(MaxUnpool2dImpl, {2, AnyValue(std::optional<std::vector<int64_t>>())})
CRESSET_FORWARD_DEFAULTS(MaxUnpool3dImpl, {2, AnyValue(std::optional<std::vector<int64_t>>())})

}  // namespace cresset::nn
