// select_scatter and its relatives: a copy of self with src in place of one of its views (declared in ops/rearrange.h).
#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/rearrange.h"
#include "cresset/ops/shape.h"

namespace cresset {
namespace {

// `part` is a view of y, a fresh copy of self.
void write_part(const char* op, const Tensor& part, const Tensor& src) {
  CRESSET_CHECK_AS(ShapeError, part.sizes() == src.sizes(), op, ": expected src to have a size equal to the ",
                   "view of self that it replaces. src size = ", text_of(src.sizes()),
                   ", view size = ", text_of(part.sizes()));
  CRESSET_CHECK_AS(DeviceError, part.device() == src.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   part.device().str(), " and ", src.device().str());
  copy_kernel(part, src.detach());
}
// A copy with self's strides, out of the graph.
Tensor copied(const Tensor& self) { return self.detach().clone(); }
Tensor zeros_for(const Tensor& g, IntArrayRef sizes) { return g.new_zeros(sizes); }

struct Diagonal {
  Dims sizes, strides;
  int64_t offset;
};
Diagonal diagonal_of(const Tensor& x, int64_t offset, int64_t dim1, int64_t dim2) {
  int a = wrap_dim("diagonal_scatter", dim1, x), b = wrap_dim("diagonal_scatter", dim2, x);
  CRESSET_CHECK_AS(ShapeError, x.dim() >= 2 && a != b, "diagonal_scatter: diagonal dimensions cannot be identical ",
                   dim1, ", ", dim2, " (shape ", text_of(x.sizes()), ")");
  int64_t length = offset >= 0 ? std::min(x.size(a), x.size(b) - offset) : std::min(x.size(a) + offset, x.size(b));
  length = std::max<int64_t>(length, 0);
  int64_t start = x.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * x.stride(b) : -offset * x.stride(a);
  Diagonal d{{}, {}, start};
  for (int i = 0; i < x.dim(); i++) {
    if (i == a || i == b) continue;
    d.sizes.push_back(x.size(i));
    d.strides.push_back(x.stride(i));
  }
  d.sizes.push_back(length);
  d.strides.push_back(x.stride(a) + x.stride(b));
  return d;
}

}  // namespace

CRESSET_OP(select_scatter, , Tensor, (const Tensor& self, const Tensor& src, int64_t dim, int64_t index),
           "self, src, dim, index", Gradient::formula, "A copy of self with src in place of select(dim, index).")
Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) try {
  CRESSET_INTERCEPT(select_scatter, , Tensor, self, src, dim, index);
  Tensor y = copied(self);
  write_part("select_scatter", select(y, dim, index).detach(), src);
  return differentiable("SelectScatterBackward0", y, inputs(self, src), saved(),
                        [dim, index, from = KeptDims(src.sizes()), type = src.dtype()](const Tensor& g, Wants wants) {
                          return grads(wants(0) ? select_scatter(g, zeros_for(g, from), dim, index) : Tensor(),
                                       wants(1) ? select(g, dim, index).to(type) : Tensor());
                        });
}
CRESSET_ERRORS_OF(select_scatter, , self, src, dim, index)

CRESSET_OP(slice_scatter, , Tensor,
           (const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
            std::optional<int64_t> end, int64_t step),
           "self, src, dim=0, start=std::nullopt, end=std::nullopt, step=1", Gradient::formula,
           "A copy of self with src in place of slice(dim, start, end, step).")
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) try {
  CRESSET_INTERCEPT(slice_scatter, , Tensor, self, src, dim, start, end, step);
  Tensor y = copied(self);
  write_part("slice_scatter", slice(y, dim, start, end, step).detach(), src);
  return differentiable(
      "SliceScatterBackward0", y, inputs(self, src), saved(),
      [dim, start, end, step, from = KeptDims(src.sizes()), type = src.dtype()](const Tensor& g, Wants wants) {
        return grads(wants(0) ? slice_scatter(g, zeros_for(g, from), dim, start, end, step) : Tensor(),
                     wants(1) ? slice(g, dim, start, end, step).to(type) : Tensor());
      });
}
CRESSET_ERRORS_OF(slice_scatter, , self, src, dim, start, end, step)

CRESSET_OP(diagonal_scatter, , Tensor,
           (const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2),
           "self, src, offset=0, dim1=0, dim2=1", Gradient::formula,
           "A copy of self with src in place of diagonal(offset, dim1, dim2).")
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) try {
  CRESSET_INTERCEPT(diagonal_scatter, , Tensor, self, src, offset, dim1, dim2);
  Tensor y = copied(self);
  Diagonal d = diagonal_of(y, offset, dim1, dim2);
  write_part("diagonal_scatter", alias(y, d.sizes, d.strides, d.offset), src);
  return differentiable(
      "DiagonalScatterBackward0", y, inputs(self, src), saved(),
      [offset, dim1, dim2, from = KeptDims(src.sizes()), type = src.dtype()](const Tensor& g, Wants wants) {
        Tensor for_src;
        if (wants(1)) {
          Diagonal d = diagonal_of(g, offset, dim1, dim2);
          for_src = as_strided(g, d.sizes, d.strides, d.offset).to(type);
        }
        return grads(wants(0) ? diagonal_scatter(g, zeros_for(g, from), offset, dim1, dim2) : Tensor(),
                     std::move(for_src));
      });
}
CRESSET_ERRORS_OF(diagonal_scatter, , self, src, offset, dim1, dim2)

// The copy has self's strides but no offset, and the view counts from the copy's beginning, as in PyTorch.
CRESSET_OP(as_strided_scatter, , Tensor,
           (const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
            std::optional<int64_t> storage_offset),
           "self, src, size, stride, storage_offset=std::nullopt", Gradient::formula,
           "A copy of self with src in place of as_strided(size, stride, storage_offset).")
Tensor as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) try {
  CRESSET_INTERCEPT(as_strided_scatter, , Tensor, self, src, size, stride, storage_offset);
  CRESSET_CHECK_AS(ShapeError, !self.requires_grad() || self.is_non_overlapping_and_dense(),
                   "as_strided_scatter: only works when self's memory is dense, found shape ", text_of(self.sizes()),
                   ", strides ", text_of(self.strides()));
  Tensor y = copied(self);
  write_part("as_strided_scatter", as_strided(y, size, stride, storage_offset).detach(), src);
  return differentiable(
      "AsStridedScatterBackward0", y, inputs(self, src), saved(),
      [own = KeptDims(y.sizes()), own_strides = KeptDims(y.strides()), size = KeptDims(size), stride = KeptDims(stride),
       storage_offset, from = KeptDims(src.sizes()), type = src.dtype()](const Tensor& g, Wants wants) {
        // In the memory order of the result, by which the view was made.
        Tensor like = g;
        if (g.strides() != IntArrayRef(own_strides)) {
          Tensor laid_out = empty_strided(own, own_strides, g.dtype(), g.device());
          like = g.requires_grad() ? copy_(laid_out, g) : (copy_kernel(laid_out, g), laid_out);
        }
        return grads(wants(0) ? as_strided_scatter(like, zeros_for(g, from), size, stride, storage_offset) : Tensor(),
                     wants(1) ? as_strided(like, size, stride, storage_offset).to(type) : Tensor());
      });
}
CRESSET_ERRORS_OF(as_strided_scatter, , self, src, size, stride, storage_offset)

}  // namespace cresset
