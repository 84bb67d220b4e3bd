// What products of matrices share with those of vectors and sums.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

inline Tensor scaled(const Tensor& x, const Scalar& factor) { return factor.equal(1) ? x : mul(x, factor); }

// PyTorch casts a floating factor to an integer dtype; what the dtype cannot hold is refused.
inline void check_factor(const char* op, const char* argument, const Scalar& value, DType dtype) {
  CRESSET_CHECK_AS(TypeError, is_complex(dtype) || !value.isComplex(), op, ": For non-complex input tensors, argument ",
                   argument, " must not be a complex number, found ", value);
  dispatch(dtype, [&](auto* p) { (void)value.to<std::remove_pointer_t<decltype(p)>>(); });
}

// A vector as a matrix for the kernel: another geometry over the same memory.
inline Tensor as_column(const Tensor& x) { return alias(x, {x.size(0), 1}, {x.stride(0), 1}, x.storage_offset()); }

}  // namespace cresset
