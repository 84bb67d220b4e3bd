// Shape rules that the ops of linear algebra share, and the layout that LAPACK wants.
#pragma once

#include "cresset/ops/copied_out.h"
#include "cresset/ops/linalg.h"
#include "cresset/ops/matmul.h"
#include "cresset/ops/matrix.h"
#include "cresset/ops/shape.h"

// Registers an op of linear algebra, which is no method of Tensor.
#define CRESSET_LINALG_OP(...) CRESSET_OP(__VA_ARGS__, .where = Where::function)

namespace cresset {

inline void check_matrices(const char* op, const Tensor& x, const char* argument = "A") {
  CRESSET_CHECK_AS(ShapeError, x.dim() >= 2, op, ": The input tensor ", argument,
                   " must have at least 2 dimensions, found shape ", text_of(x.sizes()));
}
inline void check_square(const char* op, const Tensor& x, const char* argument = "A") {
  check_matrices(op, x, argument);
  CRESSET_CHECK_AS(ShapeError, x.size(-1) == x.size(-2), op, ": ", argument,
                   " must be batches of square matrices, but they are ", x.size(-2), " by ", x.size(-1), " matrices");
}
inline void check_lapack_dtype(const char* op, const Tensor& x) {
  CRESSET_CHECK_AS(TypeError, is_differentiable(x.dtype()), op,
                   ": Expected a floating point or complex tensor as input. Got ", toString(x.dtype()));
  CRESSET_CHECK_AS(TypeError, x.dtype() != kHalf && x.dtype() != kBFloat16, op,
                   ": Low precision dtypes not supported. Got ", toString(x.dtype()));
}
inline void check_same_kind(const char* op, const Tensor& a, const Tensor& b, const char* name_a, const char* name_b) {
  CRESSET_CHECK_AS(TypeError, a.dtype() == b.dtype(), op, ": Expected ", name_a, " and ", name_b,
                   " to have the same dtype, but found ", name_a, " of type ", toString(a.dtype()), " and ", name_b,
                   " of type ", toString(b.dtype()), " instead");
  check_same_device(op, a, b);
}

inline Dims batch_sizes(const Tensor& x, int64_t last = 2) {
  return Dims(x.sizes().slice(0, static_cast<size_t>(x.dim() - last)));
}
inline Dims with_sizes(Dims batch, std::initializer_list<int64_t> more) {
  for (int64_t n : more) batch.push_back(n);
  return batch;
}

// Matrices of their own memory that lie column by column.
inline Tensor column_major(IntArrayRef sizes, DType dtype, Device device) {
  Dims strides = contiguous_strides(sizes);
  const int rank = strides.rank();
  strides[rank - 1] = std::max<int64_t>(sizes[static_cast<size_t>(rank - 2)], 1);
  strides[rank - 2] = 1;
  return empty_strided(sizes, strides, dtype, device);
}
// A copy of x's values, broadcast to `sizes`, in that layout. No part of the graph.
inline Tensor column_copy(const Tensor& x, IntArrayRef sizes) {
  Tensor y = column_major(sizes, x.dtype(), x.device());
  copy_kernel(y, expand(x.detach(), sizes));
  return y;
}
inline Tensor column_copy(const Tensor& x) { return column_copy(x, x.sizes()); }

inline Tensor new_info(const Tensor& x) { return empty_contiguous(batch_sizes(x), kInt, x.device()); }
inline void check_info(const Tensor& info, LinAlgFailure failure) {
  linalg_check_kernel(info, static_cast<int64_t>(failure));
}

}  // namespace cresset
