// SPIKE. An op of a user's own, in a library of its own: declared like any op of the house.
#pragma once

#include <cresset/core/kernel.h>

namespace user {

using cresset::Tensor;

CRESSET_API inline constinit cresset::Kernel<void(const Tensor& out, const Tensor& x)> cubed_kernel{"cubed"};

CRESSET_API Tensor cubed(const Tensor& self);
CRESSET_API Tensor& cubed_(const Tensor& self);
CRESSET_API Tensor& cubed_out(Tensor& out, const Tensor& self);

}  // namespace user
