#include "cresset/nn/containers/functional.h"

namespace cresset::nn {

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {
  CRESSET_CHECK_AS(ValueError, function_, "Functional: found an empty function");
}

}  // namespace cresset::nn
