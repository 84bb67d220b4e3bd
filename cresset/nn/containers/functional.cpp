#include "cresset/nn/containers/functional.h"

#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

FunctionalImpl::FunctionalImpl(Function function) : function_(std::move(function)) {
  CRESSET_CHECK_AS(ValueError, function_, "Functional: found an empty function");
}

void FunctionalImpl::pretty_print(std::ostream& stream) const { detail::print_line(stream, *this); }

}  // namespace cresset::nn
