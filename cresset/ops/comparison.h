// Comparisons, logic and what kind of number an element is. Results are bool; in place and with out they become 0 or 1
// of that tensor's dtype.
#pragma once

#include "cresset/core/into.h"
#include "cresset/ops/pointwise.h"

namespace cresset {

// `compute` is the type to compare in; out may have any.
CRESSET_KERNEL(BinaryKernel, eq_kernel, "eq");
CRESSET_KERNEL(BinaryKernel, ne_kernel, "ne");
CRESSET_KERNEL(BinaryKernel, lt_kernel, "lt");
CRESSET_KERNEL(BinaryKernel, le_kernel, "le");
using LogicalKernel = Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b)>;
CRESSET_KERNEL(LogicalKernel, logical_and_kernel, "logical_and");
CRESSET_KERNEL(LogicalKernel, logical_or_kernel, "logical_or");
CRESSET_KERNEL(LogicalKernel, logical_xor_kernel, "logical_xor");
using ClassKernel = Kernel<void(const Tensor& out, const Tensor& x)>;
CRESSET_KERNEL(ClassKernel, logical_not_kernel, "logical_not");
// Of floating and complex tensors; isreal of complex, signbit of real ones.
CRESSET_KERNEL(ClassKernel, isinf_kernel, "isinf");
CRESSET_KERNEL(ClassKernel, isfinite_kernel, "isfinite");
CRESSET_KERNEL(ClassKernel, isreal_kernel, "isreal");
CRESSET_KERNEL(ClassKernel, signbit_kernel, "signbit");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, double rtol, double atol,
                           bool equal_nan, DType compute)>,
               isclose_kernel, "isclose");

#define CRESSET_DECLARE_COMPARISON(name)                                                \
  CRESSET_API Tensor name(const Tensor& self, const Tensor& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Tensor& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other); \
  CRESSET_API Tensor name(const Tensor& self, const Scalar& other);                     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Scalar& other);                 \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Scalar& other);
CRESSET_DECLARE_COMPARISON(eq)
CRESSET_DECLARE_COMPARISON(ne)
CRESSET_DECLARE_COMPARISON(lt)
CRESSET_DECLARE_COMPARISON(le)
CRESSET_DECLARE_COMPARISON(gt)
CRESSET_DECLARE_COMPARISON(ge)
#undef CRESSET_DECLARE_COMPARISON

CRESSET_API Tensor logical_and(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_and_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_and_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor logical_or(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_or_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_or_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor logical_xor(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_xor_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logical_xor_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor logical_not(const Tensor& self);
CRESSET_API Tensor& logical_not_(const Tensor& self);
CRESSET_API Tensor& logical_not_out(Tensor& out, const Tensor& self);

CRESSET_API Tensor isnan(const Tensor& self);
CRESSET_API Tensor isinf(const Tensor& self);
CRESSET_API Tensor isfinite(const Tensor& self);
CRESSET_API Tensor isposinf(const Tensor& self);
CRESSET_API Tensor& isposinf_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor isneginf(const Tensor& self);
CRESSET_API Tensor& isneginf_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor isreal(const Tensor& self);
CRESSET_API Tensor signbit(const Tensor& self);
CRESSET_API Tensor& signbit_out(Tensor& out, const Tensor& self);

// |self - other| <= atol + rtol * |other|, or equal.
CRESSET_API Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                           bool equal_nan = false);
CRESSET_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                          bool equal_nan = false);
CRESSET_API bool equal(const Tensor& self, const Tensor& other);  // of one shape, and every element is equal

// Half types are computed in float, but where a result jumps, a number counts as the half type rounds it: 1.53 is found
// among halves.
CRESSET_API Tensor as_stored(const Tensor& x, DType compute);
// For ops whose result does not depend on their input smoothly: in place, the gradient of what stood there is zero.
CRESSET_API Tensor end_of_gradient(const char* node, const Into& into, Tensor y, const Tensor& self);

}  // namespace cresset
