// Division that rounds, its remainders, and rsub. Integers stay integers; an integer divided by zero is an error.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

CRESSET_KERNEL(BinaryKernel, div_floor_kernel, "div_floor");
CRESSET_KERNEL(BinaryKernel, div_trunc_kernel, "div_trunc");
CRESSET_KERNEL(BinaryKernel, fmod_kernel, "fmod");            // has self's sign
CRESSET_KERNEL(BinaryKernel, remainder_kernel, "remainder");  // has other's sign

// rounding_mode: "floor", "trunc", or none for true division.
CRESSET_API Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
CRESSET_API Tensor& div_(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode);
CRESSET_API Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other,
                            std::optional<std::string_view> rounding_mode);
CRESSET_API Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode);
CRESSET_API Tensor& div_(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode);
CRESSET_API Tensor& div_out(Tensor& out, const Tensor& self, const Scalar& other,
                            std::optional<std::string_view> rounding_mode);

#define CRESSET_DECLARE_DIVISION(name)                                                  \
  CRESSET_API Tensor name(const Tensor& self, const Tensor& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Tensor& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other); \
  CRESSET_API Tensor name(const Tensor& self, const Scalar& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Scalar& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Scalar& other);
CRESSET_DECLARE_DIVISION(floor_divide)
CRESSET_DECLARE_DIVISION(fmod)
CRESSET_DECLARE_DIVISION(remainder)
#undef CRESSET_DECLARE_DIVISION
CRESSET_API Tensor remainder(const Scalar& self, const Tensor& other);
CRESSET_API Tensor& remainder_out(Tensor& out, const Scalar& self, const Tensor& other);

// other - alpha * self.
CRESSET_API Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);

}  // namespace cresset
