// Options of padding: two numbers for each direction, the last direction's first, or one number for all.
#pragma once

#include <variant>

#include "cresset/core/arg.h"
#include "cresset/nn/enums.h"
#include "cresset/nn/expanding_array.h"

namespace cresset::nn {

// For pads that need nothing but the amounts.
template <size_t D>
struct CRESSET_API PadOptions {
  PadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  CRESSET_ARG(ExpandingArray<D * 2>, padding);
};
template <size_t D>
using ReflectionPadOptions = PadOptions<D>;
using ReflectionPad1dOptions = PadOptions<1>;
using ReflectionPad2dOptions = PadOptions<2>;
using ReflectionPad3dOptions = PadOptions<3>;
template <size_t D>
using ReplicationPadOptions = PadOptions<D>;
using ReplicationPad1dOptions = PadOptions<1>;
using ReplicationPad2dOptions = PadOptions<2>;
using ReplicationPad3dOptions = PadOptions<3>;
template <size_t D>
using CircularPadOptions = PadOptions<D>;
using CircularPad1dOptions = PadOptions<1>;
using CircularPad2dOptions = PadOptions<2>;
using CircularPad3dOptions = PadOptions<3>;
template <size_t D>
using ZeroPadOptions = PadOptions<D>;
using ZeroPad1dOptions = PadOptions<1>;
using ZeroPad2dOptions = PadOptions<2>;
using ZeroPad3dOptions = PadOptions<3>;

template <size_t D>
struct CRESSET_API ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  CRESSET_ARG(ExpandingArray<D * 2>, padding);
  CRESSET_ARG(double, value);
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace functional {

struct CRESSET_API PadFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  CRESSET_ARG(std::vector<int64_t>, pad);
  CRESSET_ARG(mode_t, mode) = kConstant;
  CRESSET_ARG(double, value) = 0;
};

}  // namespace functional
}  // namespace cresset::nn
