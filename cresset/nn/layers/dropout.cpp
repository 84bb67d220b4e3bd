#include "cresset/nn/layers/dropout.h"

#include "cresset/nn/functional/dropout.h"
#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

template <class Derived>
DropoutImplBase<Derived>::DropoutImplBase(const DropoutOptions& options_)
    : Stateless<Derived, DropoutOptions>(options_) {
  DropoutImplBase::reset();
}

template <class Derived>
void DropoutImplBase<Derived>::reset() {
  CRESSET_CHECK_AS(ValueError, this->options.p() >= 0 && this->options.p() <= 1, detail::layer_name(typeid(Derived)),
                   ": dropout probability has to be between 0 and 1, but got ", this->options.p());
}

template <class Derived>
void DropoutImplBase<Derived>::pretty_print(std::ostream& stream) const {
  detail::print_line(
      stream, *this,
      "p=" + detail::written(this->options.p()) + ", inplace=" + detail::written(this->options.inplace()));
}

#define CRESSET_DROPOUT_LAYER(Name, function, FuncOptions)                                            \
  template class DropoutImplBase<Name##Impl>;                                                         \
  Name##Impl::Name##Impl(const Name##Options& options) : DropoutImplBase(options) {}                  \
  Tensor Name##Impl::forward(Tensor input) {                                                          \
    return functional::function(                                                                      \
        std::move(input),                                                                             \
        functional::FuncOptions().p(options.p()).training(is_training()).inplace(options.inplace())); \
  }
CRESSET_DROPOUT_LAYER(Dropout, dropout, DropoutFuncOptions)
CRESSET_DROPOUT_LAYER(Dropout1d, dropout1d, DropoutFuncOptions)
CRESSET_DROPOUT_LAYER(Dropout2d, dropout2d, DropoutFuncOptions)
CRESSET_DROPOUT_LAYER(Dropout3d, dropout3d, DropoutFuncOptions)
CRESSET_DROPOUT_LAYER(AlphaDropout, alpha_dropout, AlphaDropoutFuncOptions)
CRESSET_DROPOUT_LAYER(FeatureAlphaDropout, feature_alpha_dropout, AlphaDropoutFuncOptions)

}  // namespace cresset::nn
