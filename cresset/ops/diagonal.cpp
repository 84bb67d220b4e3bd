// Diagonals and triangles: diagonal is a view; the ops around it are composed of it, so that only tril and triu need a
// kernel.
#include "cresset/ops/diagonal.h"

#include <algorithm>

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/shape.h"

namespace cresset {

// ---- tril, triu
static Tensor triangle_into(const char* op, bool upper, const Into& into, const Tensor& self, int64_t diagonal) {
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2, op, ": input tensor must have at least 2 dimensions, found shape ",
                   text_of(self.sizes()));
  const bool onto_itself = !into.fresh() && into.tensor->is_same(self);
  Tensor y = onto_itself ? result(op, into, self.sizes(), self.dtype(), self.device())
                         : result(op, into, self.sizes(), self.dtype(), self.device(), {&self});
  triangle_kernel(y, self, diagonal, upper);
  return differentiable(
      upper ? "TriuBackward0" : "TrilBackward0", into, y, inputs(self), saved(),
      [diagonal, upper](const Tensor& g, Wants) { return grads(upper ? triu(g, diagonal) : tril(g, diagonal)); });
}
static Tensor tril_into(const Into& into, const Tensor& self, int64_t diagonal) {
  return triangle_into("tril", false, into, self, diagonal);
}
static Tensor triu_into(const Into& into, const Tensor& self, int64_t diagonal) {
  return triangle_into("triu", true, into, self, diagonal);
}
CRESSET_FORMS(tril, , (const Tensor& self, int64_t diagonal), (self, diagonal), "self, diagonal=0",
              "The lower triangle of each matrix, up to the given diagonal; zeros above.")
CRESSET_FORMS(triu, , (const Tensor& self, int64_t diagonal), (self, diagonal), "self, diagonal=0",
              "The upper triangle of each matrix, from the given diagonal on; zeros below.")

// ---- diagonal
static Tensor diagonal_view(const char* op, const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  CRESSET_CHECK_AS(ShapeError, self.dim() >= 2, op, ": input must have at least 2 dimensions, found shape ",
                   text_of(self.sizes()), " (Dimension out of range)");
  const int a = wrap_dim(op, dim1, self), b = wrap_dim(op, dim2, self);
  CRESSET_CHECK_AS(ShapeError, a != b, op, ": diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t rows = self.size(a), cols = self.size(b);
  const int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(rows, cols - offset) : std::min(rows + offset, cols));
  Dims sizes, strides;
  for (int i = 0; i < self.dim(); i++) {
    if (i == a || i == b) continue;
    sizes.push_back(self.size(i));
    strides.push_back(self.stride(i));
  }
  sizes.push_back(length);
  strides.push_back(self.stride(a) + self.stride(b));
  const int64_t skipped = length == 0 ? 0 : offset >= 0 ? offset * self.stride(b) : -offset * self.stride(a);
  return differentiable_view("DiagonalBackward0", alias(self, sizes, strides, self.storage_offset() + skipped), self,
                             [from = KeptDims(self.sizes()), offset, a, b](const Tensor& g, Wants) {
                               Tensor whole = new_zeros(g, from);
                               copy_(diagonal(whole, offset, a, b), g);
                               return grads(whole);
                             });
}
CRESSET_OP(diagonal, , Tensor, (const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2),
           "self, offset=0, dim1=0, dim2=1", Gradient::formula,
           "A view of the diagonal in the plane of two dimensions; it becomes the last dimension.")
Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) try {
  CRESSET_INTERCEPT(diagonal, , Tensor, self, offset, dim1, dim2);
  return diagonal_view("diagonal", self, offset, dim1, dim2);
}
CRESSET_ERRORS_OF(diagonal, , self, offset, dim1, dim2)

static const Op& linalg_diagonal_op =
    define_op("linalg_diagonal", static_cast<Tensor (*)(const Tensor&, int64_t, int64_t, int64_t)>(&linalg_diagonal),
              "A, offset=0, dim1=-2, dim2=-1", "A view of the diagonals of a batch of matrices.",
              {.gradient = Gradient::composed, .where = Where::function});
Tensor linalg_diagonal(const Tensor& A, int64_t offset, int64_t dim1, int64_t dim2) try {
  CRESSET_INTERCEPT(linalg_diagonal, , Tensor, A, offset, dim1, dim2);
  return diagonal(A, offset, dim1, dim2);
}
CRESSET_ERRORS_OF(linalg_diagonal, , A, offset, dim1, dim2)

// ---- diag_embed, diag, diagflat
CRESSET_OP(diag_embed, , Tensor, (const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2),
           "self, offset=0, dim1=-2, dim2=-1", Gradient::composed,
           "Matrices of zeros with the last dimension of self on a diagonal.")
Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) try {
  CRESSET_INTERCEPT(diag_embed, , Tensor, self, offset, dim1, dim2);
  const int64_t rank = self.dim() + 1;
  const int a = wrap_dim("diag_embed", dim1, rank), b = wrap_dim("diag_embed", dim2, rank);
  CRESSET_CHECK_AS(ShapeError, a != b, "diag_embed: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  CRESSET_CHECK_AS(ShapeError, self.dim() > 0, "diag_embed: input must have at least 1 dimension, found a 0-d tensor");
  const int64_t side = self.size(-1) + std::abs(offset);
  Dims sizes(self.sizes());
  sizes.resize(static_cast<int>(self.dim()) - 1);
  sizes.insert(std::min(a, b), side);
  sizes.insert(std::max(a, b), side);
  Tensor whole = new_zeros(self, sizes);
  copy_(diagonal(whole, offset, a, b), self);
  return whole;
}
CRESSET_ERRORS_OF(diag_embed, , self, offset, dim1, dim2)

CRESSET_OP(diag, , Tensor, (const Tensor& self, int64_t diagonal), "self, diagonal=0", Gradient::composed,
           "The diagonal of a matrix, as a copy; or the matrix that has a vector on its diagonal.")
Tensor diag(const Tensor& self, int64_t diagonal) try {
  CRESSET_INTERCEPT(diag, , Tensor, self, diagonal);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 1 || self.dim() == 2, "diag: matrix or a vector expected, found shape ",
                   text_of(self.sizes()));
  if (self.dim() == 1) return diag_embed(self, diagonal);
  CRESSET_CHECK_AS(IndexError, diagonal <= self.size(1) && -diagonal <= self.size(0), "diag: invalid diagonal ",
                   diagonal, " for a matrix of shape ", text_of(self.sizes()));
  return clone(cresset::diagonal(self, diagonal), MemoryFormat::Contiguous);
}
CRESSET_ERRORS_OF(diag, , self, diagonal)
static Tensor diag_into(const Into& into, const Tensor& self, int64_t diagonal) {
  const Tensor made = diag(self, diagonal);
  Tensor y = result("diag", into, made.sizes(), made.dtype(), made.device(), {&self});
  copy_kernel(y, made);
  return not_differentiable(into, y);
}
CRESSET_OUT_FORM(diag, , (const Tensor& self, int64_t diagonal), (self, diagonal), "self, diagonal=0",
                 "The diagonal of a matrix, or the matrix that has a vector on its diagonal.")

CRESSET_OP(diagflat, , Tensor, (const Tensor& self, int64_t offset), "self, offset=0", Gradient::composed,
           "The matrix that has all elements of self on a diagonal.")
Tensor diagflat(const Tensor& self, int64_t offset) try {
  CRESSET_INTERCEPT(diagflat, , Tensor, self, offset);
  return diag_embed(reshape(self, {-1}), offset);
}
CRESSET_ERRORS_OF(diagflat, , self, offset)

// ---- fill_diagonal_
CRESSET_OP(
    fill_diagonal_, , Tensor&, (const Tensor& self, const Scalar& fill_value, bool wrap),
    "self, fill_value, wrap=false", Gradient::composed,
    "Sets the elements whose indices are all the same to fill_value; dimensions beyond two must have one size. With "
    "wrap, the diagonal of a tall matrix begins anew, a row below its end.")
Tensor& fill_diagonal_(const Tensor& self, const Scalar& fill_value, bool wrap) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) && intercepted<void>(fill_diagonal__op, self, fill_value, wrap))
    return const_cast<Tensor&>(self);
  check_defined("fill_diagonal_", "self", self);
  const IntArrayRef sizes = self.sizes();
  CRESSET_CHECK_AS(ShapeError, sizes.size() >= 2, "fill_diagonal_: expected at least 2 dimensions, found shape ",
                   text_of(sizes));
  CRESSET_CHECK_AS(ShapeError, sizes.size() == 2 || std::equal(sizes.begin() + 1, sizes.end(), sizes.begin()),
                   "fill_diagonal_: all dimensions of input must be of equal length, found shape ", text_of(sizes));
  int64_t step = 0;
  for (int64_t stride : self.strides()) step += stride;
  const int64_t height = sizes[0], width = sizes[1];
  for (int64_t row = 0; row < (wrap ? height : 1); row += width + 1) {
    const int64_t length = std::min(height - row, width), offset = self.storage_offset() + row * self.stride(0);
    fill_(as_strided(self, {length}, {step}, offset), fill_value);
  }
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(fill_diagonal_, , self, fill_value, wrap)

// ---- trace
CRESSET_OP(trace, , Tensor, (const Tensor& self), "self", Gradient::composed, "The sum of a matrix's diagonal.")
Tensor trace(const Tensor& self) try {
  CRESSET_INTERCEPT(trace, , Tensor, self);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 2, "trace: expected a matrix, found shape ", text_of(self.sizes()));
  return sum(diagonal(self));
}
CRESSET_ERRORS_OF(trace, , self)
static Tensor trace_into(const Into& into, const Tensor& self) {
  const Tensor made = trace(self);
  Tensor y = result("trace", into, made.sizes(), made.dtype(), made.device(), {&self});
  copy_kernel(y, made);
  return not_differentiable(into, y);
}
CRESSET_OUT_FORM(trace, , (const Tensor& self), (self), "self", "The sum of a matrix's diagonal.")

}  // namespace cresset
