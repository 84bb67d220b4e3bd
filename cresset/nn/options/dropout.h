// Options of dropout.
#pragma once

#include "cresset/core/arg.h"
#include "cresset/core/export.h"

namespace cresset::nn {

struct CRESSET_API DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  CRESSET_ARG(double, p) = 0.5;
  CRESSET_ARG(bool, inplace) = false;
};
using Dropout1dOptions = DropoutOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct CRESSET_API DropoutFuncOptions {
  CRESSET_ARG(double, p) = 0.5;
  CRESSET_ARG(bool, training) = true;
  CRESSET_ARG(bool, inplace) = false;
};
using Dropout1dFuncOptions = DropoutFuncOptions;
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

struct CRESSET_API AlphaDropoutFuncOptions {
  CRESSET_ARG(double, p) = 0.5;
  CRESSET_ARG(bool, training) = false;
  CRESSET_ARG(bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;

}  // namespace functional
}  // namespace cresset::nn
