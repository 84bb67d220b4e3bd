#include "cresset/nn/functional/norm.h"

#include "cresset/ops/all.h"

namespace cresset::nn::functional {

namespace detail {
void check_batch_statistics(const Tensor& input) {
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, "batch_norm: found input of shape ", text_of(input.sizes()),
                   " (expected [batch, channels, ...])");
  CRESSET_CHECK_AS(ValueError, input.size(1) == 0 || input.numel() / input.size(1) != 1,
                   "batch_norm: Expected more than 1 value per channel when training, got input size ",
                   text_of(input.sizes()));
}
}  // namespace detail

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  CRESSET_CHECK_AS(ValueError, options.momentum(), "batch_norm: found no momentum (expected a number)");
  if (options.training()) detail::check_batch_statistics(input);
  return cresset::batch_norm(input, options.weight(), options.bias(), running_mean, running_var, options.training(),
                             *options.momentum(), options.eps());
}

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& o) {
  if (o.use_input_stats() && input.dim() > 2) {
    int64_t positions = 1;
    for (int64_t d = 2; d < input.dim(); d++) positions *= input.size(d);
    CRESSET_CHECK_AS(ValueError, positions != 1,
                     "instance_norm: Expected more than 1 spatial element when training, got input size ",
                     text_of(input.sizes()));
  }
  return cresset::instance_norm(input, o.weight(), o.bias(), o.running_mean(), o.running_var(), o.use_input_stats(),
                                o.momentum(), o.eps());
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return cresset::layer_norm(input, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& o) {
  return cresset::rms_norm(input, o.normalized_shape(), o.weight(), o.eps());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return cresset::group_norm(input, o.num_groups(), o.weight(), o.bias(), o.eps());
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o) {
  const bool whole = isIntegralType(input.dtype(), /*includeBool=*/false);
  return cresset::local_response_norm(whole ? input.to(get_default_dtype()) : input, o.size(), o.alpha(), o.beta(),
                                      o.k());
}

// Unlike local_response_norm's, the window is symmetric: an even size sees one channel less, yet the sum is still
// divided by the size. PyTorch slides it along the channels and never takes the first one out again, which is kept
// here, since models were trained so. Its gradient is not the derivative (the window is shifted); here it is.
Tensor cross_map_lrn2d(const Tensor& input, const CrossMapLRN2dFuncOptions& o) {
  CRESSET_CHECK_AS(ShapeError, input.dim() == 4, "cross_map_lrn2d: found input of shape ", text_of(input.sizes()),
                   " (expected [batch, channels, height, width])");
  CRESSET_CHECK_AS(ValueError, o.size() > 0, "cross_map_lrn2d: found size ", o.size(), " (expected a positive number)");
  const int64_t reach = (o.size() - 1) / 2, channels = input.size(1);
  const Tensor squares = cresset::mul(input, input);
  Tensor means = cresset::avg_pool3d(cresset::unsqueeze(squares, 1), {2 * reach + 1, 1, 1}, 1, {reach, 0, 0}, false,
                                     true, o.size());
  means = cresset::squeeze(means, 1);
  if (channels > reach + 1) {
    const Tensor kept = cresset::div(cresset::slice(squares, 1, 0, 1), o.size());
    means = cresset::cat(
        {cresset::slice(means, 1, 0, reach + 1), cresset::add(cresset::slice(means, 1, reach + 1, channels), kept)}, 1);
  }
  const Tensor scale = cresset::add(cresset::mul(means, o.alpha()), o.k());
  return cresset::mul(input, cresset::pow(scale, -o.beta()));
}

Tensor normalize(const Tensor& input, NormalizeFuncOptions options) {
  Tensor result = cresset::normalize(input, options.p(), options.dim(), options.eps());
  if (!options.out()) return result;
  NoGradGuard no_grad;
  Tensor out = *options.out();
  return out.sizes() == result.sizes() ? out.copy_(result) : out.set_(result);
}

}  // namespace cresset::nn::functional
