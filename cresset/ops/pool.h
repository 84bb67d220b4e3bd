// Pools: the largest or the mean of windows, over one to three dimensions of positions. Tensors are
// [batch, channels, positions...], or lack the batch.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Lists have an entry for each dimension of positions, `rank` says how many there are. Indices count a plane's
// positions row by row; where they are undefined, nobody wants them.
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation)>,
               max_pool_kernel, "max_pool", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, int64_t rank)>,
               adaptive_max_pool_kernel, "adaptive_max_pool", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& values, const Tensor& indices, const Tensor& x, const Tensor& samples,
                           IntArrayRef kernel_size)>,
               fractional_max_pool_kernel, "fractional_max_pool", 2);
// y[.., i] = x[.., indices[.., i]]; its adjoint, which adds into zeros; and the same without adding: the last one
// stays.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, const Tensor& indices, int64_t rank)>, pool_pick_kernel,
               "pool_pick");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& indices, int64_t rank)>, pool_spread_kernel,
               "pool_spread");
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, const Tensor& indices, int64_t rank)>, max_unpool_kernel,
               "max_unpool");
// divisor: 0 for a window's size, with the padding in it or without.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool count_include_pad, int64_t divisor)>,
               avg_pool_kernel, "avg_pool");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, IntArrayRef kernel_size, IntArrayRef stride,
                           IntArrayRef padding, bool count_include_pad, int64_t divisor)>,
               avg_pool_backward_kernel, "avg_pool_backward");
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, int64_t rank)>, adaptive_avg_pool_kernel,
               "adaptive_avg_pool");
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, int64_t rank)>, adaptive_avg_pool_backward_kernel,
               "adaptive_avg_pool_backward");

// ---- windows at a stride (none: the windows' own size). One value stands for all directions. nan is above all.
CRESSET_API Tensor max_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API Tensor max_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API std::tuple<Tensor&, Tensor&> max_pool2d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& self,
                                                                     IntArrayRef kernel_size, IntArrayRef stride = {},
                                                                     IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                                                     bool ceil_mode = false);
CRESSET_API std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, IntArrayRef kernel_size,
                                                               IntArrayRef stride = {}, IntArrayRef padding = 0,
                                                               IntArrayRef dilation = 1, bool ceil_mode = false);
CRESSET_API std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out(Tensor& out, Tensor& indices, const Tensor& self,
                                                                     IntArrayRef kernel_size, IntArrayRef stride = {},
                                                                     IntArrayRef padding = 0, IntArrayRef dilation = 1,
                                                                     bool ceil_mode = false);
CRESSET_API Tensor avg_pool1d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true);
CRESSET_API Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                              std::optional<int64_t> divisor_override = std::nullopt);
CRESSET_API Tensor& avg_pool2d_out(Tensor& out, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                                   IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                                   std::optional<int64_t> divisor_override = std::nullopt);
CRESSET_API Tensor avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                              IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                              std::optional<int64_t> divisor_override = std::nullopt);
CRESSET_API Tensor& avg_pool3d_out(Tensor& out, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {},
                                   IntArrayRef padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                                   std::optional<int64_t> divisor_override = std::nullopt);

// ---- windows made to fit an output size
CRESSET_API Tensor adaptive_avg_pool1d(const Tensor& self, IntArrayRef output_size);
CRESSET_API Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size);
CRESSET_API Tensor& adaptive_avg_pool2d_out(Tensor& out, const Tensor& self, IntArrayRef output_size);
CRESSET_API Tensor adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size);
CRESSET_API Tensor& adaptive_avg_pool3d_out(Tensor& out, const Tensor& self, IntArrayRef output_size);
CRESSET_API std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntArrayRef output_size);
CRESSET_API std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, IntArrayRef output_size);
CRESSET_API std::tuple<Tensor&, Tensor&> adaptive_max_pool2d_out(Tensor& out, Tensor& indices, const Tensor& self,
                                                                 IntArrayRef output_size);
CRESSET_API std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, IntArrayRef output_size);
CRESSET_API std::tuple<Tensor&, Tensor&> adaptive_max_pool3d_out(Tensor& out, Tensor& indices, const Tensor& self,
                                                                 IntArrayRef output_size);

// ---- windows at random places: samples are [batch, channels, 2 or 3] numbers from 0 to 1
CRESSET_API std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size, const Tensor& random_samples);
CRESSET_API std::tuple<Tensor&, Tensor&> fractional_max_pool2d_out(Tensor& output, Tensor& indices, const Tensor& self,
                                                                   IntArrayRef kernel_size, IntArrayRef output_size,
                                                                   const Tensor& random_samples);
CRESSET_API std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& self, IntArrayRef kernel_size,
                                                             IntArrayRef output_size, const Tensor& random_samples);
CRESSET_API std::tuple<Tensor&, Tensor&> fractional_max_pool3d_out(Tensor& output, Tensor& indices, const Tensor& self,
                                                                   IntArrayRef kernel_size, IntArrayRef output_size,
                                                                   const Tensor& random_samples);

// ---- back to the places that a pool's indices name; zeros elsewhere
CRESSET_API Tensor max_unpool1d(const Tensor& self, const Tensor& indices, IntArrayRef output_size);
CRESSET_API Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size);
CRESSET_API Tensor& max_unpool2d_out(Tensor& out, const Tensor& self, const Tensor& indices, IntArrayRef output_size);
CRESSET_API Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                                IntArrayRef padding);
CRESSET_API Tensor& max_unpool3d_out(Tensor& out, const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                                     IntArrayRef stride, IntArrayRef padding);

// For formulas: picks a plane's elements by index, and its opposite, which adds into zeros of shape `sizes`.
CRESSET_API Tensor pool_pick(const Tensor& x, const Tensor& indices, int64_t rank);
CRESSET_API Tensor pool_spread(IntArrayRef sizes, MemoryFormat format, const Tensor& g, const Tensor& indices,
                               int64_t rank);

}  // namespace cresset
