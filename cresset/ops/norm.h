// Norms: over the last dimensions (layer, rms), over groups of channels (group, instance) and over the batch.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// The first `leading` dimensions of x number the rows. mean and rstd, 1 / sqrt(variance + eps), are contiguous, one
// for each row, in the type that x computes in. weight and bias may be undefined, as may dw and db; those that are
// defined are contiguous.
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                           const Tensor& weight, const Tensor& bias, int64_t leading, double eps)>,
               layer_norm_kernel, "layer_norm", 3);
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                           const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t leading)>,
               layer_norm_backward_kernel, "layer_norm_backward", 3);
// rstd is 1 / sqrt(mean(x^2) + eps).
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& rstd, const Tensor& x, const Tensor& weight, int64_t leading,
                           double eps)>,
               rms_norm_kernel, "rms_norm", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& dw, const Tensor& g, const Tensor& x, const Tensor& rstd,
                           const Tensor& weight, int64_t leading)>,
               rms_norm_backward_kernel, "rms_norm_backward", 2);

// x is [batch, channels, ..]. mean and rstd are [batch, groups].
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& mean, const Tensor& rstd, const Tensor& x,
                           const Tensor& weight, const Tensor& bias, int64_t groups, double eps)>,
               group_norm_kernel, "group_norm", 3);
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                           const Tensor& mean, const Tensor& rstd, const Tensor& weight, int64_t groups)>,
               group_norm_backward_kernel, "group_norm_backward", 3);
// mean and rstd of each channel; running statistics, where defined, move by `momentum` towards mean and variance.
CRESSET_KERNEL(Kernel<void(const Tensor& mean, const Tensor& rstd, const Tensor& running_mean,
                           const Tensor& running_var, const Tensor& x, double momentum, double eps)>,
               batch_norm_stats_kernel, "batch_norm_stats", 4);
// rstd = 1 / sqrt(variance + eps)
CRESSET_KERNEL(Kernel<void(const Tensor& rstd, const Tensor& variance, double eps)>, batch_norm_rstd_kernel,
               "batch_norm_rstd");
CRESSET_KERNEL(Kernel<void(const Tensor& y, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                           const Tensor& weight, const Tensor& bias)>,
               batch_norm_kernel, "batch_norm");
// With batch_stats, mean and rstd depend on x.
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& dw, const Tensor& db, const Tensor& g, const Tensor& x,
                           const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool batch_stats)>,
               batch_norm_backward_kernel, "batch_norm_backward", 3);

// (x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions, whose sizes are normalized_shape.
CRESSET_API Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {},
                              const Tensor& bias = {}, double eps = 1e-5, bool cudnn_enable = true);
// The result, the means and 1 / sqrt(variance + eps). Only the result has a gradient.
CRESSET_API std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                                                                 const Tensor& weight, const Tensor& bias, double eps);
// x / sqrt(mean(x^2) + eps) * weight over the last dimensions. No eps: the dtype's own.
CRESSET_API Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {},
                            std::optional<double> eps = std::nullopt);
// Over each of num_groups groups of channels of each sample.
CRESSET_API Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = {},
                              const Tensor& bias = {}, double eps = 1e-5, bool cudnn_enabled = true);
// Over the batch and all positions, for each channel. In training the batch's own statistics are used, and the running
// ones move by momentum towards them.
CRESSET_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                              const Tensor& running_var, bool training, double momentum, double eps,
                              bool cudnn_enabled = true);
CRESSET_API std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight,
                                                                 const Tensor& bias, const Tensor& running_mean,
                                                                 const Tensor& running_var, bool training,
                                                                 double momentum, double eps);
// Over the positions of each channel of each sample.
CRESSET_API Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                 const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                                 double momentum, double eps, bool cudnn_enabled = true);

}  // namespace cresset
