// Tensor's operators beyond arithmetic, as libtorch has them: comparisons give tensors of bool, % is remainder, & | ^ ~
// work on bits (and on bools), ! is logical_not; << and >> shift.
#pragma once

#include "cresset/ops/bitwise.h"
#include "cresset/ops/comparison.h"
#include "cresset/ops/division.h"

namespace cresset {

// `swapped` is the op that gives the same result with the operands exchanged.
#define CRESSET_COMPARISON_OPERATOR(symbol, op, swapped)                               \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return op(a, b); } \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return op(a, b); } \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return swapped(b, a); }
CRESSET_COMPARISON_OPERATOR(==, eq, eq)
CRESSET_COMPARISON_OPERATOR(!=, ne, ne)
CRESSET_COMPARISON_OPERATOR(<, lt, gt)
CRESSET_COMPARISON_OPERATOR(<=, le, ge)
CRESSET_COMPARISON_OPERATOR(>, gt, lt)
CRESSET_COMPARISON_OPERATOR(>=, ge, le)
#undef CRESSET_COMPARISON_OPERATOR

#define CRESSET_INTEGER_OPERATOR(symbol, op)                                                  \
  inline Tensor operator symbol(const Tensor& a, const Tensor& b) { return op(a, b); }        \
  inline Tensor operator symbol(const Tensor& a, const Scalar& b) { return op(a, b); }        \
  inline Tensor operator symbol(const Scalar& a, const Tensor& b) { return op(a, b); }        \
  inline Tensor& operator symbol##=(const Tensor& a, const Tensor& b) { return op##_(a, b); } \
  inline Tensor& operator symbol##=(const Tensor& a, const Scalar& b) { return op##_(a, b); }
CRESSET_INTEGER_OPERATOR(%, remainder)
CRESSET_INTEGER_OPERATOR(&, bitwise_and)
CRESSET_INTEGER_OPERATOR(|, bitwise_or)
CRESSET_INTEGER_OPERATOR(^, bitwise_xor)
CRESSET_INTEGER_OPERATOR(<<, bitwise_left_shift)
CRESSET_INTEGER_OPERATOR(>>, bitwise_right_shift)
#undef CRESSET_INTEGER_OPERATOR

inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

}  // namespace cresset
