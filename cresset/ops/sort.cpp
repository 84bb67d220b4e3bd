// Ordering: the gradient goes back to the places that were picked, through the values only.
#include "cresset/ops/sort.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"

namespace cresset {

// ---- topk
static std::tuple<Tensor, Tensor> topk_pair(const Into& values_into, const Into& indices_into, const Tensor& self,
                                            int64_t k, int64_t dim, bool largest, bool sorted) {
  check_ordered("topk", self);
  dim = wrap_dim("topk", dim, self);
  int64_t size = self.dim() ? self.size(dim) : 1;
  CRESSET_CHECK_AS(IndexError, k >= 0 && k <= size, "topk: selected index k out of range: found ", k, " for dimension ",
                   dim, " of shape ", text_of(self.sizes()), " (expected 0 to ", size, ")");
  Dims sizes = self.sizes();
  if (sizes.rank()) sizes[static_cast<int>(dim)] = k;
  Tensor values = result("topk", values_into, sizes, self.dtype(), self.device(), {&self});
  Tensor indices = result("topk", indices_into, sizes, kLong, self.device(), {&self});
  const int64_t count = self.dim() ? k : 1;  // a number's largest is itself, even of none
  if (count > 0) topk_kernel(values, indices, self, count, dim, largest, sorted);
  differentiable_outputs("TopkBackward0", values_into, {&values, &indices}, inputs(self), saved(indices),
                         [from = KeptDims(self.sizes()), dim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(scatter_along(from, indices, g[0], dim));
                         });
  return {values, indices};
}
CRESSET_PAIR_FORMS(topk, , values, indices, (const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted),
                   (self, k, dim, largest, sorted), "self, k, dim=-1, largest=true, sorted=true",
                   "The k largest (or smallest) elements along a dimension and their indices.")

// ---- sort
// Results keep the order of self's dimensions in memory, as PyTorch's do.
static Tensor sort_result(const Into& into, const Tensor& self, DType dtype) {
  if (into.fresh()) return pointwise_result("sort", into, {&self}, dtype, dtype);
  return result("sort", into, self.sizes(), dtype, self.device(), {&self});
}
static std::tuple<Tensor, Tensor> sort_pair(const Into& values_into, const Into& indices_into, const Tensor& self,
                                            int64_t dim, bool descending) {
  check_ordered("sort", self);
  dim = wrap_dim("sort", dim, self);
  Tensor values = sort_result(values_into, self, self.dtype()), indices = sort_result(indices_into, self, kLong);
  sort_kernel(values, indices, self, dim, descending);
  differentiable_outputs("SortBackward0", values_into, {&values, &indices}, inputs(self), saved(indices),
                         [dim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(scatter_along(indices.sizes(), indices, g[0], dim));
                         });
  return {values, indices};
}
static std::tuple<Tensor, Tensor> sort_pair(const Into& values, const Into& indices, const Tensor& self,
                                            std::optional<bool>, int64_t dim, bool descending) {
  return sort_pair(values, indices, self, dim, descending);
}
CRESSET_PAIR_FORMS(sort, , values, indices, (const Tensor& self, int64_t dim, bool descending), (self, dim, descending),
                   "self, dim=-1, descending=false",
                   "The elements in order along a dimension, and where they stood; nan comes last.")
CRESSET_PAIR_FORMS(sort, stable, values, indices,
                   (const Tensor& self, std::optional<bool> stable, int64_t dim, bool descending),
                   (self, stable, dim, descending), "self, stable, dim=-1, descending=false",
                   "The elements in order along a dimension, and where they stood; equals keep their order.")

static Tensor places_in_order(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(sort_pair({}, {}, self.detach(), dim, descending));
}
CRESSET_OP(argsort, , Tensor, (const Tensor& self, int64_t dim, bool descending), "self, dim=-1, descending=false",
           Gradient::none, "The indices that put a dimension in order.")
Tensor argsort(const Tensor& self, int64_t dim, bool descending) try {
  CRESSET_INTERCEPT(argsort, , Tensor, self, dim, descending);
  return places_in_order(self, dim, descending);
}
CRESSET_ERRORS_OF(argsort, , self, dim, descending)
CRESSET_OP(argsort, stable, Tensor, (const Tensor& self, bool stable, int64_t dim, bool descending),
           "self, stable, dim=-1, descending=false", Gradient::none,
           "The indices that put a dimension in order; equals keep theirs.")
Tensor argsort(const Tensor& self, bool stable, int64_t dim, bool descending) try {
  CRESSET_INTERCEPT(argsort, stable, Tensor, self, stable, dim, descending);
  return places_in_order(self, dim, descending);
}
CRESSET_ERRORS_OF(argsort, stable, self, stable, dim, descending)

static Tensor msort_into(const Into& into, const Tensor& self) {
  if (into.fresh()) return std::get<0>(sort_pair({}, {}, self, 0, false));
  Tensor indices = empty_contiguous({0}, kLong, self.device());
  return std::get<0>(sort_pair(into, into_out(indices), self, 0, false));
}
CRESSET_FORMS_OUT_OF(Gradient::composed, msort, , (const Tensor& self), (self), "self",
                     "The elements in order along the first dimension.")

}  // namespace cresset
