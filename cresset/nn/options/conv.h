// Options of convolutions.
#pragma once

#include <variant>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/nn/enums.h"
#include "cresset/nn/expanding_array.h"

namespace cresset::nn {
namespace detail {

using conv_padding_mode_t =
    enumtype::Choice<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D>
using conv_padding_t = std::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

// What plain and transposed convolutions have together; their modules hold this one.
template <size_t D>
struct CRESSET_API ConvNdOptions {
  using padding_t = conv_padding_t<D>;
  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  CRESSET_ARG(int64_t, in_channels);
  CRESSET_ARG(int64_t, out_channels);
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride) = 1;
  CRESSET_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(ExpandingArray<D>(list)); }
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
  CRESSET_ARG(bool, transposed) = false;
  CRESSET_ARG(ExpandingArray<D>, output_padding) = 0;
  CRESSET_ARG(int64_t, groups) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(conv_padding_mode_t, padding_mode) = kZeros;
};

}  // namespace detail

template <size_t D>
struct CRESSET_API ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  CRESSET_ARG(int64_t, in_channels);
  CRESSET_ARG(int64_t, out_channels);
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride) = 1;
  CRESSET_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(ExpandingArray<D>(list)); }
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
  CRESSET_ARG(int64_t, groups) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(padding_mode_t, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

template <size_t D>
struct CRESSET_API ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  CRESSET_ARG(int64_t, in_channels);
  CRESSET_ARG(int64_t, out_channels);
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride) = 1;
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
  CRESSET_ARG(ExpandingArray<D>, output_padding) = 0;
  CRESSET_ARG(int64_t, groups) = 1;
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
  CRESSET_ARG(padding_mode_t, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

// The number of input channels is found by the first forward.
template <size_t D>
struct CRESSET_API LazyConvOptions : ConvOptions<D> {
  LazyConvOptions(int64_t out_channels, ExpandingArray<D> kernel_size) : ConvOptions<D>(0, out_channels, kernel_size) {}
  LazyConvOptions(const ConvOptions<D>& options) : ConvOptions<D>(options) {}
};
using LazyConv1dOptions = LazyConvOptions<1>;
using LazyConv2dOptions = LazyConvOptions<2>;
using LazyConv3dOptions = LazyConvOptions<3>;

template <size_t D>
struct CRESSET_API LazyConvTransposeOptions : ConvTransposeOptions<D> {
  LazyConvTransposeOptions(int64_t out_channels, ExpandingArray<D> kernel_size)
      : ConvTransposeOptions<D>(0, out_channels, kernel_size) {}
  LazyConvTransposeOptions(const ConvTransposeOptions<D>& options) : ConvTransposeOptions<D>(options) {}
};
using LazyConvTranspose1dOptions = LazyConvTransposeOptions<1>;
using LazyConvTranspose2dOptions = LazyConvTransposeOptions<2>;
using LazyConvTranspose3dOptions = LazyConvTransposeOptions<3>;

namespace functional {

template <size_t D>
struct CRESSET_API ConvFuncOptions {
  using padding_t = nn::detail::conv_padding_t<D>;
  CRESSET_ARG(Tensor, bias) = Tensor();  // NOLINT(performance-unnecessary-value-param): it is moved from
  CRESSET_ARG(ExpandingArray<D>, stride) = 1;
  CRESSET_ARG(padding_t, padding) = ExpandingArray<D>(0);

 public:
  decltype(auto) padding(std::initializer_list<int64_t> list) { return padding(ExpandingArray<D>(list)); }
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
  CRESSET_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
struct CRESSET_API ConvTransposeFuncOptions {
  CRESSET_ARG(Tensor, bias) = Tensor();  // NOLINT(performance-unnecessary-value-param): it is moved from
  CRESSET_ARG(ExpandingArray<D>, stride) = 1;
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
  CRESSET_ARG(ExpandingArray<D>, output_padding) = 0;
  CRESSET_ARG(int64_t, groups) = 1;
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

}  // namespace functional
}  // namespace cresset::nn
