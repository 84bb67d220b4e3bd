#include "cresset/nn/init.h"

#include <cmath>

#include "cresset/ops/all.h"

namespace cresset::nn::init {

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (nonlinearity.is<enumtype::kTanh>()) return 5.0 / 3.0;
  if (nonlinearity.is<enumtype::kReLU>()) return std::sqrt(2.0);
  if (nonlinearity.is<enumtype::kLeakyReLU>()) return std::sqrt(2.0 / (1 + param * param));
  if (nonlinearity.is<enumtype::kSELU>()) return 0.75;  // found by experiment, as PyTorch's
  return 1.0;
}

Tensor constant_(Tensor tensor, Scalar value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor matrix) {
  CRESSET_CHECK_AS(ShapeError, matrix.dim() == 2, "init.eye_: Only tensors with 2 dimensions are supported, found ",
                   matrix.dim());
  NoGradGuard no_grad;
  return matrix.copy_(eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  int64_t rank = tensor.dim();
  CRESSET_CHECK_AS(ShapeError, rank >= 3 && rank <= 5,
                   "init.dirac_: Only tensors with 3, 4, or 5 dimensions are supported, found ", rank);
  CRESSET_CHECK_AS(ValueError, groups > 0 && tensor.size(0) % groups == 0,
                   "init.dirac_: dim 0 must be divisible by groups, found size ", tensor.size(0), " and groups ",
                   groups);
  NoGradGuard no_grad;
  tensor.zero_();
  int64_t per_group = tensor.size(0) / groups, count = std::min(per_group, tensor.size(1));
  for (int64_t g = 0; g < groups; g++)
    for (int64_t d = 0; d < count; d++) {
      Tensor kernel = tensor[g * per_group + d][d];
      while (kernel.dim() > 0) kernel = kernel[kernel.size(0) / 2];
      kernel.fill_(1);
    }
  return tensor;
}

Tensor uniform_(Tensor tensor, double low, double high) {
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}
Tensor normal_(Tensor tensor, double mean, double std) {
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  CRESSET_CHECK_AS(ValueError, std > 0 && a < b, "init.trunc_normal_: found std ", std, " and bounds [", a, ", ", b,
                   "] (expected std > 0 and a < b)");
  NoGradGuard no_grad;
  // The inverse of the normal distribution function, of uniform numbers between its values at the bounds.
  auto distribution = [&](double x) { return (1 + std::erf((x - mean) / std / std::sqrt(2.0))) / 2; };
  double low = distribution(a), high = distribution(b);
  tensor.uniform_(2 * low - 1, 2 * high - 1);
  tensor.erfinv_();
  tensor.mul_(std * std::sqrt(2.0));
  tensor.add_(mean);
  return tensor.clamp_(a, b);
}

static std::tuple<int64_t, int64_t> fans_of(const char* function, const Tensor& tensor) {
  CRESSET_CHECK_AS(ShapeError, tensor.dim() >= 2, "init.", function,
                   ": Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, found ",
                   tensor.dim(), " (shape ", text_of(tensor.sizes()), ")");
  int64_t field = 1;
  for (int64_t i = 2; i < tensor.dim(); i++) field *= tensor.size(i);
  return {tensor.size(1) * field, tensor.size(0) * field};
}

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  return fans_of("_calculate_fan_in_and_fan_out", tensor);
}

namespace {
double xavier_std(const char* function, const Tensor& tensor, double gain) {
  auto [in, out] = fans_of(function, tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(in + out));
}
double kaiming_std(const char* function, const Tensor& tensor, double a, const FanModeType& mode,
                   const NonlinearityType& nonlinearity) {
  auto [in, out] = fans_of(function, tensor);
  int64_t fan = mode.is<enumtype::kFanIn>() ? in : out;
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}
}  // namespace

Tensor xavier_uniform_(Tensor tensor, double gain) {
  double bound = std::sqrt(3.0) * xavier_std("xavier_uniform_", tensor, gain);
  return init::uniform_(std::move(tensor), -bound, bound);
}
Tensor xavier_normal_(Tensor tensor, double gain) {
  double std = xavier_std("xavier_normal_", tensor, gain);
  return init::normal_(std::move(tensor), 0, std);
}
Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  double bound = std::sqrt(3.0) * kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity);
  return init::uniform_(std::move(tensor), -bound, bound);
}
Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  double std = kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity);
  return init::normal_(std::move(tensor), 0, std);
}

Tensor orthogonal_(Tensor tensor, double gain) {
  CRESSET_CHECK_AS(ShapeError, tensor.dim() >= 2,
                   "init.orthogonal_: Only tensors with 2 or more dimensions are supported, found ", tensor.dim());
  if (tensor.numel() == 0) return tensor;
  NoGradGuard no_grad;
  int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor flat = randn({rows, columns}, tensor.options());
  if (rows < columns) flat = flat.t();
  auto [q, r] = linalg_qr(flat);
  q = q * r.diagonal().sign();  // makes the result uniform among all orthogonal matrices
  if (rows < columns) q = q.t();
  return tensor.copy_(q.reshape(tensor.sizes())).mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  CRESSET_CHECK_AS(ShapeError, tensor.dim() == 2, "init.sparse_: Only tensors with 2 dimensions are supported, found ",
                   tensor.dim());
  CRESSET_CHECK_AS(ValueError, sparsity >= 0 && sparsity <= 1, "init.sparse_: found sparsity ", sparsity,
                   " (expected 0 to 1)");
  NoGradGuard no_grad;
  int64_t rows = tensor.size(0), columns = tensor.size(1);
  auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std);
  TensorOptions indices = TensorOptions(kLong).device(tensor.device());
  for (int64_t column = 0; column < columns; column++)
    tensor.select(1, column).index_fill_(0, randperm(rows, indices).slice(0, 0, zeros), 0);
  return tensor;
}

}  // namespace cresset::nn::init
