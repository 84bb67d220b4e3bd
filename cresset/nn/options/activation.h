// Options of activations.
#pragma once

#include <optional>
#include <string>

#include "cresset/core/arg.h"
#include "cresset/core/dtype.h"
#include "cresset/core/tensor.h"

namespace cresset::nn {

struct CRESSET_API ELUOptions {
  CRESSET_ARG(double, alpha) = 1.0;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API SELUOptions {
  SELUOptions(bool inplace = false) : inplace_(inplace) {}
  CRESSET_ARG(bool, inplace);
};

struct CRESSET_API GLUOptions {
  GLUOptions(int64_t dim = -1) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
};

struct CRESSET_API GELUOptions {
  CRESSET_ARG(std::string, approximate) = "none";  // or "tanh"
};

struct CRESSET_API HardshrinkOptions {
  HardshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  CRESSET_ARG(double, lambda);
};

struct CRESSET_API HardtanhOptions {
  CRESSET_ARG(double, min_val) = -1.0;
  CRESSET_ARG(double, max_val) = 1.0;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API LeakyReLUOptions {
  CRESSET_ARG(double, negative_slope) = 1e-2;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API SoftmaxOptions {
  SoftmaxOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
};
struct CRESSET_API SoftminOptions {
  SoftminOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
};
struct CRESSET_API LogSoftmaxOptions {
  LogSoftmaxOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
};

struct CRESSET_API PReLUOptions {
  CRESSET_ARG(int64_t, num_parameters) = 1;
  CRESSET_ARG(double, init) = 0.25;
};

// Activations whose one option is whether they write into their input.
struct CRESSET_API InplaceOptions {
  InplaceOptions(bool inplace = false) : inplace_(inplace) {}
  CRESSET_ARG(bool, inplace);
};
using ReLUOptions = InplaceOptions;
using ReLU6Options = InplaceOptions;
using SiLUOptions = InplaceOptions;
using MishOptions = InplaceOptions;
using HardswishOptions = InplaceOptions;
using HardsigmoidOptions = InplaceOptions;

struct CRESSET_API RReLUOptions {
  CRESSET_ARG(double, lower) = 1.0 / 8.0;
  CRESSET_ARG(double, upper) = 1.0 / 3.0;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API CELUOptions {
  CRESSET_ARG(double, alpha) = 1.0;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API SoftplusOptions {
  CRESSET_ARG(double, beta) = 1.0;
  CRESSET_ARG(double, threshold) = 20.0;
};

struct CRESSET_API SoftshrinkOptions {
  SoftshrinkOptions(double lambda = 0.5) : lambda_(lambda) {}
  CRESSET_ARG(double, lambda);
};

struct CRESSET_API ThresholdOptions {
  ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value) {}
  CRESSET_ARG(double, threshold);
  CRESSET_ARG(double, value);
  CRESSET_ARG(bool, inplace) = false;
};

namespace functional {

using ELUFuncOptions = ELUOptions;
using SELUFuncOptions = SELUOptions;
using GLUFuncOptions = GLUOptions;
using GELUFuncOptions = GELUOptions;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using SiLUFuncOptions = SiLUOptions;
using MishFuncOptions = MishOptions;
using HardswishFuncOptions = HardswishOptions;
using HardsigmoidFuncOptions = HardsigmoidOptions;
using CELUFuncOptions = CELUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;

struct CRESSET_API SoftmaxFuncOptions {
  SoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
  CRESSET_ARG(std::optional<DType>, dtype) = std::nullopt;
};
struct CRESSET_API SoftminFuncOptions {
  SoftminFuncOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
  CRESSET_ARG(std::optional<DType>, dtype) = std::nullopt;
};
struct CRESSET_API LogSoftmaxFuncOptions {
  LogSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  CRESSET_ARG(int64_t, dim);
  CRESSET_ARG(std::optional<DType>, dtype) = std::nullopt;
};

struct CRESSET_API RReLUFuncOptions {
  CRESSET_ARG(double, lower) = 1.0 / 8.0;
  CRESSET_ARG(double, upper) = 1.0 / 3.0;
  CRESSET_ARG(bool, training) = false;
  CRESSET_ARG(bool, inplace) = false;
};

struct CRESSET_API GumbelSoftmaxFuncOptions {
  CRESSET_ARG(double, tau) = 1.0;
  CRESSET_ARG(bool, hard) = false;
  CRESSET_ARG(int, dim) = -1;
};

}  // namespace functional
}  // namespace cresset::nn
