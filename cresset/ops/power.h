// Powers, and functions of two variables that mathematics has names for.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

CRESSET_KERNEL(BinaryKernel, pow_kernel, "pow");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, const Scalar& exponent, DType compute)>,
               pow_scalar_kernel, "pow");
CRESSET_KERNEL(BinaryKernel, hypot_kernel, "hypot");
CRESSET_KERNEL(BinaryKernel, atan2_kernel, "atan2");
CRESSET_KERNEL(BinaryKernel, logaddexp_kernel, "logaddexp");
CRESSET_KERNEL(BinaryKernel, logaddexp2_kernel, "logaddexp2");
CRESSET_KERNEL(BinaryKernel, xlogy_kernel, "xlogy");
CRESSET_KERNEL(BinaryKernel, xlog1py_kernel, "xlog1py");
CRESSET_KERNEL(BinaryKernel, copysign_kernel, "copysign");
CRESSET_KERNEL(BinaryKernel, nextafter_kernel, "nextafter");
CRESSET_KERNEL(BinaryKernel, heaviside_kernel, "heaviside");
CRESSET_KERNEL(UnaryKernel, frexp_mantissa_kernel, "frexp_mantissa");
CRESSET_KERNEL(UnaryKernel, frexp_exponent_kernel, "frexp_exponent");  // writes int32
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x, double nan, double posinf, double neginf)>,
               nan_to_num_kernel, "nan_to_num");

CRESSET_API Tensor pow(const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor& pow_(const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor& pow_out(Tensor& out, const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor pow(const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor& pow_(const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor& pow_out(Tensor& out, const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor pow(const Scalar& self, const Tensor& exponent);
CRESSET_API Tensor& pow_out(Tensor& out, const Scalar& self, const Tensor& exponent);
// In float64 or complex128, whatever the inputs are.
CRESSET_API Tensor float_power(const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor& float_power_(const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor& float_power_out(Tensor& out, const Tensor& self, const Tensor& exponent);
CRESSET_API Tensor float_power(const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor& float_power_(const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor& float_power_out(Tensor& out, const Tensor& self, const Scalar& exponent);
CRESSET_API Tensor float_power(const Scalar& self, const Tensor& exponent);
CRESSET_API Tensor& float_power_out(Tensor& out, const Scalar& self, const Tensor& exponent);

#define CRESSET_DECLARE_BINARY(name)                                    \
  CRESSET_API Tensor name(const Tensor& self, const Tensor& other);     \
  CRESSET_API Tensor& name##_(const Tensor& self, const Tensor& other); \
  CRESSET_API Tensor& name##_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_DECLARE_BINARY(hypot)
CRESSET_DECLARE_BINARY(atan2)
CRESSET_DECLARE_BINARY(xlogy)
CRESSET_DECLARE_BINARY(copysign)
CRESSET_DECLARE_BINARY(nextafter)
CRESSET_DECLARE_BINARY(heaviside)
CRESSET_DECLARE_BINARY(ldexp)
#undef CRESSET_DECLARE_BINARY
CRESSET_API Tensor logaddexp(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logaddexp_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor logaddexp2(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& logaddexp2_out(Tensor& out, const Tensor& self, const Tensor& other);
// 0 where self is 0, whatever other is (nan apart).
CRESSET_API Tensor xlogy(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& xlogy_(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& xlogy_out(Tensor& out, const Tensor& self, const Scalar& other);
CRESSET_API Tensor xlogy(const Scalar& self, const Tensor& other);
CRESSET_API Tensor& xlogy_out(Tensor& out, const Scalar& self, const Tensor& other);
CRESSET_API Tensor special_xlog1py(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& special_xlog1py_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor special_xlog1py(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& special_xlog1py_out(Tensor& out, const Tensor& self, const Scalar& other);
CRESSET_API Tensor special_xlog1py(const Scalar& self, const Tensor& other);
CRESSET_API Tensor& special_xlog1py_out(Tensor& out, const Scalar& self, const Tensor& other);
CRESSET_API Tensor copysign(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& copysign_(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& copysign_out(Tensor& out, const Tensor& self, const Scalar& other);
// self = mantissa * 2^exponent, with 0.5 <= |mantissa| < 1.
CRESSET_API std::tuple<Tensor, Tensor> frexp(const Tensor& self);
CRESSET_API std::tuple<Tensor&, Tensor&> frexp_out(Tensor& mantissa, Tensor& exponent, const Tensor& self);

// Missing numbers: 0 for nan, the dtype's last numbers for the infinities.
CRESSET_API Tensor nan_to_num(const Tensor& self, std::optional<double> nan = std::nullopt,
                              std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt);
CRESSET_API Tensor& nan_to_num_(const Tensor& self, std::optional<double> nan = std::nullopt,
                                std::optional<double> posinf = std::nullopt,
                                std::optional<double> neginf = std::nullopt);
CRESSET_API Tensor& nan_to_num_out(Tensor& out, const Tensor& self, std::optional<double> nan = std::nullopt,
                                   std::optional<double> posinf = std::nullopt,
                                   std::optional<double> neginf = std::nullopt);

}  // namespace cresset
