// Options of distances.
#pragma once

#include "cresset/core/arg.h"
#include "cresset/core/shape.h"

namespace cresset::nn {

struct CRESSET_API CosineSimilarityOptions {
  CRESSET_ARG(int64_t, dim) = 1;
  CRESSET_ARG(double, eps) = 1e-8;
};

struct CRESSET_API PairwiseDistanceOptions {
  CRESSET_ARG(double, p) = 2.0;
  CRESSET_ARG(double, eps) = 1e-6;
  CRESSET_ARG(bool, keepdim) = false;
};

namespace functional {
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;
}  // namespace functional

}  // namespace cresset::nn
