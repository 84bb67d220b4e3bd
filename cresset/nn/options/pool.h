// Options of pools. A stride that is not given is the window's size.
#pragma once

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/nn/expanding_array.h"

namespace cresset::nn {

template <size_t D>
struct CRESSET_API AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride);
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
  CRESSET_ARG(bool, ceil_mode) = false;
  CRESSET_ARG(bool, count_include_pad) = true;
  CRESSET_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

template <size_t D>
struct CRESSET_API MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride);
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
  CRESSET_ARG(ExpandingArray<D>, dilation) = 1;
  CRESSET_ARG(bool, ceil_mode) = false;
};
using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;

template <class output_size_t>
struct CRESSET_API AdaptivePoolOptions {
  AdaptivePoolOptions(output_size_t output_size) : output_size_(output_size) {}
  CRESSET_ARG(output_size_t, output_size);
};
template <class output_size_t>
using AdaptiveMaxPoolOptions = AdaptivePoolOptions<output_size_t>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;
template <class output_size_t>
using AdaptiveAvgPoolOptions = AdaptivePoolOptions<output_size_t>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;

template <size_t D>
struct CRESSET_API MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride);
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
};
using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

// output_size, or output_ratio of the input's size. _random_samples fixes where the windows lie.
template <size_t D>
struct CRESSET_API FractionalMaxPoolOptions {
  using ExpandingArrayDouble = ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(std::optional<ExpandingArray<D>>, output_size) = std::nullopt;
  CRESSET_ARG(std::optional<ExpandingArrayDouble>, output_ratio) = std::nullopt;
  CRESSET_ARG(Tensor, _random_samples) = Tensor();  // NOLINT(performance-unnecessary-value-param): it is moved from
};
using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

template <size_t D>
struct CRESSET_API LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  CRESSET_ARG(double, norm_type);
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride);
  CRESSET_ARG(bool, ceil_mode) = false;
};
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

namespace functional {

using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;

template <size_t D>
struct CRESSET_API MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  CRESSET_ARG(ExpandingArray<D>, kernel_size);
  CRESSET_ARG(ExpandingArray<D>, stride);
  CRESSET_ARG(ExpandingArray<D>, padding) = 0;
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  CRESSET_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

}  // namespace functional
}  // namespace cresset::nn
