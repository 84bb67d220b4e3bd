#include "cresset/nn/functional/padding.h"

#include "cresset/ops/pad.h"

namespace cresset::nn::functional {

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  if (options.mode().index() == 0) return cresset::pad(input, options.pad(), "constant", options.value());
  CRESSET_CHECK_AS(ValueError, options.value() == 0, "pad: found value ", options.value(),
                   " (expected 0: only mode kConstant takes one)");
  constexpr const char* modes[] = {"constant", "reflect", "replicate", "circular"};
  return cresset::pad(input, options.pad(), modes[options.mode().index()]);
}

}  // namespace cresset::nn::functional
