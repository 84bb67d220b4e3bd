// Options of losses.
#pragma once

#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/nn/enums.h"

namespace cresset::nn {

namespace detail {
// In the order of ops' Reduction, so that an index is its number.
using loss_reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kMean, enumtype::kSum>;
}  // namespace detail

// So that a bare kSum converts: F::mse_loss(x, y, kSum).
#define CRESSET_REDUCTION_ALONE(Options)                        \
  using reduction_t = detail::loss_reduction_t;                 \
  Options() {}                                                  \
  Options(enumtype::kNone reduction) : reduction_(reduction) {} \
  Options(enumtype::kMean reduction) : reduction_(reduction) {} \
  Options(enumtype::kSum reduction) : reduction_(reduction) {}  \
  CRESSET_ARG(reduction_t, reduction) = kMean

struct CRESSET_API L1LossOptions {
  CRESSET_REDUCTION_ALONE(L1LossOptions);
};

struct CRESSET_API MSELossOptions {
  CRESSET_REDUCTION_ALONE(MSELossOptions);
};

struct CRESSET_API MultiLabelMarginLossOptions {
  CRESSET_REDUCTION_ALONE(MultiLabelMarginLossOptions);
};

struct CRESSET_API SoftMarginLossOptions {
  CRESSET_REDUCTION_ALONE(SoftMarginLossOptions);
};

struct CRESSET_API SmoothL1LossOptions {
  CRESSET_REDUCTION_ALONE(SmoothL1LossOptions);
  CRESSET_ARG(double, beta) = 1.0;
};

struct CRESSET_API HuberLossOptions {
  CRESSET_REDUCTION_ALONE(HuberLossOptions);
  CRESSET_ARG(double, delta) = 1.0;
};

#undef CRESSET_REDUCTION_ALONE

struct CRESSET_API KLDivLossOptions {
  using reduction_t = enumtype::Choice<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  KLDivLossOptions() {}
  KLDivLossOptions(enumtype::kNone reduction) : reduction_(reduction) {}
  KLDivLossOptions(enumtype::kBatchMean reduction) : reduction_(reduction) {}
  KLDivLossOptions(enumtype::kSum reduction) : reduction_(reduction) {}
  KLDivLossOptions(enumtype::kMean reduction) : reduction_(reduction) {}
  CRESSET_ARG(reduction_t, reduction) = kMean;
  CRESSET_ARG(bool, log_target) = false;
};

struct CRESSET_API BCELossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API BCEWithLogitsLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(reduction_t, reduction) = kMean;
  CRESSET_ARG(Tensor, pos_weight) = {};
};

struct CRESSET_API HingeEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(double, margin) = 1.0;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API MultiMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(int64_t, p) = 1;
  CRESSET_ARG(double, margin) = 1.0;
  CRESSET_ARG(Tensor, weight) = Tensor();
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API CosineEmbeddingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(double, margin) = 0.0;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API MultiLabelSoftMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(Tensor, weight) = Tensor();
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API TripletMarginLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(double, margin) = 1.0;
  CRESSET_ARG(double, p) = 2.0;
  CRESSET_ARG(double, eps) = 1e-6;
  CRESSET_ARG(bool, swap) = false;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API TripletMarginWithDistanceLossOptions {
  using reduction_t = detail::loss_reduction_t;
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  CRESSET_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  CRESSET_ARG(double, margin) = 1.0;
  CRESSET_ARG(bool, swap) = false;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API CTCLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(int64_t, blank) = 0;
  CRESSET_ARG(reduction_t, reduction) = kMean;
  CRESSET_ARG(bool, zero_infinity) = false;
};

struct CRESSET_API PoissonNLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(bool, log_input) = true;
  CRESSET_ARG(bool, full) = false;
  CRESSET_ARG(double, eps) = 1e-8;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API GaussianNLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(bool, full) = false;
  CRESSET_ARG(double, eps) = 1e-6;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API MarginRankingLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(double, margin) = 0;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API NLLLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(int64_t, ignore_index) = -100;
  CRESSET_ARG(reduction_t, reduction) = kMean;
};

struct CRESSET_API CrossEntropyLossOptions {
  using reduction_t = detail::loss_reduction_t;
  CRESSET_ARG(Tensor, weight) = {};
  CRESSET_ARG(int64_t, ignore_index) = -100;
  CRESSET_ARG(reduction_t, reduction) = kMean;
  CRESSET_ARG(double, label_smoothing) = 0.0;
};

struct CRESSET_API AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  CRESSET_ARG(int64_t, in_features);
  CRESSET_ARG(int64_t, n_classes);
  CRESSET_ARG(std::vector<int64_t>, cutoffs);
  CRESSET_ARG(double, div_value) = 4.;
  CRESSET_ARG(bool, head_bias) = false;
};

namespace functional {
using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using GaussianNLLLossFuncOptions = GaussianNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
}  // namespace functional

}  // namespace cresset::nn
