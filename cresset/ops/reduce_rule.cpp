// Dimensions as masks, and shapes back and forth.
#include "cresset/ops/reduce_rule.h"

#include "cresset/core/kernel.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"
#include "cresset/ops/shape_rule.h"

namespace cresset {

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

Dims masked_dims(const Tensor& x, uint64_t mask) {
  Dims dims;
  if (mask == ~uint64_t{0}) return dims;
  for (int i = 0; i < x.dim(); i++)
    if (mask >> i & 1) dims.push_back(i);
  return dims;
}

int64_t reduced_count(const Tensor& x, uint64_t mask) {
  int64_t count = 1;
  for (int i = 0; i < x.dim(); i++)
    if (mask >> i & 1) count *= x.impl()->sizes[i];
  return count;
}

Tensor with_kept_dims(const Tensor& y, const Tensor& x, uint64_t mask) {
  Dims sizes = reduced_sizes(x, mask, true), strides;
  if (y.sizes() == IntArrayRef(sizes)) return y;
  int from = 0;
  for (int i = 0; i < x.dim(); i++) strides.push_back(mask >> i & 1 ? 1 : y.impl()->strides[from++]);
  return alias(y, sizes, strides, y.storage_offset());
}

Tensor unreduced(const Tensor& y, int64_t rank, uint64_t mask, bool keepdim) {
  Tensor wide = y;
  if (!keepdim)
    for (int i = 0; i < rank; i++)
      if (mask >> i & 1) wide = unsqueeze(wide, i);
  return wide;
}

Tensor spread(const Tensor& g, IntArrayRef sizes, uint64_t mask, bool keepdim) {
  return expand(unreduced(g, static_cast<int64_t>(sizes.size()), mask, keepdim), sizes);
}

void check_ordered(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, !x.is_complex(), op, ": not implemented for '", toString(x.dtype()),
                   "': complex numbers have no order (expected a real dtype)");
}

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

}  // namespace cresset
