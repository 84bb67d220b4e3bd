#include "cresset/nn/layers/conv.h"

#include "cresset/nn/layers/describe.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::tuple;

namespace {

constexpr const char* kPaddingModes[] = {"zeros", "reflect", "replicate", "circular"};

template <size_t D>
bool all_are(const ExpandingArray<D>& list, int64_t value) {
  return *list == *ExpandingArray<D>(value);
}

template <size_t D>
detail::ConvNdOptions<D> joined(const ConvOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}
template <size_t D>
detail::ConvNdOptions<D> joined(const ConvTransposeOptions<D>& o) {
  return detail::ConvNdOptions<D>(o.in_channels(), o.out_channels(), o.kernel_size())
      .stride(o.stride())
      .padding(o.padding())
      .dilation(o.dilation())
      .transposed(true)
      .output_padding(o.output_padding())
      .groups(o.groups())
      .bias(o.bias())
      .padding_mode(o.padding_mode());
}

// One call for the three ranks.
template <size_t D>
Tensor conv(const Tensor& x, const Tensor& w, const Tensor& b, IntArrayRef stride, const auto& padding,
            IntArrayRef dilation, int64_t groups) {
  if constexpr (D == 1) return conv1d(x, w, b, stride, padding, dilation, groups);
  if constexpr (D == 2) return conv2d(x, w, b, stride, padding, dilation, groups);
  if constexpr (D == 3) return conv3d(x, w, b, stride, padding, dilation, groups);
}

}  // namespace

template <size_t D, class Derived>
ConvNdImpl<D, Derived>::ConvNdImpl(detail::ConvNdOptions<D> options_) : options(std::move(options_)) {
  ConvNdImpl::reset();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset() {
  const std::string name = message_of("Conv", options.transposed() ? "Transpose" : "", D, "d");
  const int64_t in = options.in_channels(), out = options.out_channels(), groups = options.groups();
  CRESSET_CHECK_AS(ValueError, groups > 0, name, ": groups must be a positive integer, found ", groups);
  CRESSET_CHECK_AS(ValueError, in >= 0 && in % groups == 0, name, ": in_channels must be divisible by groups, found ",
                   in, " and ", groups);
  CRESSET_CHECK_AS(ValueError, out >= 0 && out % groups == 0, name,
                   ": out_channels must be divisible by groups, found ", out, " and ", groups);
  CRESSET_CHECK_AS(ValueError, !options.transposed() || options.padding_mode().index() == 0, name,
                   ": Only \"zeros\" padding mode is supported, found ", kPaddingModes[options.padding_mode().index()]);
  const bool same = std::holds_alternative<enumtype::kSame>(options.padding());
  CRESSET_CHECK_AS(ValueError, !same || all_are(options.stride(), 1), name,
                   ": padding='same' is not supported for strided convolutions, found stride ",
                   tuple(options.stride()));

  _reversed_padding_repeated_twice.assign(2 * D, 0);
  const auto* numbers = std::get_if<ExpandingArray<D>>(&options.padding());
  for (size_t i = 0; i < D; i++) {
    const int64_t both =
        same ? options.dilation()->at(i) * (options.kernel_size()->at(i) - 1) : (numbers ? 2 * (*numbers)->at(i) : 0);
    _reversed_padding_repeated_twice[2 * (D - 1 - i)] = both / 2;
    _reversed_padding_repeated_twice[2 * (D - 1 - i) + 1] = both - both / 2;
  }

  Dims shape = options.transposed() ? Dims{in, out / groups} : Dims{out, in / groups};
  for (int64_t size : *options.kernel_size()) shape.push_back(size);
  weight = this->register_parameter("weight", empty(shape));
  bias = this->register_parameter("bias", options.bias() ? zeros({out}) : Tensor(), options.bias());
  reset_parameters();
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::reset_parameters() {
  int64_t fan_in = weight.size(1);
  for (int64_t size : *options.kernel_size()) fan_in *= size;
  detail::start_by_fan_in(weight, bias, weight.numel() == 0 ? 0 : fan_in);
}

template <size_t D, class Derived>
void ConvNdImpl<D, Derived>::pretty_print(std::ostream& stream) const {
  const auto& o = options;
  std::string text = std::to_string(o.in_channels()) + ", " + std::to_string(o.out_channels()) +
                     ", kernel_size=" + tuple(o.kernel_size()) + ", stride=" + tuple(o.stride());
  if (auto* numbers = std::get_if<ExpandingArray<D>>(&o.padding())) {
    if (!all_are(*numbers, 0)) text += ", padding=" + tuple(*numbers);
  } else {
    const char* name = std::holds_alternative<enumtype::kSame>(o.padding()) ? "same" : "valid";
    text += ", padding=" + detail::either(name, "'" + std::string(name) + "'");
  }
  if (!all_are(o.dilation(), 1)) text += ", dilation=" + tuple(o.dilation());
  if (!all_are(o.output_padding(), 0)) text += ", output_padding=" + tuple(o.output_padding());
  if (o.groups() != 1) text += ", groups=" + std::to_string(o.groups());
  if (!o.bias()) text += ", bias=" + detail::written(false);
  if (o.padding_mode().index() != 0)
    text += ", padding_mode=" +
            detail::either(kPaddingModes[o.padding_mode().index()], enumtype::get_enum_name(o.padding_mode()));
  detail::print_line(stream, *this, text);
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve(const Tensor& input) {
  const auto& o = options;
  if (o.padding_mode().index() != 0) {
    const Tensor padded = pad(input, _reversed_padding_repeated_twice, kPaddingModes[o.padding_mode().index()]);
    return conv<D>(padded, weight, bias, o.stride(), IntArrayRef(*ExpandingArray<D>(0)), o.dilation(), o.groups());
  }
  if (auto* numbers = std::get_if<ExpandingArray<D>>(&o.padding()))
    return conv<D>(input, weight, bias, o.stride(), IntArrayRef(*numbers), o.dilation(), o.groups());
  const char* mode = std::holds_alternative<enumtype::kSame>(o.padding()) ? "same" : "valid";
  return conv<D>(input, weight, bias, o.stride(), PaddingMode(mode), o.dilation(), o.groups());
}

template <size_t D, class Derived>
Tensor ConvNdImpl<D, Derived>::convolve_transposed(const Tensor& input, const OptionalIntArrayRef& output_size) {
  const auto& o = options;
  const Dims extra = output_padding(input, output_size);
  const IntArrayRef padding = std::get<ExpandingArray<D>>(o.padding());
  if constexpr (D == 1)
    return conv_transpose1d(input, weight, bias, o.stride(), padding, extra, o.groups(), o.dilation());
  if constexpr (D == 2)
    return conv_transpose2d(input, weight, bias, o.stride(), padding, extra, o.groups(), o.dilation());
  if constexpr (D == 3)
    return conv_transpose3d(input, weight, bias, o.stride(), padding, extra, o.groups(), o.dilation());
}

template <size_t D, class Derived>
Dims ConvNdImpl<D, Derived>::output_padding(const Tensor& input, const OptionalIntArrayRef& output_size) const {
  if (!output_size) return Dims(IntArrayRef(options.output_padding()));
  const int64_t rank = static_cast<int64_t>(D);
  const size_t around = static_cast<size_t>(std::max<int64_t>(input.dim() - rank, 0));
  CRESSET_CHECK_AS(ValueError, output_size->size() == D || output_size->size() == D + around, "ConvTranspose", D,
                   "d: for ", input.dim(), "D input, output_size must have ", D, " or ", D + around, " elements (got ",
                   output_size->size(), ")");
  const IntArrayRef wanted = output_size->slice(output_size->size() - D);
  Dims extra;
  for (size_t i = 0; i < D; i++) {
    const int64_t stride = options.stride()->at(i);
    const int64_t least = (input.size(static_cast<int64_t>(i) - rank) - 1) * stride -
                          2 * std::get<ExpandingArray<D>>(options.padding())->at(i) +
                          options.dilation()->at(i) * (options.kernel_size()->at(i) - 1) + 1;
    CRESSET_CHECK_AS(ValueError, wanted[i] >= least && wanted[i] < least + stride, "ConvTranspose", D,
                     "d: requested an output size of ", text_of(wanted), ", but dimension ", i, " can only be from ",
                     least, " to ", least + stride - 1, " for an input of shape ", text_of(input.sizes()));
    extra.push_back(wanted[i] - least);
  }
  return extra;
}

#define CRESSET_CONV_LAYERS(rank)                                                                           \
  template class ConvNdImpl<rank, Conv##rank##dImpl>;                                                       \
  template class ConvNdImpl<rank, ConvTranspose##rank##dImpl>;                                              \
  Conv##rank##dImpl::Conv##rank##dImpl(Conv##rank##dOptions options_) : ConvNdImpl(joined(options_)) {}     \
  Tensor Conv##rank##dImpl::forward(const Tensor& input) { return convolve(input); }                        \
  ConvTranspose##rank##dImpl::ConvTranspose##rank##dImpl(ConvTranspose##rank##dOptions options_)            \
      : ConvNdImpl(joined(options_)) {}                                                                     \
  Tensor ConvTranspose##rank##dImpl::forward(const Tensor& input, const OptionalIntArrayRef& output_size) { \
    return convolve_transposed(input, output_size);                                                         \
  }
CRESSET_CONV_LAYERS(1)
CRESSET_CONV_LAYERS(2)
CRESSET_CONV_LAYERS(3)
#undef CRESSET_CONV_LAYERS

CRESSET_FORWARD_DEFAULTS(ConvTranspose1dImpl, {1, AnyValue(OptionalIntArrayRef())})
CRESSET_FORWARD_DEFAULTS(ConvTranspose2dImpl, {1, AnyValue(OptionalIntArrayRef())})
CRESSET_FORWARD_DEFAULTS(ConvTranspose3dImpl, {1, AnyValue(OptionalIntArrayRef())})

}  // namespace cresset::nn
