// The vector functions of the math kernels, compiled once per SIMD target and chosen at run time.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {

// Those before `first_float_only` exist for float and double, the others for float.
enum class MathOp : uint8_t {
  exp,
  expm1,
  tanh,
  sigmoid,
  silu,
  silu_backward,     // g, x
  tanh_backward,     // g, y
  sigmoid_backward,  // g, y
  abs,
  sign,
  square,
  reciprocal,
  sqrt,
  rsqrt,
  floor,
  ceil,
  round,
  trunc,
  frac,
  first_float_only,
  exp2 = first_float_only,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  erf,
  erfc,
  gelu,
  gelu_tanh,
  gelu_backward,       // g, x
  gelu_tanh_backward,  // g, x
  count
};

enum class Store : uint8_t { plain, streaming };

// Null where the op does not have the type.
InnerFunction math_function(MathOp op, DType compute, Store store);

}  // namespace cresset::cpu
