// Reductions: the shape rule drops or keeps the reduced dimensions; kernels take the result either way.
#include "cresset/ops/reduce.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// Which dimensions a list names; none means all.
uint64_t dim_mask(const char* op, IntArrayRef dims, const Tensor& x) {
  if (dims.empty()) return ~uint64_t{0};
  CRESSET_CHECK_AS(ShapeError, x.dim() <= 64, op, ": only tensors with up to 64 dims are supported, found ", x.dim());
  uint64_t mask = 0;
  for (int64_t dim : dims) {
    uint64_t bit = uint64_t{1} << wrap_dim(op, dim, x);
    CRESSET_CHECK_AS(ShapeError, !(mask & bit), op, ": dim ", dim, " appears multiple times in the list of dims ",
                     text_of(dims));
    mask |= bit;
  }
  return mask;
}

Dims reduced_sizes(const Tensor& x, uint64_t mask, bool keepdim) {
  Dims sizes;
  for (int i = 0; i < x.dim(); i++) {
    if (!(mask >> i & 1))
      sizes.push_back(x.impl()->sizes[i]);
    else if (keepdim)
      sizes.push_back(1);
  }
  return sizes;
}

// The list as kernels want it: empty for all.
Dims masked_dims(const Tensor& x, uint64_t mask) {
  Dims dims;
  if (mask == ~uint64_t{0}) return dims;
  for (int i = 0; i < x.dim(); i++)
    if (mask >> i & 1) dims.push_back(i);
  return dims;
}

// y with the reduced dimensions back in place, as size 1.
Tensor with_kept_dims(const Tensor& y, const Tensor& x, uint64_t mask) {
  Dims sizes = reduced_sizes(x, mask, true), strides;
  if (y.sizes() == IntArrayRef(sizes)) return y;
  int from = 0;
  for (int i = 0; i < x.dim(); i++) strides.push_back(mask >> i & 1 ? 1 : y.impl()->strides[from++]);
  return alias(y, sizes, strides, y.storage_offset());
}

// The gradient of a sum, spread over what was summed.
Tensor spread(const Tensor& g, IntArrayRef sizes, uint64_t mask, bool keepdim) {
  Tensor wide = g;
  if (!keepdim)
    for (int i = 0; i < static_cast<int>(sizes.size()); i++)
      if (mask >> i & 1) wide = unsqueeze(wide, i);
  return expand(wide, sizes);
}

void check_ordered(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, !x.is_complex(), op, ": not implemented for '", toString(x.dtype()),
                   "': complex numbers have no order (expected a real dtype)");
}

// There is no maximum of nothing: wherever a result exists, what it reduces must not be empty.
void check_not_empty(const char* op, const Tensor& x, uint64_t mask, IntArrayRef dims) {
  if (CRESSET_LIKELY(x.numel() > 0)) return;
  CRESSET_CHECK_AS(IndexError, !dims.empty(), op,
                   "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                   "the 'dim' argument (found shape ",
                   text_of(x.sizes()), ")");
  for (int i = 0; i < x.dim(); i++)
    CRESSET_CHECK_AS(IndexError, !(mask >> i & 1) || x.impl()->sizes[i] > 0, op, "(): Expected reduction dim ", i,
                     " to have non-zero size, found shape ", text_of(x.sizes()));
}

// How much of a maximum's gradient each element gets: equals share it. Constant as far as gradients are concerned.
Tensor tie_share(const Tensor& x, const Tensor& top, uint64_t mask) {
  Tensor kept = with_kept_dims(top, x, mask);
  Tensor ties = empty_contiguous(x.sizes(), x.dtype(), x.device()),
         share = empty_contiguous(x.sizes(), x.dtype(), x.device());
  Tensor count = empty_contiguous(kept.sizes(), x.dtype() == kDouble ? kDouble : kFloat, x.device());
  tie_mask_kernel(ties, x, kept);
  sum_kernel(count, ties, masked_dims(x, mask));
  tie_share_kernel(share, ties, count);
  return share;
}

}  // namespace

// ---- sum
static Tensor sum_into(const char* node, const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim,
                       std::optional<DType> dtype) {
  uint64_t mask = dim_mask("sum", dim, self);
  DType type = dtype.value_or(into.out() && into.tensor->defined() ? into.tensor->dtype()
                              : is_integral(self.dtype(), true)    ? kLong
                                                                   : self.dtype());
  Tensor y = result("sum", into, reduced_sizes(self, mask, keepdim), type, self.device(), {&self});
  sum_kernel(y, self, masked_dims(self, mask));
  return differentiable(node, into, y, inputs(self), saved(),
                        [from = KeptDims(self.sizes()), mask, keepdim, type = self.dtype()](const Tensor& g, Wants) {
                          return grads(spread(g, from, mask, keepdim).to(type));
                        });
}
static Tensor sum_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim,
                       std::optional<DType> dtype) {
  return sum_into("SumBackward1", into, self, dim, keepdim, dtype);
}
static Tensor sum_into(const Into& into, const Tensor& self, std::optional<DType> dtype) {
  return sum_into("SumBackward0", into, self, IntArrayRef(), false, dtype);
}
CRESSET_FUNCTION_FORM(sum, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                      (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                      "The sum over the given dimensions (none: all).")
CRESSET_OUT_FORM(sum, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                 (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                 "The sum over the given dimensions (none: all).")
CRESSET_FUNCTION_FORM(sum, , (const Tensor& self, std::optional<DType> dtype), (self, dtype),
                      "self, dtype=std::nullopt", "The sum of all elements.")

// ---- mean
static Tensor mean_into(const char* node, const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim,
                        std::optional<DType> dtype) {
  DType type = dtype.value_or(into.out() && into.tensor->defined() ? into.tensor->dtype() : self.dtype());
  CRESSET_CHECK_AS(TypeError, is_differentiable(type), "mean(): could not infer output dtype. ",
                   dtype ? "Optional" : "Input",
                   " dtype must be either a floating point or complex dtype. Got: ", toString(type));
  uint64_t mask = dim_mask("mean", dim, self);
  Tensor y = result("mean", into, reduced_sizes(self, mask, keepdim), type, self.device(), {&self});
  mean_kernel(y, self, masked_dims(self, mask));
  int64_t count = 1;
  for (int i = 0; i < self.dim(); i++)
    if (mask >> i & 1) count *= self.impl()->sizes[i];
  return differentiable(
      node, into, y, inputs(self), saved(),
      [from = KeptDims(self.sizes()), mask, keepdim, count, type = self.dtype()](const Tensor& g, Wants) {
        return grads(spread(mul(g, 1.0 / static_cast<double>(count)), from, mask, keepdim).to(type));
      });
}
static Tensor mean_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim,
                        std::optional<DType> dtype) {
  return mean_into("MeanBackward1", into, self, dim, keepdim, dtype);
}
static Tensor mean_into(const Into& into, const Tensor& self, std::optional<DType> dtype) {
  return mean_into("MeanBackward0", into, self, IntArrayRef(), false, dtype);
}
CRESSET_FUNCTION_FORM(mean, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                      (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                      "The mean over the given dimensions (none: all), for floating and complex types.")
CRESSET_OUT_FORM(mean, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                 (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                 "The mean over the given dimensions (none: all), for floating and complex types.")
CRESSET_FUNCTION_FORM(mean, , (const Tensor& self, std::optional<DType> dtype), (self, dtype),
                      "self, dtype=std::nullopt", "The mean of all elements.")

// ---- amax, max of all
static Tensor amax_into(const char* op, const char* node, const Into& into, const Tensor& self, IntArrayRef dim,
                        bool keepdim) {
  check_ordered(op, self);
  uint64_t mask = dim_mask(op, dim, self);
  check_not_empty(op, self, mask, dim);
  Tensor y = result(op, into, reduced_sizes(self, mask, keepdim), self.dtype(), self.device(), {&self});
  amax_kernel(y, self, masked_dims(self, mask));
  return differentiable(node, into, y, inputs(self), saved(self, output(y)),
                        [mask, keepdim](const Tensor& g, Wants, const Tensor& self, const Tensor& y) {
                          return grads(mul(spread(g, self.sizes(), mask, keepdim), tie_share(self, y, mask)));
                        });
}
static Tensor amax_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim) {
  return amax_into("amax", "AmaxBackward0", into, self, dim, keepdim);
}
static Tensor max_into(const Into& into, const Tensor& self) {
  return amax_into("max", "MaxBackward1", into, self, IntArrayRef(), false);
}
CRESSET_FUNCTION_FORM(amax, , (const Tensor& self, IntArrayRef dim, bool keepdim), (self, dim, keepdim),
                      "self, dim={}, keepdim=false",
                      "The maximum over the given dimensions (none: all); equals share the gradient.")
CRESSET_OUT_FORM(amax, , (const Tensor& self, IntArrayRef dim, bool keepdim), (self, dim, keepdim),
                 "self, dim={}, keepdim=false",
                 "The maximum over the given dimensions (none: all); equals share the gradient.")
CRESSET_FUNCTION_FORM(max, , (const Tensor& self), (self), "self",
                      "The maximum of all elements; equals share the gradient.")
CRESSET_OUT_FORM(max, , (const Tensor& self), (self), "self", "The maximum of all elements; equals share the gradient.")

// ---- max along a dimension
static std::tuple<Tensor, Tensor> max_along(const Into& values_into, const Into& indices_into, const Tensor& self,
                                            int64_t dim, bool keepdim) {
  check_ordered("max", self);
  dim = wrap_dim("max", dim, self);
  uint64_t mask = uint64_t{1} << dim;
  check_not_empty("max", self, mask, dim);
  Dims sizes = reduced_sizes(self, mask, keepdim);
  Tensor values = result("max", values_into, sizes, self.dtype(), self.device(), {&self});
  Tensor indices = result("max", indices_into, sizes, kLong, self.device(), {&self});
  max_dim_kernel(with_kept_dims(values, self, mask), with_kept_dims(indices, self, mask), self, dim);
  differentiable_outputs("MaxBackward0", values_into, {&values, &indices}, inputs(self), saved(indices),
                         [from = KeptDims(self.sizes()), dim, keepdim](OutputGrads g, Wants, const Tensor& indices) {
                           if (!g[0].defined()) return grads(Tensor());
                           bool kept = keepdim || from.rank() == 0;
                           return grads(scatter_along(from, kept ? indices : unsqueeze(indices, dim),
                                                      kept ? g[0] : unsqueeze(g[0], dim), dim));
                         });
  return {values, indices};
}
CRESSET_OP(max, dim, detail::TwoTensors, (const Tensor& self, int64_t dim, bool keepdim), "self, dim, keepdim=false",
           Gradient::formula, "The maximum along a dimension and the index of the first place where it stands.")
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) try {
  CRESSET_INTERCEPT(max, dim, detail::TwoTensors, self, dim, keepdim);
  return max_along({}, {}, self, dim, keepdim);
}
CRESSET_ERRORS_OF(max, dim, self, dim, keepdim)
static const Op& maxdim_out_op = define_op(
    "max_out", static_cast<detail::TwoTensorRefs (*)(Tensor&, Tensor&, const Tensor&, int64_t, bool)>(&max_out),
    "max, max_values, self, dim, keepdim=false",
    "The maximum along a dimension and the index of the first place where it stands.",
    {.overload = "dim", .where = Where::function, .functional = &maxdim_op});
std::tuple<Tensor&, Tensor&> max_out(Tensor& max, Tensor& max_values, const Tensor& self, int64_t dim,
                                     bool keepdim) try {
  if (CRESSET_LIKELY(thread_state.modes_above == 0) ||
      !intercepted<void>(maxdim_out_op, max, max_values, self, dim, keepdim))
    max_along(into_out(max), into_out(max_values), self, dim, keepdim);
  return {max, max_values};
}
CRESSET_ERRORS_OF(maxdim_out, , max, max_values, self, dim, keepdim)

// ---- places along a dimension
Tensor gather_along(const Tensor& x, const Tensor& index, int64_t dim) {
  Tensor y = empty_contiguous(index.sizes(), x.dtype(), x.device());
  gather_along_kernel(y, x, index, dim);
  return differentiable("GatherBackward0", y, inputs(x), saved(index),
                        [from = KeptDims(x.sizes()), dim](const Tensor& g, Wants, const Tensor& index) {
                          return grads(scatter_along(from, index, g, dim));
                        });
}
Tensor scatter_along(IntArrayRef sizes, const Tensor& index, const Tensor& src, int64_t dim) {
  Tensor y = new_zeros(src, sizes);
  scatter_along_kernel(y, index, src, dim);
  return differentiable(
      "ScatterAddBackward0", y, inputs(src), saved(index),
      [dim](const Tensor& g, Wants, const Tensor& index) { return grads(gather_along(g, index, dim)); });
}

}  // namespace cresset
