// Initial values of parameters. Each function fills the tensor in place, outside any graph, and returns it.
#pragma once

#include <tuple>

#include "cresset/core/tensor.h"
#include "cresset/nn/enums.h"

namespace cresset::nn::init {

using NonlinearityType =
    enumtype::Choice<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D,
                     enumtype::kConvTranspose1D, enumtype::kConvTranspose2D, enumtype::kConvTranspose3D,
                     enumtype::kSigmoid, enumtype::kTanh, enumtype::kReLU, enumtype::kLeakyReLU, enumtype::kSELU>;
using FanModeType = enumtype::Choice<enumtype::kFanIn, enumtype::kFanOut>;

// By how much a layer must amplify so that the variance survives the nonlinearity; param is LeakyReLU's slope.
CRESSET_API double calculate_gain(NonlinearityType nonlinearity, double param = 0.01);

CRESSET_API Tensor constant_(Tensor tensor, Scalar value);
CRESSET_API Tensor ones_(Tensor tensor);
CRESSET_API Tensor zeros_(Tensor tensor);
CRESSET_API Tensor eye_(Tensor matrix);
// The identity for convolutions: as many channels as possible pass through, in each group.
CRESSET_API Tensor dirac_(Tensor tensor, int64_t groups = 1);
CRESSET_API Tensor uniform_(Tensor tensor, double low = 0, double high = 1);
CRESSET_API Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
// Normal, but never outside [a, b].
CRESSET_API Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
CRESSET_API Tensor xavier_uniform_(Tensor tensor, double gain = 1.0);
CRESSET_API Tensor xavier_normal_(Tensor tensor, double gain = 1.0);
CRESSET_API Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                    NonlinearityType nonlinearity = kLeakyReLU);
CRESSET_API Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = kFanIn,
                                   NonlinearityType nonlinearity = kLeakyReLU);
// Rows (or columns, whichever are fewer) are orthonormal, times gain.
CRESSET_API Tensor orthogonal_(Tensor tensor, double gain = 1.0);
// A fraction of each column is zero, the rest is normal.
CRESSET_API Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

CRESSET_API std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor);

}  // namespace cresset::nn::init
