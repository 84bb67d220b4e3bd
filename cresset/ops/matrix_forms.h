// What products of matrices share with those of vectors and sums.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

inline Tensor scaled(const Tensor& x, const Scalar& factor) { return factor.equal(1) ? x : mul(x, factor); }

// A vector as a matrix for the kernel: another geometry over the same memory.
inline Tensor as_column(const Tensor& x) { return alias(x, {x.size(0), 1}, {x.stride(0), 1}, x.storage_offset()); }

}  // namespace cresset
