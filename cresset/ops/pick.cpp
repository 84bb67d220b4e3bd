// One element of each line by its rank or frequency, and quantiles, which lie between two ranks.
#include <cmath>

#include "cresset/autograd/kept_dims.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/comparison.h"
#include "cresset/ops/copied_out.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/sort.h"
#include "cresset/ops/ternary.h"

namespace cresset {

// ---- along a dimension
static std::tuple<Tensor, Tensor> pick_along(Pick pick, const char* op, const char* node, const Into& values_into,
                                             const Into& indices_into, const Tensor& self, int64_t k, int64_t dim,
                                             bool keepdim) {
  check_ordered(op, self);
  dim = wrap_dim(op, dim, self);
  uint64_t mask = uint64_t{1} << dim;
  check_not_empty(op, self, mask, dim);
  int64_t n = self.dim() ? self.size(dim) : 1;
  CRESSET_CHECK_AS(IndexError, k >= 1 && k <= n, op, "(): selected number k out of range for dimension ", dim,
                   ": found ", k, " (expected 1 to ", n, ")");
  Dims sizes = reduced_sizes(self, mask, keepdim);
  Tensor values = result(op, values_into, sizes, self.dtype(), self.device(), {&self});
  Tensor indices = result(op, indices_into, sizes, kLong, self.device(), {&self});
  pick_kernel(with_kept_dims(values, self, mask), with_kept_dims(indices, self, mask), self, dim,
              static_cast<int64_t>(pick), k);
  differentiable_outputs(node, values_into, {&values, &indices}, inputs(self), saved(indices),
                         [from = KeptDims(self.sizes()), dim, keepdim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(selected_backward(from, indices, g[0], dim, keepdim));
                         });
  return {values, indices};
}
static std::tuple<Tensor, Tensor> kthvalue_pair(const Into& values, const Into& indices, const Tensor& self, int64_t k,
                                                int64_t dim, bool keepdim) {
  return pick_along(Pick::kth, "kthvalue", "KthvalueBackward0", values, indices, self, k, dim, keepdim);
}
static std::tuple<Tensor, Tensor> median_pair(const Into& values, const Into& indices, const Tensor& self, int64_t dim,
                                              bool keepdim) {
  return pick_along(Pick::median, "median", "MedianBackward1", values, indices, self, 1, dim, keepdim);
}
static std::tuple<Tensor, Tensor> nanmedian_pair(const Into& values, const Into& indices, const Tensor& self,
                                                 int64_t dim, bool keepdim) {
  return pick_along(Pick::nanmedian, "nanmedian", "NanmedianBackward1", values, indices, self, 1, dim, keepdim);
}
static std::tuple<Tensor, Tensor> mode_pair(const Into& values, const Into& indices, const Tensor& self, int64_t dim,
                                            bool keepdim) {
  return pick_along(Pick::mode, "mode", "ModeBackward0", values, indices, self, 1, dim, keepdim);
}
CRESSET_PAIR_FORMS(kthvalue, , values, indices, (const Tensor& self, int64_t k, int64_t dim, bool keepdim),
                   (self, k, dim, keepdim), "self, k, dim=-1, keepdim=false",
                   "The k-th smallest element along a dimension and its index.")
CRESSET_PAIR_FORMS(median, dim, values, indices, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                   "self, dim, keepdim=false",
                   "The median along a dimension (the lower of two in the middle) and its index.")
CRESSET_PAIR_FORMS(nanmedian, dim, values, indices, (const Tensor& self, int64_t dim, bool keepdim),
                   (self, dim, keepdim), "self, dim, keepdim=false",
                   "The median along a dimension of what is not nan, and its index.")
CRESSET_PAIR_FORMS(mode, , values, indices, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                   "self, dim=-1, keepdim=false",
                   "The most frequent element along a dimension (the smallest of several) and its last index.")

// ---- medians of all
static Tensor median_of_all(Pick pick, const char* op, const char* node, const Tensor& self) {
  check_ordered(op, self);
  CRESSET_CHECK_AS(ValueError, self.numel() > 0 || self.is_floating_point(), op, ": found shape ",
                   text_of(self.sizes()), " of ", name_of(self.dtype()),
                   " (expected at least one element: the median of none is nan)");
  Tensor y = empty_contiguous({}, self.dtype(), self.device());
  Tensor place = empty_contiguous({1}, kLong, self.device());
  if (self.numel() == 0)
    fill_kernel(y, std::nan(""));
  else
    pick_kernel(alias(y, {1}, {1}, 0), place, reshape(self.detach(), {-1}), 0, static_cast<int64_t>(pick), 1);
  return differentiable(node, y, inputs(self), saved(self, output(y)),
                        [](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
                          return grads(mul(expand(g, self.sizes()), tie_share(self, y, ~uint64_t{0})));
                        });
}
CRESSET_OP(median, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "The median of all elements (the lower of two in the middle); equals share the gradient.")
Tensor median(const Tensor& self) try {
  CRESSET_INTERCEPT(median, , Tensor, self);
  return median_of_all(Pick::median, "median", "MedianBackward0", self);
}
CRESSET_ERRORS_OF(median, , self)
CRESSET_COPIED_OUT(median, , (const Tensor& self), (self), (&self), "self", "The median of all elements.")
CRESSET_OP(nanmedian, , Tensor, (const Tensor& self), "self", Gradient::formula,
           "The median of all elements that are not nan; equals share the gradient.")
Tensor nanmedian(const Tensor& self) try {
  CRESSET_INTERCEPT(nanmedian, , Tensor, self);
  return median_of_all(Pick::nanmedian, "nanmedian", "NanmedianBackward0", self);
}
CRESSET_ERRORS_OF(nanmedian, , self)
CRESSET_COPIED_OUT(nanmedian, , (const Tensor& self), (self), (&self), "self",
                   "The median of all elements that are not nan.")

// ---- quantiles
static int64_t rounding_of(const char* op, std::string_view name) {
  constexpr std::string_view names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (int64_t i = 0; i < 5; i++)
    if (names[i] == name) return i;
  throw Error(
      message_of(op, "(): interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", name));
}
// q stands in the last dimension of the result first; then it is moved to the front, or dropped if it was a number.
static Tensor quantiles(const char* op, const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,
                        std::string_view interpolation, bool skip_nan) {
  int64_t rounding = rounding_of(op, interpolation);
  CRESSET_CHECK_AS(TypeError, self.dtype() == kFloat || self.dtype() == kDouble, op,
                   "(): input tensor must be either float or double dtype, found ", name_of(self.dtype()));
  CRESSET_CHECK_AS(TypeError, q.dtype() == self.dtype(), op,
                   "(): q tensor must be same dtype as the input tensor, found ", name_of(q.dtype()), " and ",
                   name_of(self.dtype()));
  CRESSET_CHECK_AS(ShapeError, q.dim() <= 1, op, "(): q must be a scalar or 1D tensor, found shape ",
                   text_of(q.sizes()));
  check_same_device(op, self, q);
  CRESSET_CHECK_AS(ShapeError, self.numel() > 0, op, "(): input tensor must be non-empty, found shape ",
                   text_of(self.sizes()));
  Dims sizes;  // of one q's results
  Tensor lines;
  if (!dim) {
    lines = reshape(self, {-1});
    if (keepdim) sizes = Dims::filled(static_cast<int>(self.dim()), 1);
  } else {
    int along = wrap_dim(op, *dim, self);
    lines = self.dim() ? transpose(unsqueeze(self, -1), along, -1) : reshape(self, {1});
    if (self.dim()) lines = squeeze(lines, along);
    sizes = reduced_sizes(self, uint64_t{1} << along, keepdim);
  }
  Tensor sorted = std::get<0>(sort(lines, -1, false));
  Dims places = sorted.sizes();
  places[places.rank() - 1] = q.numel();
  Tensor below = empty_contiguous(places, kLong, self.device()), above = empty_contiguous(places, kLong, self.device());
  Tensor weight = empty_contiguous(places, self.dtype(), self.device());
  quantile_places_kernel(below, above, weight, reshape(q.detach(), q.numel()), sorted.detach(), rounding, skip_nan);
  int64_t last = places.rank() - 1;
  if (rounding == 0 && any_requires_grad(inputs(q))) {  // the place moves with q by as many steps as there are elements
    Tensor steps = sub(sum(eq(sorted, sorted).detach().to(self.dtype()), last, true), 1),
           flat = reshape(q, {q.numel()});
    weight = add(weight, mul(sub(flat, flat.detach()), steps));
  }
  Tensor low = gather_along(sorted, below, last);
  // lerp starts from the nearer end: between an infinity and a number it is infinite, not nan.
  Tensor y = rounding == 0 || rounding == 3 ? lerp(low, gather_along(sorted, above, last), weight) : low;
  if (q.dim() == 0) return reshape(y, sizes);
  sizes.push_back(q.numel());
  y = reshape(y, sizes);
  Dims order;
  order.push_back(sizes.rank() - 1);
  for (int i = 0; i + 1 < sizes.rank(); i++) order.push_back(i);
  return permute(y, order);
}
// The result is a view with its dimensions moved; a resized out gets it in rows, as PyTorch's.
static Tensor rows_into(const char* op, const Into& into, const Tensor& made,
                        std::initializer_list<const Tensor*> reads) {
  return copied_into(op, into, made.contiguous(), reads);
}
#define CRESSET_QUANTILE_FORMS(name, skip_nan, doc)                                                                    \
  CRESSET_OP(                                                                                                          \
      name, , Tensor,                                                                                                  \
      (const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation), \
      "self, q, dim=std::nullopt, keepdim=false, interpolation=\"linear\"", Gradient::composed, doc)                   \
  Tensor name(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim,                           \
              std::string_view interpolation) try {                                                                    \
    CRESSET_INTERCEPT(name, , Tensor, self, q, dim, keepdim, interpolation);                                           \
    return quantiles(#name, self, q, dim, keepdim, interpolation, skip_nan);                                           \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, , self, q, dim, keepdim, interpolation)                                                      \
  CRESSET_OP(name, scalar, Tensor,                                                                                     \
             (const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation), \
             "self, q, dim=std::nullopt, keepdim=false, interpolation=\"linear\"", Gradient::composed, doc)            \
  Tensor name(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim,                                  \
              std::string_view interpolation) try {                                                                    \
    CRESSET_INTERCEPT(name, scalar, Tensor, self, q, dim, keepdim, interpolation);                                     \
    CRESSET_CHECK_AS(IndexError, q >= 0 && q <= 1, #name "(): q must be in the range [0, 1] but got ", q);             \
    return quantiles(#name, self, full({}, q, self.options()), dim, keepdim, interpolation, skip_nan);                 \
  }                                                                                                                    \
  CRESSET_ERRORS_OF(name, scalar, self, q, dim, keepdim, interpolation)                                                \
  CRESSET_OUT_BY(                                                                                                      \
      rows_into, name, ,                                                                                               \
      (const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation), \
      (self, q, dim, keepdim, interpolation), (&self, &q),                                                             \
      "self, q, dim=std::nullopt, keepdim=false, interpolation=\"linear\"", doc)                                       \
  CRESSET_OUT_BY(                                                                                                      \
      rows_into, name, scalar,                                                                                         \
      (const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation),        \
      (self, q, dim, keepdim, interpolation), (&self),                                                                 \
      "self, q, dim=std::nullopt, keepdim=false, interpolation=\"linear\"", doc)
CRESSET_QUANTILE_FORMS(quantile, false, "The quantiles q along a dimension (none: of all elements).")
CRESSET_QUANTILE_FORMS(nanquantile, true, "The quantiles q along a dimension (none: of all) of what is not nan.")
#undef CRESSET_QUANTILE_FORMS

}  // namespace cresset
