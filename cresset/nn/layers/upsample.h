// Upsample: interpolate as a layer.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/upsample.h"

namespace cresset::nn {

struct CRESSET_API UpsampleImpl : Stateless<UpsampleImpl, UpsampleOptions> {
  explicit UpsampleImpl(const UpsampleOptions& options = {});
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
CRESSET_LAYER(Upsample);

}  // namespace cresset::nn
