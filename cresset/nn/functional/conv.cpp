#include "cresset/nn/functional/conv.h"

#include "cresset/ops/conv.h"

namespace cresset::nn::functional {
namespace {

// The two overloads of an op, for numbers and for "same" or "valid", by what the options hold.
template <class Op, size_t D>
Tensor convolve(Op op, const Tensor& input, const Tensor& weight, const ConvFuncOptions<D>& o) {
  if (auto* numbers = std::get_if<ExpandingArray<D>>(&o.padding()))
    return op(input, weight, o.bias(), o.stride(), IntArrayRef(*numbers), o.dilation(), o.groups());
  const char* mode = std::holds_alternative<enumtype::kSame>(o.padding()) ? "same" : "valid";
  return op(input, weight, o.bias(), o.stride(), PaddingMode(mode), o.dilation(), o.groups());
}

}  // namespace

#define CRESSET_CONVOLUTION(rank)                                                                                 \
  Tensor conv##rank##d(const Tensor& input, const Tensor& weight, const Conv##rank##dFuncOptions& options) {      \
    return convolve([](const auto&... args) { return cresset::conv##rank##d(args...); }, input, weight, options); \
  }                                                                                                               \
  Tensor conv_transpose##rank##d(const Tensor& input, const Tensor& weight,                                       \
                                 const ConvTranspose##rank##dFuncOptions& o) {                                    \
    return cresset::conv_transpose##rank##d(input, weight, o.bias(), o.stride(), o.padding(), o.output_padding(), \
                                            o.groups(), o.dilation());                                            \
  }
CRESSET_CONVOLUTION(1)
CRESSET_CONVOLUTION(2)
CRESSET_CONVOLUTION(3)
#undef CRESSET_CONVOLUTION

}  // namespace cresset::nn::functional
