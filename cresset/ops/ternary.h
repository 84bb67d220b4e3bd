// Ops of three operands, and where with numbers.
#pragma once

#include "cresset/ops/pointwise.h"

namespace cresset {

using TernaryKernel = Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c,
                                  const Scalar& value, DType compute)>;
CRESSET_KERNEL(TernaryKernel, addcmul_kernel, "addcmul");  // a + value * b * c
CRESSET_KERNEL(TernaryKernel, addcdiv_kernel, "addcdiv");  // a + value * b / c
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& weight, DType compute)>,
               lerp_kernel, "lerp");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& weight, DType compute)>,
               lerp_tensor_kernel, "lerp");

// self + weight * (end - self).
CRESSET_API Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
CRESSET_API Tensor& lerp_(const Tensor& self, const Tensor& end, const Scalar& weight);
CRESSET_API Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, const Scalar& weight);
CRESSET_API Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
CRESSET_API Tensor& lerp_(const Tensor& self, const Tensor& end, const Tensor& weight);
CRESSET_API Tensor& lerp_out(Tensor& out, const Tensor& self, const Tensor& end, const Tensor& weight);
CRESSET_API Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
CRESSET_API Tensor& addcmul_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
CRESSET_API Tensor& addcmul_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value = 1);
CRESSET_API Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
CRESSET_API Tensor& addcdiv_(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value = 1);
CRESSET_API Tensor& addcdiv_out(Tensor& out, const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value = 1);

CRESSET_API Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
CRESSET_API Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
CRESSET_API Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);
CRESSET_API std::vector<Tensor> where(const Tensor& condition);  // the indices of what holds, one tensor per dimension

}  // namespace cresset
