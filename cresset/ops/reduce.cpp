// Reductions: the shape rule drops or keeps the reduced dimensions; kernels take the result either way.
#include "cresset/ops/reduce.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce_rule.h"
#include "cresset/ops/scatter_call.h"
#include "cresset/ops/shape.h"

namespace cresset {

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
CRESSET_FORMS_OUT(sum, , (const Tensor& self, std::optional<DType> dtype), (self, dtype), "self, dtype=std::nullopt",
                  "The sum of all elements.")

CRESSET_OP(sum_to_size, , Tensor, (const Tensor& self, IntArrayRef size), "self, size", Gradient::composed,
           "The sum over the dimensions that a tensor of that size would be broadcast along to self's; self, if none.")
Tensor sum_to_size(const Tensor& self, IntArrayRef size) try {
  CRESSET_INTERCEPT(sum_to_size, , Tensor, self, size);
  const IntArrayRef sizes = self.sizes();
  bool fits = size.size() <= sizes.size();
  for (size_t i = 0; fits && i < size.size(); i++)
    fits = size[i] == 1 || size[i] == sizes[sizes.size() - size.size() + i];
  CRESSET_CHECK_AS(ShapeError, fits, "sum_to_size: found size ", text_of(size), " (expected one that broadcasts to ",
                   text_of(sizes), ")");
  return summed_to(self, size);
}
CRESSET_ERRORS_OF(sum_to_size, , self, size)

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
  int64_t count = reduced_count(self, mask);
  return differentiable(
      node, into, y, inputs(self), saved(),
      [from = KeptDims(self.sizes()), mask, keepdim, count, type = self.dtype()](const Tensor& g, Wants) {
        const double share = 1.0 / static_cast<double>(std::max<int64_t>(count, 1));  // of nothing: not nan
        return grads(spread(mul(g, share), from, mask, keepdim).to(type));
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

// ---- places along a dimension
Tensor gather_along(const Tensor& x, const Tensor& index, int64_t dim) {
  Tensor y = empty_contiguous(index.sizes(), x.dtype(), x.device());
  if (y.numel() > 0) gather_kernel(at_least_1d(y), at_least_1d(x), at_least_1d(index), dim, false);
  return differentiable("GatherBackward0", y, inputs(x), saved(index),
                        [from = KeptDims(x.sizes()), dim](const Tensor& g, Wants, const Tensor& index) {
                          return grads(scatter_along(from, index, g, dim));
                        });
}
Tensor scatter_along(IntArrayRef sizes, const Tensor& index, const Tensor& src, int64_t dim) {
  Tensor y = new_zeros(src, sizes);
  if (src.numel() > 0)
    scatter_kernel(at_least_1d(y), at_least_1d(index), at_least_1d(src), dim, static_cast<int64_t>(ScatterMode::add));
  return differentiable(
      "ScatterAddBackward0", y, inputs(src), saved(index),
      [dim](const Tensor& g, Wants, const Tensor& index) { return grads(gather_along(g, index, dim)); });
}
Tensor selected_backward(IntArrayRef sizes, const Tensor& index, const Tensor& g, int64_t dim, bool keepdim) {
  bool kept = keepdim || sizes.empty();
  return scatter_along(sizes, kept ? index : unsqueeze(index, dim), kept ? g : unsqueeze(g, dim), dim);
}

}  // namespace cresset
