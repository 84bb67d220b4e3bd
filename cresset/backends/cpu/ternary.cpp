// CPU kernels of ops/ternary.
#include "cresset/ops/ternary.h"

#include "cresset/backends/cpu/binary_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <BinaryOp op>
void add_scaled(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& value,
                DType compute) {
  DType type = compute_dtype(compute);
  Constants constant(type, {value});
  run_pointwise(out, {&a, &b, &c}, type, {.inner = binary_simd(op, type), .constant = constant.bytes});
}
void lerp(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& weight, DType compute) {
  DType type = compute_dtype(compute);
  Constants constant(type, {weight, 0});
  run_pointwise(out, {&a, &b}, type, {.inner = binary_simd(BinaryOp::lerp, type), .constant = constant.bytes});
}
void lerp_tensor(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& weight, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b, &weight}, type, {binary_simd(BinaryOp::lerp_tensor, type)});
}

[[maybe_unused]] const bool registered = addcmul_kernel.set(kCPU, add_scaled<BinaryOp::addcmul>) &&
                                         addcdiv_kernel.set(kCPU, add_scaled<BinaryOp::addcdiv>) &&
                                         lerp_kernel.set(kCPU, lerp) && lerp_tensor_kernel.set(kCPU, lerp_tensor);

}  // namespace
}  // namespace cresset::cpu
