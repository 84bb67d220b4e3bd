// Distances and lengths. Lengths are composed of powers whose derivatives are powers again; cdist has kernels for
// itself and its gradient, and is composed where a graph of that is asked for.
#include "cresset/ops/distance.h"

#include <cmath>

#include "cresset/ops/cat.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/index.h"
#include "cresset/ops/math.h"
#include "cresset/ops/norm.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/tensor_literal.h"

namespace cresset {

Tensor magnitude_power(const Tensor& x, double exponent, bool is_signed) {
  Tensor y = pointwise_result("magnitude_power", Into{}, {&x}, x.dtype(), x.dtype());
  magnitude_power_kernel(y, x, exponent, is_signed);
  return differentiable("PowBackward0", y, inputs(x), saved(x),
                        [exponent, is_signed](const Tensor& g, Wants, const Tensor& x) {
                          if (exponent == 0) return grads(mul(g, 0));
                          return grads(mul(g, mul(magnitude_power(x, exponent - 1, !is_signed), exponent)));
                        });
}

namespace {

Tensor widened(const Tensor& x) { return x.to(compute_dtype(x.dtype())); }

// The p-norm along one dimension, which is kept.
Tensor length(const Tensor& x, double p, int64_t dim) {
  if (p == 0) return sum(magnitude_power(magnitude_power(x, 0, true), 1), dim, true);
  if (std::isinf(p))
    return p > 0 ? amax(magnitude_power(x, 1), dim, true) : neg(amax(neg(magnitude_power(x, 1)), dim, true));
  return magnitude_power(sum(magnitude_power(x, p), dim, true), 1 / p);
}
// x, or `least` where that is more; the gradient stops there.
Tensor at_least(const Tensor& x, double least) { return add(relu(sub(x, least)), least); }

void check_floating(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, x.is_floating_point(), op, ": not implemented for '", toString(x.dtype()),
                   "' (expected floating point input)");
}

}  // namespace

// ---- cdist
static Tensor cdist_between(const Tensor& a, const Tensor& b, double p) {
  Dims sizes = a.sizes();
  sizes[sizes.rank() - 1] = b.size(-2);
  Tensor y = empty_contiguous(sizes, a.dtype(), a.device());
  cdist_kernel(y, a, b, p);
  return differentiable("CdistBackward0", y, inputs(a, b), saved(a, b, output(y)),
                        [p](const Tensor& g, Wants wants, const Tensor& a, const Tensor& b, const Tensor& y) {
                          Tensor da, db;
                          if (any_requires_grad(inputs(g, a, b))) {
                            Tensor apart = sub(unsqueeze(widened(a), -2), unsqueeze(widened(b), -3)), slopes;
                            Tensor wide_g = unsqueeze(widened(g), -1);
                            if (std::isinf(p)) {
                              Tensor top = amax(magnitude_power(apart, 1), -1, true);
                              Tensor ties = empty_contiguous(apart.sizes(), apart.dtype(), apart.device());
                              tie_mask_kernel(ties, magnitude_power(apart.detach(), 1), top.detach());
                              slopes = mul(wide_g, mul(ties, magnitude_power(apart, 0, true)));
                            } else if (p == 0) {
                              slopes = mul(mul(apart, 0), wide_g);
                            } else {
                              Tensor distance = magnitude_power(sum(magnitude_power(apart, p), -1, true), 1 / p);
                              slopes = mul(mul(wide_g, magnitude_power(apart, p - 1, true)),
                                           magnitude_power(distance, 1 - p));
                            }
                            if (wants(0)) da = sum(slopes, -2).to(a.dtype());
                            if (wants(1)) db = neg(sum(slopes, -3)).to(b.dtype());
                            return grads(da, db);
                          }
                          if (wants(0)) {
                            da = empty_contiguous(a.sizes(), a.dtype(), a.device());
                            cdist_backward_kernel(da, g, a, b, y, p);
                          }
                          if (wants(1)) {
                            db = empty_contiguous(b.sizes(), b.dtype(), b.device());
                            cdist_backward_kernel(db, transpose(g, -2, -1), b, a, transpose(y, -2, -1), p);
                          }
                          return grads(da, db);
                        });
}
CRESSET_OP(cdist, , Tensor, (const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode),
           "x1, x2, p=2, compute_mode=std::nullopt", Gradient::formula,
           "The p-norm distance of each row of x1 from each row of x2.")
Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) try {
  CRESSET_INTERCEPT(cdist, , Tensor, x1, x2, p, compute_mode);
  check_floating("cdist", x1);
  check_floating("cdist", x2);
  check_same_device("cdist", x1, x2);
  CRESSET_CHECK_AS(ShapeError, x1.dim() >= 2 && x2.dim() >= 2,
                   "cdist: cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D, X2 got: ", x2.dim(), "D");
  CRESSET_CHECK_AS(ShapeError, x1.size(-1) == x2.size(-1),
                   "cdist: X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
  CRESSET_CHECK_AS(ValueError, p >= 0, "cdist: cdist only supports non-negative p values, found ", p);
  CRESSET_CHECK_AS(ValueError, compute_mode.value_or(0) >= 0 && compute_mode.value_or(0) <= 2,
                   "cdist: possible modes: 0, 1, 2, but was: ", compute_mode.value_or(0));
  CRESSET_CHECK_AS(TypeError, x1.dtype() == x2.dtype(), "cdist: expected x1 and x2 of one dtype, found ",
                   name_of(x1.dtype()), " and ", name_of(x2.dtype()));
  auto leading = [](const Tensor& x) { return x.sizes().slice(0, static_cast<size_t>(x.dim() - 2)); };
  const Dims batch = broadcast_shapes("cdist", leading(x1), leading(x2));
  auto spread = [&](const Tensor& x) {
    Dims sizes = batch;
    sizes.push_back(x.size(-2));
    sizes.push_back(x.size(-1));
    return x.sizes() == IntArrayRef(sizes) ? x : expand(x, sizes);
  };
  return cdist_between(spread(x1), spread(x2), p);
}
CRESSET_ERRORS_OF(cdist, , x1, x2, p, compute_mode)

CRESSET_OP(pdist, , Tensor, (const Tensor& self, double p), "input, p=2", Gradient::composed,
           "The p-norm distances of all pairs of rows.")
Tensor pdist(const Tensor& self, double p) try {
  CRESSET_INTERCEPT(pdist, , Tensor, self, p);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 2, "pdist: pdist only supports 2D tensors, got: ", self.dim(), "D");
  check_floating("pdist", self);
  CRESSET_CHECK_AS(ValueError, p >= 0, "pdist: pdist only supports non-negative p values, found ", p);
  const int64_t n = self.size(0);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++) places.push_back(i * n + j);
  Tensor at = tensor(places, TensorOptions(kLong)).to(self.device());
  return index(reshape(cdist(self, self, p), n * n), {at});
}
CRESSET_ERRORS_OF(pdist, , self, p)

// ---- pairwise_distance, cosine_similarity, normalize
CRESSET_OP(pairwise_distance, , Tensor, (const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim),
           "x1, x2, p=2, eps=1e-6, keepdim=false", Gradient::composed,
           "The p-norm of x1 - x2 + eps along the last dimension.")
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) try {
  CRESSET_INTERCEPT(pairwise_distance, , Tensor, x1, x2, p, eps, keepdim);
  Tensor apart = add(sub(x1, x2), eps);
  if (apart.is_complex()) apart = abs(apart);
  check_floating("pairwise_distance", apart);
  CRESSET_CHECK_AS(ShapeError, apart.dim() >= 1, "pairwise_distance: expected tensors with dimensions");
  Tensor y = length(widened(apart), p, -1).to(apart.dtype());
  return keepdim ? y : squeeze(y, -1);
}
CRESSET_ERRORS_OF(pairwise_distance, , x1, x2, p, eps, keepdim)

CRESSET_OP(cosine_similarity, , Tensor, (const Tensor& x1, const Tensor& x2, int64_t dim, double eps),
           "x1, x2, dim=1, eps=1e-8", Gradient::composed,
           "The cosine of the angle between x1 and x2 along a dimension.")
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) try {
  CRESSET_INTERCEPT(cosine_similarity, , Tensor, x1, x2, dim, eps);
  const DType type = result_type(x1, x2);
  CRESSET_CHECK_AS(TypeError, is_floating_point(type),
                   "cosine_similarity: expected common dtype to be floating point, yet common dtype is ",
                   toString(type));
  Tensor a = x1.to(compute_dtype(type)), b = x2.to(compute_dtype(type)), product = mul(a, b);
  wrap_dim("cosine_similarity", dim, product);
  auto scale = [&](const Tensor& x) {
    Tensor wide = x.sizes() == product.sizes() ? x : expand(x, product.sizes());
    return rsqrt(at_least(sum(mul(wide, wide), dim, true), eps * eps));
  };
  return sum(mul(mul(product, scale(a)), scale(b)), dim).to(type);
}
CRESSET_ERRORS_OF(cosine_similarity, , x1, x2, dim, eps)

CRESSET_OP(normalize, , Tensor, (const Tensor& input, double p, int64_t dim, double eps),
           "input, p=2, dim=1, eps=1e-12", Gradient::composed,
           "input divided by its p-norm along a dimension, or by eps if that is more.")
Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) try {
  CRESSET_INTERCEPT(normalize, , Tensor, input, p, dim, eps);
  check_floating("normalize", input);
  Tensor x = widened(input);
  return div(x, at_least(length(x, p, dim), eps)).to(input.dtype());
}
CRESSET_ERRORS_OF(normalize, , input, p, dim, eps)

CRESSET_OP(local_response_norm, , Tensor, (const Tensor& input, int64_t size, double alpha, double beta, double k),
           "input, size, alpha=1e-4, beta=0.75, k=1", Gradient::composed,
           "input / (k + alpha * mean of input^2 over neighbouring channels)^beta.")
Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k) try {
  CRESSET_INTERCEPT(local_response_norm, , Tensor, input, size, alpha, beta, k);
  check_floating("local_response_norm", input);
  CRESSET_CHECK_AS(ShapeError, input.dim() >= 3,
                   "local_response_norm: Expected 3D or higher dimensionality input (got ", input.dim(),
                   " dimensions)");
  CRESSET_CHECK_AS(ValueError, size > 0, "local_response_norm: size must be positive, found ", size);
  if (input.numel() == 0) return input;
  Tensor x = widened(input), squares = mul(x, x), total;
  auto zeros_of = [&](int64_t channels) {
    Dims sizes = x.sizes();
    sizes[1] = channels;
    return new_zeros(x, sizes);
  };
  // Neighbours beyond the channels there are only zeros.
  const int64_t before = std::min(size / 2, x.size(1) - 1), after = std::min((size - 1) / 2, x.size(1) - 1);
  Tensor wide = cat({zeros_of(before), squares, zeros_of(after)}, 1);
  for (int64_t i = 0; i <= before + after; i++) {
    Tensor part = narrow(wide, 1, i, x.size(1));
    total = total.defined() ? add(total, part) : part;
  }
  Tensor base = add(mul(total, alpha / static_cast<double>(size)), k);
  return div(x, magnitude_power(base, beta)).to(input.dtype());
}
CRESSET_ERRORS_OF(local_response_norm, , input, size, alpha, beta, k)

}  // namespace cresset
