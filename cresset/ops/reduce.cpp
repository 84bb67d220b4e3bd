// Reductions: the shape rule drops or keeps the reduced dimensions; the kernel sees them all.
#include "cresset/ops/reduce.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// Which dimensions a list names; none means all.
uint64_t dim_mask(const char* op, IntArrayRef dims, const Tensor& x) {
  if (dims.empty()) return ~uint64_t{0};
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

Dims masked_dims(const Tensor& x, uint64_t mask) {
  Dims dims;
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

}  // namespace

static Tensor sum_into(const Into& into, const Tensor& self, IntArrayRef dim, bool keepdim,
                       std::optional<DType> dtype) {
  uint64_t mask = dim_mask("sum", dim, self);
  DType type = dtype.value_or(into.out() && into.tensor->defined() ? into.tensor->dtype()
                              : is_integral(self.dtype(), true)    ? kLong
                                                                   : self.dtype());
  Tensor y = result("sum", into, reduced_sizes(self, mask, keepdim), type, self.device(), {&self});
  sum_kernel(with_kept_dims(y, self, mask), self, masked_dims(self, mask));
  return differentiable("SumBackward1", into, y, inputs(self), saved(),
                        [from = KeptDims(self.sizes()), mask, keepdim, type = self.dtype()](const Tensor& g, Wants) {
                          return grads(spread(g, from, mask, keepdim).to(type));
                        });
}
CRESSET_FUNCTION_FORM(sum, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                      (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                      "The sum over the given dimensions (none: all).")
CRESSET_OUT_FORM(sum, dim, (const Tensor& self, IntArrayRef dim, bool keepdim, std::optional<DType> dtype),
                 (self, dim, keepdim, dtype), "self, dim, keepdim=false, dtype=std::nullopt",
                 "The sum over the given dimensions (none: all).")

static Tensor sum_into(const Into& into, const Tensor& self, std::optional<DType> dtype) {
  return sum_into(into, self, IntArrayRef(), false, dtype);
}
CRESSET_FUNCTION_FORM(sum, , (const Tensor& self, std::optional<DType> dtype), (self, dtype),
                      "self, dtype=std::nullopt", "The sum of all elements.")

}  // namespace cresset
