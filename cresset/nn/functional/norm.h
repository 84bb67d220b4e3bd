// Norms as functions.
#pragma once

#include "cresset/nn/options/norm.h"

namespace cresset::nn::functional {

// Running statistics may be undefined in training; they are written to otherwise.
CRESSET_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                              const BatchNormFuncOptions& options = {});
CRESSET_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});
CRESSET_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
CRESSET_API Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options);
CRESSET_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
CRESSET_API Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options);
CRESSET_API Tensor cross_map_lrn2d(const Tensor& input, const CrossMapLRN2dFuncOptions& options);
CRESSET_API Tensor normalize(const Tensor& input, NormalizeFuncOptions options = {});

namespace detail {
// A mean of one value has no variance: refused, as in PyTorch.
CRESSET_API void check_batch_statistics(const Tensor& input);
}  // namespace detail

}  // namespace cresset::nn::functional
