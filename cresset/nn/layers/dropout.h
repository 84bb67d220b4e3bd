// Dropout as layers: in training only.
#pragma once

#include "cresset/nn/layers/stateless.h"
#include "cresset/nn/options/dropout.h"

namespace cresset::nn {

template <class Derived>
class CRESSET_API DropoutImplBase : public Stateless<Derived, DropoutOptions> {
 public:
  explicit DropoutImplBase(const DropoutOptions& options_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
};

#define CRESSET_DROPOUT_LAYER(Name)                                                    \
  struct CRESSET_API Name##Impl : DropoutImplBase<Name##Impl> {                        \
    CRESSET_IF_CALLED explicit Name##Impl(double p) : Name##Impl(DropoutOptions(p)) {} \
    explicit Name##Impl(const Name##Options& options = {});                            \
    Tensor forward(Tensor input);                                                      \
  };                                                                                   \
  extern template class DropoutImplBase<Name##Impl>;                                   \
  CRESSET_LAYER(Name)
CRESSET_DROPOUT_LAYER(Dropout);
CRESSET_DROPOUT_LAYER(Dropout1d);  // whole channels
CRESSET_DROPOUT_LAYER(Dropout2d);
CRESSET_DROPOUT_LAYER(Dropout3d);
CRESSET_DROPOUT_LAYER(AlphaDropout);
CRESSET_DROPOUT_LAYER(FeatureAlphaDropout);
#undef CRESSET_DROPOUT_LAYER

}  // namespace cresset::nn
