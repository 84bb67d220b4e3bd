// Norms. First derivatives have kernels of their own; when a graph of them is asked for, the same formulas run as
// differentiable ops.
#include "cresset/ops/norm.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/epsilon.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/math.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

void check_floating(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, x.is_floating_point(), op, ": not implemented for '", toString(x.dtype()),
                   "' (expected a floating point input)");
}
// Weights have the input's dtype, or float beside a half type.
void check_weight_dtype(const char* op, const char* argument, const Tensor& x, const Tensor& weight) {
  if (!weight.defined()) return;
  check_same_device(op, x, weight);
  CRESSET_CHECK_AS(TypeError, weight.dtype() == x.dtype() || weight.dtype() == compute_dtype(x.dtype()), op,
                   ": expected scalar type ", toString(x.dtype()), " but found ", toString(weight.dtype()), " (",
                   argument, " must have the input's dtype)");
}
void check_channel_weight(const char* op, const char* argument, const Tensor& x, const Tensor& weight,
                          int64_t channels) {
  if (!weight.defined()) return;
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 1 && weight.numel() == channels, op, ": Expected ", argument,
                   " to be a vector of size equal to the number of channels in input, but got ", argument, " of shape ",
                   text_of(weight.sizes()), " and input of shape ", text_of(x.sizes()));
  check_weight_dtype(op, argument, x, weight);
}

// How many leading dimensions number the rows.
int64_t leading_dims(const char* op, const Tensor& input, IntArrayRef shape, const Tensor& weight, const Tensor& bias) {
  CRESSET_CHECK_AS(ShapeError, !shape.empty(), op,
                   ": Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                   "but got normalized_shape = ",
                   text_of(shape));
  const int64_t leading = input.dim() - static_cast<int64_t>(shape.size());
  bool fits = leading >= 0;
  for (size_t i = 0; fits && i < shape.size(); i++) fits = input.sizes()[static_cast<size_t>(leading) + i] == shape[i];
  for (auto [name, x] : {std::pair{"weight", &weight}, std::pair{"bias", &bias}}) {
    if (!x->defined()) continue;
    CRESSET_CHECK_AS(ShapeError, x->sizes() == shape, op, ": Expected ", name,
                     " to be of same shape as normalized_shape, but got ", name, " of shape ", text_of(x->sizes()),
                     " and normalized_shape = ", text_of(shape));
    check_weight_dtype(op, name, input, *x);
  }
  CRESSET_CHECK_AS(ShapeError, fits, op, ": Given normalized_shape=", text_of(shape),
                   ", expected input with shape [*, ", text_of(shape).substr(1), ", but got input of size",
                   text_of(input.sizes()));
  return leading;
}

Dims dims_from(int64_t first, int64_t rank) {
  Dims dims;
  for (int64_t i = first; i < rank; i++) dims.push_back(i);
  return dims;
}
Dims dims_until(int64_t end) { return dims_from(0, end); }
// The sum over dims; none means none.
Tensor sum_over(const Tensor& x, IntArrayRef dims, bool keepdim) { return dims.empty() ? x : sum(x, dims, keepdim); }

Tensor statistic(const Tensor& x, IntArrayRef sizes) {
  return empty_contiguous(sizes, compute_dtype(x.dtype()), x.device());
}
Tensor gradient_like(const Tensor& weight) { return empty_contiguous(weight.sizes(), weight.dtype(), weight.device()); }
Tensor widened(const Tensor& x) { return x.defined() ? x.to(compute_dtype(x.dtype())) : x; }
Tensor narrowed(const Tensor& x, DType dtype) { return x.defined() ? x.to(dtype) : x; }

// The gradients as differentiable ops: of x over dims, of the weight over what it was broadcast along.
struct Gradients {
  Tensor x, normalized;
};
Gradients composed_gradients(const Tensor& g, const Tensor& x, IntArrayRef dims, double eps) {
  Tensor centred = sub(x, mean(x, dims, true));
  Tensor rstd = rsqrt(add(mean(mul(centred, centred), dims, true), eps));
  Tensor hat = mul(centred, rstd);
  Tensor inside = sub(sub(g, mean(g, dims, true)), mul(hat, mean(mul(g, hat), dims, true)));
  return {mul(rstd, inside), hat};
}

}  // namespace

// ---- layer_norm
static Grads layer_norm_gradients(const Tensor& g, Wants wants, const Tensor& x, const Tensor& w, const Tensor& mean,
                                  const Tensor& rstd, int64_t leading, double eps) {
  const Dims before = dims_until(leading), after = dims_from(leading, x.dim());
  if (any_requires_grad(inputs(g, x, w))) {
    Tensor wide_g = widened(g), wide_w = widened(w);
    auto [dx, hat] = composed_gradients(wide_w.defined() ? mul(wide_g, wide_w) : wide_g, widened(x), after, eps);
    const DType type = w.defined() ? w.dtype() : x.dtype();
    return grads(narrowed(dx, x.dtype()),
                 wants(1) ? narrowed(sum_over(mul(wide_g, hat), before, false), type) : Tensor(),
                 wants(2) ? narrowed(sum_over(wide_g, before, false), type) : Tensor());
  }
  Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device()), dw, db;
  const IntArrayRef shape = x.sizes().slice(static_cast<size_t>(leading));
  const DType type = w.defined() ? w.dtype() : x.dtype();
  if (wants(1)) dw = empty_contiguous(shape, type, x.device());
  if (wants(2)) db = empty_contiguous(shape, type, x.device());
  layer_norm_backward_kernel(dx, dw, db, g, x, mean, rstd, w, leading);
  return grads(dx, dw, db);
}

static std::tuple<Tensor, Tensor, Tensor> layer_norm_parts(const char* op, const Tensor& input, IntArrayRef shape,
                                                           const Tensor& weight, const Tensor& bias, double eps) {
  check_floating(op, input);
  const int64_t leading = leading_dims(op, input, shape, weight, bias);
  Dims sizes = input.sizes();
  for (int i = static_cast<int>(leading); i < sizes.rank(); i++) sizes[i] = 1;
  Tensor y = empty_contiguous(input.sizes(), input.dtype(), input.device());
  Tensor mean = statistic(input, sizes), rstd = statistic(input, sizes);
  layer_norm_kernel(y, mean, rstd, input, weight, bias, leading, eps);
  y = differentiable(
      "NativeLayerNormBackward0", y, inputs(input, weight, bias), saved(input, weight, mean, rstd),
      [leading, eps](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w, const Tensor& mean,
                     const Tensor& rstd) { return layer_norm_gradients(g, wants, x, w, mean, rstd, leading, eps); });
  return {y, mean, rstd};
}
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, IntArrayRef shape, const Tensor& weight,
                                                     const Tensor& bias, double eps) {
  return layer_norm_parts("native_layer_norm", input, shape, weight, bias, eps);
}

CRESSET_OP(layer_norm, , Tensor,
           (const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps,
            bool cudnn_enable),
           "input, normalized_shape, weight={}, bias={}, eps=1e-5, cudnn_enable=true", Gradient::formula,
           "(input - mean) / sqrt(variance + eps) * weight + bias over the last dimensions.")
Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps, bool cudnn_enable) try {
  CRESSET_INTERCEPT(layer_norm, , Tensor, input, normalized_shape, weight, bias, eps, cudnn_enable);
  return std::get<0>(layer_norm_parts("layer_norm", input, normalized_shape, weight, bias, eps));
}
CRESSET_ERRORS_OF(layer_norm, , input, normalized_shape, weight, bias, eps, cudnn_enable)

// ---- rms_norm
CRESSET_OP(rms_norm, , Tensor,
           (const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps),
           "input, normalized_shape, weight={}, eps=std::nullopt", Gradient::formula,
           "input / sqrt(mean(input^2) + eps) * weight over the last dimensions.")
Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                std::optional<double> given_eps) try {
  CRESSET_INTERCEPT(rms_norm, , Tensor, input, normalized_shape, weight, given_eps);
  check_floating("rms_norm", input);
  const int64_t leading = leading_dims("rms_norm", input, normalized_shape, weight, Tensor());
  const double eps = given_eps.value_or(epsilon_of(input.dtype()));
  Dims sizes = input.sizes();
  for (int i = static_cast<int>(leading); i < sizes.rank(); i++) sizes[i] = 1;
  Tensor y = empty_contiguous(input.sizes(), input.dtype(), input.device()), rstd = statistic(input, sizes);
  rms_norm_kernel(y, rstd, input, weight, leading, eps);
  return differentiable(
      "FusedRmsNormBackward0", y, inputs(input, weight), saved(input, weight, rstd),
      [leading, eps](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w, const Tensor& rstd) {
        if (any_requires_grad(inputs(g, x, w))) {
          const Dims after = dims_from(leading, x.dim());
          Tensor wide_g = widened(g), wide_x = widened(x), wide_w = widened(w);
          Tensor scale = rsqrt(add(mean(mul(wide_x, wide_x), after, true), eps)), hat = mul(wide_x, scale);
          Tensor gw = w.defined() ? mul(wide_g, wide_w) : wide_g;
          Tensor dx = mul(scale, sub(gw, mul(hat, mean(mul(gw, hat), after, true))));
          Tensor dw = wants(1) ? sum_over(mul(wide_g, hat), dims_until(leading), false) : Tensor();
          return grads(narrowed(dx, x.dtype()), wants(1) ? narrowed(dw, w.dtype()) : Tensor());
        }
        Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device()), dw;
        if (wants(1)) dw = gradient_like(w);
        rms_norm_backward_kernel(dx, dw, g, x, rstd, w, leading);
        return grads(dx, dw);
      });
}
CRESSET_ERRORS_OF(rms_norm, , input, normalized_shape, weight, given_eps)

// ---- group_norm
// [batch, channels, ..] with a weight per channel in a shape that broadcasts.
static Tensor along_channels(const Tensor& weight, int64_t rank) {
  if (!weight.defined()) return weight;
  Dims sizes = Dims::filled(static_cast<int>(rank), 1);
  sizes[1] = weight.numel();
  return reshape(widened(weight), sizes);
}
static Dims all_but_channels(int64_t rank) {
  Dims dims{0};
  for (int64_t i = 2; i < rank; i++) dims.push_back(i);
  return dims;
}
static Tensor channel_sum(const Tensor& x, DType dtype) { return sum(x, all_but_channels(x.dim()), false).to(dtype); }

CRESSET_OP(group_norm, , Tensor,
           (const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
            bool cudnn_enabled),
           "input, num_groups, weight={}, bias={}, eps=1e-5, cudnn_enabled=true", Gradient::formula,
           "(input - mean) / sqrt(variance + eps) * weight + bias over groups of channels of each sample.")
Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
                  bool cudnn_enabled) try {
  CRESSET_INTERCEPT(group_norm, , Tensor, input, num_groups, weight, bias, eps, cudnn_enabled);
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, "group_norm: Expected at least 2 dimensions for input tensor but ",
                   "received ", input.dim());
  const int64_t batch = input.size(0), channels = input.size(1);
  CRESSET_CHECK_AS(ValueError, num_groups > 0, "group_norm: Expected num groups to be greater than 0, got ",
                   num_groups);
  CRESSET_CHECK_AS(ShapeError, channels % num_groups == 0,
                   "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of "
                   "shape ",
                   text_of(input.sizes()), " and num_groups=", num_groups);
  check_channel_weight("group_norm", "weight", input, weight, channels);
  check_channel_weight("group_norm", "bias", input, bias, channels);
  check_floating("group_norm", input);
  Tensor y = empty_contiguous(input.sizes(), input.dtype(), input.device());
  Tensor mean = statistic(input, {batch, num_groups}), rstd = statistic(input, {batch, num_groups});
  group_norm_kernel(y, mean, rstd, input, weight, bias, num_groups, eps);
  return differentiable("NativeGroupNormBackward0", y, inputs(input, weight, bias), saved(input, weight, mean, rstd),
                        [num_groups, eps](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w,
                                          const Tensor& mean, const Tensor& rstd) {
                          const DType type = w.defined() ? w.dtype() : x.dtype();
                          if (any_requires_grad(inputs(g, x, w))) {
                            Tensor wide_g = widened(g), by = along_channels(w, x.dim());
                            int64_t inner = x.size(1) / num_groups;  // which -1 could not tell of an empty batch
                            for (int64_t d = 2; d < x.dim(); d++) inner *= x.size(d);
                            auto grouped = [&](const Tensor& t) { return reshape(t, {x.size(0), num_groups, inner}); };
                            auto [dx, hat] = composed_gradients(grouped(by.defined() ? mul(wide_g, by) : wide_g),
                                                                grouped(widened(x)), 2, eps);
                            return grads(narrowed(reshape(dx, x.sizes()), x.dtype()),
                                         wants(1) ? channel_sum(mul(wide_g, reshape(hat, x.sizes())), type) : Tensor(),
                                         wants(2) ? channel_sum(wide_g, type) : Tensor());
                          }
                          Tensor dx = empty_contiguous(x.sizes(), x.dtype(), x.device()), dw, db;
                          if (wants(1)) dw = empty_contiguous(x.size(1), type, x.device());
                          if (wants(2)) db = empty_contiguous(x.size(1), type, x.device());
                          group_norm_backward_kernel(dx, dw, db, g, x, mean, rstd, w, num_groups);
                          return grads(dx, dw, db);
                        });
}
CRESSET_ERRORS_OF(group_norm, , input, num_groups, weight, bias, eps, cudnn_enabled)

// ---- batch_norm
static Grads batch_norm_gradients(const Tensor& g, Wants wants, const Tensor& x, const Tensor& w, const Tensor& mean,
                                  const Tensor& rstd, bool batch_stats, double eps) {
  const DType type = w.defined() ? w.dtype() : x.dtype();
  if (any_requires_grad(inputs(g, x, w))) {
    Tensor wide_g = widened(g), by = along_channels(w, x.dim()), dx, hat;
    Tensor gw = by.defined() ? mul(wide_g, by) : wide_g;
    if (batch_stats) {
      Gradients both = composed_gradients(gw, widened(x), all_but_channels(x.dim()), eps);
      dx = both.x;
      hat = both.normalized;
    } else {
      Tensor scale = along_channels(rstd, x.dim());
      dx = mul(gw, scale);
      hat = mul(sub(widened(x), along_channels(mean, x.dim())), scale);
    }
    return grads(narrowed(dx, x.dtype()), wants(1) ? channel_sum(mul(wide_g, hat), type) : Tensor(),
                 wants(2) ? channel_sum(wide_g, type) : Tensor());
  }
  Tensor dx = empty_like(x), dw, db;
  if (wants(1)) dw = empty_contiguous(x.size(1), type, x.device());
  if (wants(2)) db = empty_contiguous(x.size(1), type, x.device());
  batch_norm_backward_kernel(dx, dw, db, g, x, mean, rstd, w, batch_stats);
  return grads(dx, dw, db);
}

static std::tuple<Tensor, Tensor, Tensor> batch_norm_parts(const char* op, const Tensor& input, const Tensor& weight,
                                                           const Tensor& bias, const Tensor& running_mean,
                                                           const Tensor& running_var, bool training, double momentum,
                                                           double eps) {
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, op, ": Expected at least 2 dimensions for input tensor but received ",
                   text_of(input.sizes()));
  const int64_t channels = input.size(1);
  for (auto [name, x] : {std::pair{"running_mean", &running_mean}, std::pair{"running_var", &running_var},
                         std::pair{"weight", &weight}, std::pair{"bias", &bias}}) {
    if (!x->defined()) continue;
    CRESSET_CHECK_AS(ShapeError, x->numel() == channels && x->dim() == 1, op, ": ", name, " should contain ", channels,
                     " elements not ", x->numel(), " (found shape ", text_of(x->sizes()), ")");
    check_weight_dtype(op, name, input, *x);
  }
  CRESSET_CHECK_AS(ValueError, training || (running_mean.defined() && running_var.defined()), op,
                   ": Expected running_mean and running_var to be defined when training=False");
  CRESSET_CHECK_AS(ValueError, running_mean.defined() == running_var.defined(), op,
                   ": running_mean and running_var must either both be None or neither be None");
  check_floating(op, input);
  Tensor y = empty_like(input.detach(), {}, input.suggest_memory_format());
  Tensor mean = statistic(input, channels), rstd = statistic(input, channels);
  if (training) {
    batch_norm_stats_kernel(mean, rstd, running_mean, running_var, input, momentum, eps);
    for (const Tensor* running : {&running_mean, &running_var})
      if (running->defined()) autograd::bump_version(*running);
  } else {
    copy_kernel(mean, running_mean);
    batch_norm_rstd_kernel(rstd, running_var, eps);
  }
  batch_norm_kernel(y, input, mean, rstd, weight, bias);
  y = differentiable(
      "NativeBatchNormBackward0", y, inputs(input, weight, bias), saved(input, weight, mean, rstd),
      [training, eps](const Tensor& g, Wants wants, const Tensor& x, const Tensor& w, const Tensor& mean,
                      const Tensor& rstd) { return batch_norm_gradients(g, wants, x, w, mean, rstd, training, eps); });
  return {y, mean, rstd};
}
std::tuple<Tensor, Tensor, Tensor> native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                     const Tensor& running_mean, const Tensor& running_var,
                                                     bool training, double momentum, double eps) {
  auto [y, mean, rstd] =
      batch_norm_parts("native_batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps);
  if (training) return {y, mean, rstd};
  return {y, empty_contiguous({0}, mean.dtype(), mean.device()), empty_contiguous({0}, mean.dtype(), mean.device())};
}

CRESSET_OP(batch_norm, , Tensor,
           (const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
            const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled),
           "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=true",
           Gradient::formula,
           "(input - mean) / sqrt(variance + eps) * weight + bias for each channel, over the batch and all positions.")
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps, bool cudnn_enabled) try {
  CRESSET_INTERCEPT(batch_norm, , Tensor, input, weight, bias, running_mean, running_var, training, momentum, eps,
                    cudnn_enabled);
  return std::get<0>(
      batch_norm_parts("batch_norm", input, weight, bias, running_mean, running_var, training, momentum, eps));
}
CRESSET_ERRORS_OF(batch_norm, , input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)

// ---- instance_norm
// Each sample's channels are channels of one batch norm, as in PyTorch: running statistics are averaged over samples.
CRESSET_OP(instance_norm, , Tensor,
           (const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
            const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled),
           "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=true",
           Gradient::composed,
           "(input - mean) / sqrt(variance + eps) * weight + bias over the positions of each channel of each sample.")
Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats, double momentum, double eps,
                     bool cudnn_enabled) try {
  CRESSET_INTERCEPT(instance_norm, , Tensor, input, weight, bias, running_mean, running_var, use_input_stats, momentum,
                    eps, cudnn_enabled);
  CRESSET_CHECK_AS(ValueError, use_input_stats || (running_mean.defined() && running_var.defined()),
                   "instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false");
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 2, "instance_norm: Expected at least 2 dimensions for input tensor but ",
                   "received ", text_of(input.sizes()));
  const int64_t batch = input.size(0), channels = input.size(1);
  if (!running_mean.defined() && !running_var.defined() && channels > 0)
    return group_norm(input, channels, weight, bias, eps, cudnn_enabled);
  if (!use_input_stats)
    return batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps, cudnn_enabled);
  Dims sizes = input.sizes();
  sizes[0] = 1;
  sizes[1] = batch * channels;
  auto repeated = [&](const Tensor& x) {
    return x.defined() ? reshape(expand(x, {batch, channels}), batch * channels) : x;
  };
  Tensor means = clone(repeated(running_mean)), variances = clone(repeated(running_var));
  Tensor y = batch_norm(reshape(input, sizes), repeated(weight), repeated(bias), means, variances, true, momentum, eps,
                        cudnn_enabled);
  copy_(running_mean, mean(reshape(means, {batch, channels}), 0));
  copy_(running_var, mean(reshape(variances, {batch, channels}), 0));
  return reshape(y, input.sizes());
}
CRESSET_ERRORS_OF(instance_norm, , input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                  cudnn_enabled)

}  // namespace cresset
