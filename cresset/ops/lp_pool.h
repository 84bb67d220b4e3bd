// Pools by the p-norm of a window.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

// The root of the sum of powers, norm_type being the exponent. As in PyTorch, a window that reaches beyond the input
// (ceil_mode) counts as if the rest of it were like the part inside.
CRESSET_API Tensor lp_pool1d(const Tensor& self, const Scalar& norm_type, IntArrayRef kernel_size,
                             IntArrayRef stride = {}, bool ceil_mode = false);
CRESSET_API Tensor lp_pool2d(const Tensor& self, const Scalar& norm_type, IntArrayRef kernel_size,
                             IntArrayRef stride = {}, bool ceil_mode = false);

}  // namespace cresset
