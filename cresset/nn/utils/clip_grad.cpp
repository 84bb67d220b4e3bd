#include "cresset/nn/utils/clip_grad.h"

#include <cmath>
#include <unordered_set>

#include "cresset/ops/all.h"

namespace cresset::nn::utils {

namespace {
// Each gradient once, also when two of the parameters are one tensor.
std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> gradients;
  std::unordered_set<const void*> seen;
  for (const Tensor& parameter : parameters)
    if (parameter.defined() && parameter.grad().defined() && seen.insert(parameter.impl()).second)
      gradients.push_back(parameter.grad().detach());
  return gradients;
}
}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  std::vector<Tensor> gradients = gradients_of(parameters);
  if (gradients.empty()) return 0.0;
  NoGradGuard no_grad;
  std::vector<Tensor> norms;
  norms.reserve(gradients.size());
  // One pass over the gradients, and one value read for all of them: on a GPU each read would wait.
  for (const Tensor& gradient : gradients)
    norms.push_back(norm(gradient, Scalar(norm_type)).to(gradients[0].device(), kDouble));
  double total = norm(stack(norms), Scalar(norm_type)).item<double>();
  CRESSET_CHECK_AS(ValueError, !error_if_nonfinite || std::isfinite(total), "clip_grad_norm_: The total norm of order ",
                   norm_type,
                   " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
                   "scale the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  double scale = max_norm / (total + 1e-6);
  if (scale >= 1) return total;
  for (Tensor& gradient : gradients) gradient.mul_(scale);
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  NoGradGuard no_grad;
  for (Tensor& gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}

}  // namespace cresset::nn::utils
