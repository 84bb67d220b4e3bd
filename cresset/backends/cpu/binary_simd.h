// Inner functions of the hot ops with two or three operands (comparisons, bounds, interpolation), compiled once per
// SIMD target.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {

// Comparisons write bool. clamp, within and inside have two constants, the bounds; lerp one, the weight; addcmul and
// addcdiv one, the factor; extremum_backward one, the sign.
enum class BinaryOp : uint8_t {
  eq,
  ne,
  lt,
  le,
  bit_and,
  bit_or,
  bit_xor,
  maximum,
  minimum,
  clamp,              // x
  clamp_tensor,       // x, low, high
  within,             // g, x: g where low <= x <= high
  inside,             // g, x: g where low < x < high
  extremum_backward,  // g, a, b: g where sign * a > sign * b, half of it where they are equal
  lerp,               // a, b
  lerp_tensor,        // a, b, weight
  addcmul,            // a, b, c
  addcdiv,            // a, b, c
  count
};

// Null where the op does not have the type.
InnerFunction binary_simd(BinaryOp op, DType compute);

}  // namespace cresset::cpu
