#include "cresset/nn/layers/distance.h"

#include "cresset/nn/functional/distance.h"
#include "cresset/nn/layers/describe.h"

namespace cresset::nn {

CosineSimilarityImpl::CosineSimilarityImpl(const CosineSimilarityOptions& options) : Stateless(options) {}
Tensor CosineSimilarityImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::cosine_similarity(x1, x2, options);
}
void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  detail::print_line(stream, *this,
                     detail::either("", message_of("dim=", options.dim(), ", eps=", detail::written(options.eps()))));
}

PairwiseDistanceImpl::PairwiseDistanceImpl(const PairwiseDistanceOptions& options) : Stateless(options) {}
Tensor PairwiseDistanceImpl::forward(const Tensor& x1, const Tensor& x2) {
  return functional::pairwise_distance(x1, x2, options);
}
void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  detail::print_line(
      stream, *this,
      detail::either("", "p=" + detail::written(options.p()) + ", eps=" + detail::written(options.eps()) +
                             ", keepdim=" + detail::written(options.keepdim())));
}

}  // namespace cresset::nn
