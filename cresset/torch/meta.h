// at::meta: each function works on the meta copies of its tensors, so that it says shape and dtype of a result without
// computing it. The list is libtorch's structured ops, as far as Cresset has them.
#pragma once

#include <vector>

#include "cresset/ops/all.h"

namespace cresset::detail {

template <class T>
decltype(auto) on_meta(T&& argument) {
  return std::forward<T>(argument);
}
inline Tensor on_meta(const Tensor& tensor) { return tensor.defined() ? tensor.to(Device(kMeta)) : tensor; }
inline Tensor on_meta(Tensor& tensor) { return on_meta(std::as_const(tensor)); }
inline Tensor on_meta(Tensor&& tensor) { return on_meta(std::as_const(tensor)); }
inline std::vector<Tensor> on_meta(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> moved;
  for (const Tensor& tensor : tensors) moved.push_back(on_meta(tensor));
  return moved;
}
inline std::vector<Tensor> on_meta(std::vector<Tensor>& tensors) { return on_meta(std::as_const(tensors)); }
inline std::vector<Tensor> on_meta(std::vector<Tensor>&& tensors) { return on_meta(std::as_const(tensors)); }

}  // namespace cresset::detail

// clang-format off
#define CRESSET_FOR_EACH_META_OP(X) \
  X(acos) X(acosh) X(adaptive_max_pool2d) X(adaptive_max_pool3d) X(add) X(addcdiv) X(addcmul) X(addmm) X(addmv) \
  X(all) X(amax) X(amin) X(aminmax) X(any) X(argmax) X(argmin) X(asin) X(asinh) X(atan) X(atan2) X(atanh) \
  X(avg_pool2d) X(avg_pool3d) X(baddbmm) X(bitwise_and) X(bitwise_left_shift) X(bitwise_not) X(bitwise_or) \
  X(bitwise_right_shift) X(bitwise_xor) X(bmm) X(cat) X(ceil) X(clamp) X(clamp_max) X(clamp_min) X(copysign) \
  X(cos) X(cosh) X(cumprod) X(cumsum) X(digamma) X(div) X(elu) X(eq) X(erf) X(erfc) X(erfinv) X(exp) X(exp2) \
  X(expm1) X(floor) X(fmax) X(fmin) X(fmod) X(frac) X(gather) X(gcd) X(ge) X(gelu) X(glu) X(gt) X(hardshrink) \
  X(hardsigmoid) X(heaviside) X(hypot) X(i0) X(igamma) X(igammac) X(index) X(index_add) X(index_copy) \
  X(index_reduce) X(isin) X(isneginf) X(isposinf) X(lcm) X(le) X(leaky_relu) X(lerp) X(lgamma) X(linalg_cross) \
  X(linalg_lu) X(linalg_qr) X(linalg_vector_norm) X(log) X(log10) X(log1p) X(log2) X(logaddexp) X(logaddexp2) \
  X(lt) X(max) X(max_pool2d_with_indices) X(maximum) X(mean) X(min) X(minimum) X(mish) X(mm) X(mse_loss) X(mul) \
  X(ne) X(neg) X(nextafter) X(norm) X(polygamma) X(pow) X(prod) X(reciprocal) X(reflection_pad1d) \
  X(reflection_pad3d) X(remainder) X(renorm) X(replication_pad1d) X(replication_pad2d) X(replication_pad3d) \
  X(round) X(rsqrt) X(scatter) X(scatter_add) X(scatter_reduce) X(sgn) X(sigmoid) X(sign) X(signbit) X(silu) \
  X(sin) X(sinc) X(sinh) X(smooth_l1_loss) X(softplus) X(softshrink) X(sort) X(special_entr) X(special_i0e) \
  X(special_i1) X(special_i1e) X(special_zeta) X(sqrt) X(sub) X(sum) X(tan) X(tanh) X(threshold) X(topk) \
  X(tril) X(triu) X(trunc) X(unfold) X(view_as_complex) X(view_as_real) X(xlogy)
// clang-format on

namespace at::meta {
#define CRESSET_META_OP(name)                                                        \
  template <class... Args>                                                           \
  auto name(Args&&... args) {                                                        \
    return ::cresset::name(::cresset::detail::on_meta(std::forward<Args>(args))...); \
  }
CRESSET_FOR_EACH_META_OP(CRESSET_META_OP)
#undef CRESSET_META_OP
}  // namespace at::meta
