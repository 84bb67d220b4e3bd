// Ops on the elements that a mask selects. The mask is bool (uint8 is taken, too) and broadcasts with self.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// x with `value` where the mask holds; x and mask broadcast to out, which has x's dtype.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Tensor& mask, const Scalar& value)>,
               masked_fill_kernel, "masked_fill");

CRESSET_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
CRESSET_API Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value);
CRESSET_API Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);  // value has no dimensions
CRESSET_API Tensor& masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value);
CRESSET_API Tensor masked_select(const Tensor& self, const Tensor& mask);
CRESSET_API Tensor& masked_select_out(Tensor& out, const Tensor& self, const Tensor& mask);
// The first elements of source, in row-major order, where the mask holds.
CRESSET_API Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
CRESSET_API Tensor& masked_scatter_(const Tensor& self, const Tensor& mask, const Tensor& source);

}  // namespace cresset
