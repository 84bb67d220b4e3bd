// im2col and col2im: the blocks under a sliding window as columns, and columns added back. nn's Unfold and Fold.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// image is [N, C, H, W], columns [N, C * kernel elements, blocks]. `window` holds height and width of kernel, dilation,
// padding and stride, in this order.
CRESSET_KERNEL(Kernel<void(const Tensor& columns, const Tensor& image, IntArrayRef window)>, im2col_kernel, "im2col");
CRESSET_KERNEL(Kernel<void(const Tensor& image, const Tensor& columns, IntArrayRef window)>, col2im_kernel, "col2im");

CRESSET_API Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                          IntArrayRef stride);
CRESSET_API Tensor& im2col_out(Tensor& out, const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                               IntArrayRef padding, IntArrayRef stride);
CRESSET_API Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                          IntArrayRef padding, IntArrayRef stride);
CRESSET_API Tensor& col2im_out(Tensor& out, const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                               IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride);

}  // namespace cresset
