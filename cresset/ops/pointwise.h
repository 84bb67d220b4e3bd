// Ops that go element by element over broadcast inputs.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// Kernels compute in `compute` (the promoted type; half types in float) and convert on reading and writing.
using UnaryKernel = Kernel<void(const Tensor& out, const Tensor& x, DType compute)>;
using BinaryKernel = Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, DType compute)>;
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, DType compute)>,
               add_kernel, "add");
CRESSET_KERNEL(BinaryKernel, mul_kernel, "mul");
CRESSET_KERNEL(BinaryKernel, div_kernel, "div");
CRESSET_KERNEL(UnaryKernel, exp_kernel, "exp");
CRESSET_KERNEL(UnaryKernel, relu_kernel, "relu");
CRESSET_KERNEL(UnaryKernel, neg_kernel, "neg");
CRESSET_KERNEL(UnaryKernel, conj_kernel, "conj");
CRESSET_KERNEL(BinaryKernel, relu_backward_kernel, "relu_backward");  // g where y > 0
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b)>, where_kernel,
               "where");

CRESSET_API Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor& add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor& add_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor& add_out(Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor& sub_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
CRESSET_API Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor& sub_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor& sub_out(Tensor& out, const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
CRESSET_API Tensor mul(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& mul_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor mul(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& mul_(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& mul_out(Tensor& out, const Tensor& self, const Scalar& other);
// True division: integers are divided as floating-point numbers.
CRESSET_API Tensor div(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& div_(const Tensor& self, const Tensor& other);
CRESSET_API Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other);
CRESSET_API Tensor div(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& div_(const Tensor& self, const Scalar& other);
CRESSET_API Tensor& div_out(Tensor& out, const Tensor& self, const Scalar& other);
CRESSET_API Tensor exp(const Tensor& self);
CRESSET_API Tensor& exp_(const Tensor& self);
CRESSET_API Tensor& exp_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor relu(const Tensor& self);
CRESSET_API Tensor& relu_(const Tensor& self);
CRESSET_API Tensor& relu_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor neg(const Tensor& self);
CRESSET_API Tensor& neg_(const Tensor& self);
CRESSET_API Tensor& neg_out(Tensor& out, const Tensor& self);
CRESSET_API Tensor conj(const Tensor& self);  // self itself unless complex
CRESSET_API Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
CRESSET_API Tensor& where_out(Tensor& out, const Tensor& condition, const Tensor& self, const Tensor& other);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return add(neg(b), a); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }

inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return div(wrapped_number(a), b); }

}  // namespace cresset
