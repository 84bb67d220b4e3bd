// Ops on the bits of integers and bools, and on integers as such.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

CRESSET_KERNEL(BinaryKernel, bitwise_and_kernel, "bitwise_and");
CRESSET_KERNEL(BinaryKernel, bitwise_or_kernel, "bitwise_or");
CRESSET_KERNEL(BinaryKernel, bitwise_xor_kernel, "bitwise_xor");
CRESSET_KERNEL(BinaryKernel, bitwise_left_shift_kernel, "bitwise_left_shift");
CRESSET_KERNEL(BinaryKernel, bitwise_right_shift_kernel, "bitwise_right_shift");
CRESSET_KERNEL(UnaryKernel, bitwise_not_kernel, "bitwise_not");
CRESSET_KERNEL(BinaryKernel, gcd_kernel, "gcd");
CRESSET_KERNEL(BinaryKernel, lcm_kernel, "lcm");

#define CRESSET_DECLARE_BITWISE(name)                                                   \
  CRESSET_API Tensor name(const Tensor& self, const Tensor& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Tensor& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other); \
  CRESSET_API Tensor name(const Tensor& self, const Scalar& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Scalar& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Scalar& other); \
  CRESSET_API Tensor name(const Scalar& self, const Tensor& other);                     \
  CRESSET_API Tensor& name##_out(Tensor& out, const Scalar& self, const Tensor& other);
CRESSET_DECLARE_BITWISE(bitwise_and)
CRESSET_DECLARE_BITWISE(bitwise_or)
CRESSET_DECLARE_BITWISE(bitwise_xor)
// Shifts by less than zero or by the number of bits and more leave nothing (or the sign, to the right).
CRESSET_DECLARE_BITWISE(bitwise_left_shift)
CRESSET_DECLARE_BITWISE(bitwise_right_shift)
#undef CRESSET_DECLARE_BITWISE

CRESSET_API Tensor bitwise_not(const Tensor& self);
CRESSET_API Tensor& bitwise_not_(const Tensor& self);
CRESSET_API Tensor& bitwise_not_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor gcd(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& gcd_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& gcd_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor lcm(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& lcm_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& lcm_out(Tensor& out, const Tensor& self, const Tensor& other);

}  // namespace cresset
