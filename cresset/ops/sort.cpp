// Ordering: the gradient goes back to the places that were picked, through the values only.
#include "cresset/ops/sort.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/reduce.h"

namespace cresset {

static std::tuple<Tensor, Tensor> topk_into(const Into& values_into, const Into& indices_into, const Tensor& self,
                                            int64_t k, int64_t dim, bool largest, bool sorted) {
  CRESSET_CHECK_AS(TypeError, !self.is_complex(), "topk: not implemented for '", toString(self.dtype()),
                   "': complex numbers have no order (expected a real dtype)");
  dim = wrap_dim("topk", dim, self);
  int64_t size = self.dim() ? self.size(dim) : 1;
  CRESSET_CHECK_AS(IndexError, k >= 0 && k <= size, "topk: selected index k out of range: found ", k, " for dimension ",
                   dim, " of shape ", text_of(self.sizes()), " (expected 0 to ", size, ")");
  Dims sizes = self.sizes();
  if (sizes.rank()) sizes[static_cast<int>(dim)] = k;
  Tensor values = result("topk", values_into, sizes, self.dtype(), self.device(), {&self});
  Tensor indices = result("topk", indices_into, sizes, kLong, self.device(), {&self});
  if (k > 0) topk_kernel(values, indices, self, k, dim, largest, sorted);
  differentiable_outputs("TopkBackward0", values_into, {&values, &indices}, inputs(self), saved(indices),
                         [from = KeptDims(self.sizes()), dim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(scatter_along(from, indices, g[0], dim));
                         });
  return {values, indices};
}
CRESSET_OP(topk, , detail::TwoTensors, (const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted),
           "self, k, dim=-1, largest=true, sorted=true", Gradient::formula,
           "The k largest (or smallest) elements along a dimension and their indices.")
std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) try {
  CRESSET_INTERCEPT(topk, , detail::TwoTensors, self, k, dim, largest, sorted);
  return topk_into({}, {}, self, k, dim, largest, sorted);
}
CRESSET_ERRORS_OF(topk, , self, k, dim, largest, sorted)
static const Op& topk_out_op =
    define_op("topk_out", &topk_out, "values, indices, self, k, dim=-1, largest=true, sorted=true",
              "The k largest (or smallest) elements along a dimension and their indices.",
              {.where = Where::function, .functional = &topk_op});
std::tuple<Tensor&, Tensor&> topk_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t k, int64_t dim,
                                      bool largest, bool sorted) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(topk_out_op, values, indices, self, k, dim, largest, sorted))
    topk_into(into_out(values), into_out(indices), self, k, dim, largest, sorted);
  return {values, indices};
}
CRESSET_ERRORS_OF(topk_out, , values, indices, self, k, dim, largest, sorted)

}  // namespace cresset
