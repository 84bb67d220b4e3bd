// Options of norms.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"

namespace cresset::distributed {
class ProcessGroup;
}

namespace cresset::nn {

struct CRESSET_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  CRESSET_ARG(int64_t, num_features);
  CRESSET_ARG(double, eps) = 1e-5;
  CRESSET_ARG(std::optional<double>, momentum) = 0.1;  // none: the mean of all batches so far
  CRESSET_ARG(bool, affine) = true;
  CRESSET_ARG(bool, track_running_stats) = true;
  CRESSET_ARG(std::shared_ptr<distributed::ProcessGroup>, process_group);  // of a synchronised one; null: the default
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;
using SyncBatchNormOptions = BatchNormOptions;

struct CRESSET_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  CRESSET_ARG(int64_t, num_features);
  CRESSET_ARG(double, eps) = 1e-5;
  CRESSET_ARG(double, momentum) = 0.1;
  CRESSET_ARG(bool, affine) = false;
  CRESSET_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

// The number of features is found by the first forward.
struct CRESSET_API LazyBatchNormOptions : BatchNormOptions {
  LazyBatchNormOptions() : BatchNormOptions(0) {}
  LazyBatchNormOptions(const BatchNormOptions& options) : BatchNormOptions(options) {}
};
struct CRESSET_API LazyInstanceNormOptions : InstanceNormOptions {
  LazyInstanceNormOptions() : InstanceNormOptions(0) {}
  LazyInstanceNormOptions(const InstanceNormOptions& options) : InstanceNormOptions(options) {}
};

struct CRESSET_API LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  CRESSET_ARG(std::vector<int64_t>, normalized_shape);
  CRESSET_ARG(double, eps) = 1e-5;
  CRESSET_ARG(bool, elementwise_affine) = true;
  CRESSET_ARG(bool, bias) = true;
};

struct CRESSET_API RMSNormOptions {
  RMSNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  CRESSET_ARG(std::vector<int64_t>, normalized_shape);
  CRESSET_ARG(std::optional<double>, eps) = std::nullopt;  // none: the dtype's own epsilon
  CRESSET_ARG(bool, elementwise_affine) = true;
};

struct CRESSET_API LocalResponseNormOptions {
  LocalResponseNormOptions(int64_t size) : size_(size) {}
  CRESSET_ARG(int64_t, size);
  CRESSET_ARG(double, alpha) = 1e-4;
  CRESSET_ARG(double, beta) = 0.75;
  CRESSET_ARG(double, k) = 1.;
};

struct CRESSET_API CrossMapLRN2dOptions {
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}
  CRESSET_ARG(int64_t, size);
  CRESSET_ARG(double, alpha) = 1e-4;
  CRESSET_ARG(double, beta) = 0.75;
  CRESSET_ARG(double, k) = 1;
};

struct CRESSET_API GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  CRESSET_ARG(int64_t, num_groups);
  CRESSET_ARG(int64_t, num_channels);
  CRESSET_ARG(double, eps) = 1e-5;
  CRESSET_ARG(bool, affine) = true;
};

namespace functional {

using LocalResponseNormFuncOptions = LocalResponseNormOptions;
using CrossMapLRN2dFuncOptions = CrossMapLRN2dOptions;

struct CRESSET_API BatchNormFuncOptions {
  CRESSET_ARG(Tensor, weight) = Tensor();
  CRESSET_ARG(Tensor, bias) = Tensor();
  CRESSET_ARG(bool, training) = false;
  CRESSET_ARG(std::optional<double>, momentum) = 0.1;
  CRESSET_ARG(double, eps) = 1e-5;
};

struct CRESSET_API InstanceNormFuncOptions {
  CRESSET_ARG(Tensor, running_mean) = Tensor();
  CRESSET_ARG(Tensor, running_var) = Tensor();
  CRESSET_ARG(Tensor, weight) = Tensor();
  CRESSET_ARG(Tensor, bias) = Tensor();
  CRESSET_ARG(bool, use_input_stats) = true;
  CRESSET_ARG(double, momentum) = 0.1;
  CRESSET_ARG(double, eps) = 1e-5;
};

struct CRESSET_API LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  CRESSET_ARG(std::vector<int64_t>, normalized_shape);
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(Tensor, bias) = {};
  CRESSET_ARG(double, eps) = 1e-5;
};

struct CRESSET_API RMSNormFuncOptions {
  RMSNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  CRESSET_ARG(std::vector<int64_t>, normalized_shape);
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(std::optional<double>, eps) = std::nullopt;
};

struct CRESSET_API GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  CRESSET_ARG(int64_t, num_groups);
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(Tensor, bias) = {};
  CRESSET_ARG(double, eps) = 1e-5;
};

struct CRESSET_API NormalizeFuncOptions {
  CRESSET_ARG(double, p) = 2.0;
  CRESSET_ARG(int64_t, dim) = 1;
  CRESSET_ARG(double, eps) = 1e-12;
  CRESSET_ARG(std::optional<Tensor>, out) = std::nullopt;
};

}  // namespace functional
}  // namespace cresset::nn
