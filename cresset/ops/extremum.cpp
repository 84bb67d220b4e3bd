// Maxima and minima. Both are one definition, told apart by a side.
#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/shape.h"

namespace cresset {

namespace {
struct Side {
  const ReduceKernel& over_dims;
  const BestKernel& along_dim;
};
const Side largest{amax_kernel, max_dim_kernel}, smallest{amin_kernel, min_dim_kernel};
}  // namespace

// ---- over several dimensions, and of all
static Tensor best_into(const Side& side, const char* op, const char* node, const Into& into, const Tensor& self,
                        IntArrayRef dim, bool keepdim) {
  check_ordered(op, self);
  uint64_t mask = dim_mask(op, dim, self);
  check_not_empty(op, self, mask, dim);
  Tensor y = result(op, into, reduced_sizes(self, mask, keepdim), self.dtype(), self.device(), {&self});
  side.over_dims(y, self, masked_dims(self, mask));
  return differentiable(node, into, y, inputs(self), saved(self, output(y)),
                        [mask, keepdim](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
                          return grads(mul(spread(g, self.sizes(), mask, keepdim), tie_share(self, y, mask)));
                        });
}
static Tensor amax_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim) {
  return best_into(largest, "amax", "AmaxBackward0", into, self, dim, keepdim);
}
static Tensor amin_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim) {
  return best_into(smallest, "amin", "AminBackward0", into, self, dim, keepdim);
}
static Tensor max_into(const Into& into, const Tensor& self) {
  return best_into(largest, "max", "MaxBackward1", into, self, IntArrayRef(), false);
}
static Tensor min_into(const Into& into, const Tensor& self) {
  return best_into(smallest, "min", "MinBackward1", into, self, IntArrayRef(), false);
}
CRESSET_FORMS_OUT(amax, , (const Tensor& self, IntArrayRef dim, bool keepdim), (self, dim, keepdim),
                  "self, dim={}, keepdim=false",
                  "The maximum over the given dimensions (none: all); equals share the gradient.")
CRESSET_FORMS_OUT(amin, , (const Tensor& self, IntArrayRef dim, bool keepdim), (self, dim, keepdim),
                  "self, dim={}, keepdim=false",
                  "The minimum over the given dimensions (none: all); equals share the gradient.")
CRESSET_FORMS_OUT(max, , (const Tensor& self), (self), "self",
                  "The maximum of all elements; equals share the gradient.")
CRESSET_FORMS_OUT(min, , (const Tensor& self), (self), "self",
                  "The minimum of all elements; equals share the gradient.")

// ---- along a dimension
static std::tuple<Tensor, Tensor> best_along(const Side& side, const char* op, const char* node,
                                             const Into& values_into, const Into& indices_into, const Tensor& self,
                                             int64_t dim, bool keepdim) {
  check_ordered(op, self);
  dim = wrap_dim(op, dim, self);
  uint64_t mask = uint64_t{1} << dim;
  check_not_empty(op, self, mask, dim);
  Dims sizes = reduced_sizes(self, mask, keepdim);
  Tensor values = result(op, values_into, sizes, self.dtype(), self.device(), {&self});
  Tensor indices = result(op, indices_into, sizes, kLong, self.device(), {&self});
  side.along_dim(with_kept_dims(values, self, mask), with_kept_dims(indices, self, mask), self, dim);
  differentiable_outputs(node, values_into, {&values, &indices}, inputs(self), saved(indices),
                         [from = KeptDims(self.sizes()), dim, keepdim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           return grads(selected_backward(from, indices, g[0], dim, keepdim));
                         });
  return {values, indices};
}
static std::tuple<Tensor, Tensor> max_pair(const Into& values, const Into& indices, const Tensor& self, int64_t dim,
                                           bool keepdim) {
  return best_along(largest, "max", "MaxBackward0", values, indices, self, dim, keepdim);
}
static std::tuple<Tensor, Tensor> min_pair(const Into& values, const Into& indices, const Tensor& self, int64_t dim,
                                           bool keepdim) {
  return best_along(smallest, "min", "MinBackward0", values, indices, self, dim, keepdim);
}
CRESSET_PAIR_FORMS(max, dim, max, max_values, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                   "self, dim, keepdim=false",
                   "The maximum along a dimension and the index of the first place where it stands.")
CRESSET_PAIR_FORMS(min, dim, min, min_indices, (const Tensor& self, int64_t dim, bool keepdim), (self, dim, keepdim),
                   "self, dim, keepdim=false",
                   "The minimum along a dimension and the index of the first place where it stands.")

// ---- aminmax
static std::tuple<Tensor, Tensor> aminmax_pair(const Into& min, const Into& max, const Tensor& self,
                                               std::optional<int64_t> dim, bool keepdim) {
  IntArrayRef dims = dim ? IntArrayRef(*dim) : IntArrayRef();
  return {best_into(smallest, "aminmax", "AminmaxBackward0", min, self, dims, keepdim),
          best_into(largest, "aminmax", "AminmaxBackward0", max, self, dims, keepdim)};
}
CRESSET_PAIR_FORMS(aminmax, , min, max, (const Tensor& self, std::optional<int64_t> dim, bool keepdim),
                   (self, dim, keepdim), "self, dim=std::nullopt, keepdim=false",
                   "The minimum and the maximum along a dimension (none: of all); equals share the gradient.")

// ---- argmax, argmin
static Tensor place_into(const Side& side, const char* op, const Into& into, const Tensor& self,
                         std::optional<int64_t> dim, bool keepdim) {
  check_ordered(op, self);
  uint64_t mask = dim ? uint64_t{1} << wrap_dim(op, *dim, self) : ~uint64_t{0};
  check_not_empty(op, self, mask, dim ? IntArrayRef(*dim) : IntArrayRef());
  Tensor y = result(op, into, reduced_sizes(self, mask, keepdim), kLong, self.device(), {&self});
  Tensor line = dim ? self.detach() : reshape(self.detach(), {-1});  // places among all are those in row-major order
  int64_t along = dim ? wrap_dim(op, *dim, self) : 0;
  Tensor places = dim ? with_kept_dims(y, self, mask) : alias(y, {1}, {1}, y.storage_offset());
  Tensor values = empty_contiguous(places.sizes(), self.dtype(), self.device());
  side.along_dim(values, places, line, along);
  return not_differentiable(into, y);
}
static Tensor argmax_into(const Into& into, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_into(largest, "argmax", into, self, dim, keepdim);
}
static Tensor argmin_into(const Into& into, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_into(smallest, "argmin", into, self, dim, keepdim);
}
CRESSET_FORMS_OUT_OF(Gradient::none, argmax, , (const Tensor& self, std::optional<int64_t> dim, bool keepdim),
                     (self, dim, keepdim), "self, dim=std::nullopt, keepdim=false",
                     "The index of the first maximum along a dimension (none: among all elements).")
CRESSET_FORMS_OUT_OF(Gradient::none, argmin, , (const Tensor& self, std::optional<int64_t> dim, bool keepdim),
                     (self, dim, keepdim), "self, dim=std::nullopt, keepdim=false",
                     "The index of the first minimum along a dimension (none: among all elements).")

}  // namespace cresset
