// CPU kernels of ops/activation.
#include "cresset/ops/activation.h"

#include "cresset/backends/cpu/activation_simd.h"
#include "cresset/backends/cpu/elementwise.h"
#include "cresset/core/kernel.h"

namespace cresset::cpu {
namespace {

template <ActivationOp op, int cost = 1>
void forward(const Tensor& out, const Tensor& x, double p, double q, double r) {
  DType type = compute_dtype(x.dtype());
  double wide[] = {p, q, r};
  float narrow[] = {static_cast<float>(p), static_cast<float>(q), static_cast<float>(r)};
  run_pointwise(out, {&x}, type,
                {.inner = activation_simd(op, type),
                 .constant = type == kDouble ? static_cast<const void*>(wide) : narrow,
                 .cost = cost});
}
template <ActivationOp op, int cost = 1>
void backward(const Tensor& out, const Tensor& g, const Tensor& x, double p, double q, double r) {
  DType type = compute_dtype(g.dtype());
  double wide[] = {p, q, r};
  float narrow[] = {static_cast<float>(p), static_cast<float>(q), static_cast<float>(r)};
  run_pointwise(out, {&g, &x}, type,
                {.inner = activation_simd(op, type),
                 .constant = type == kDouble ? static_cast<const void*>(wide) : narrow,
                 .cost = cost});
}
template <ActivationOp op, int cost>
void two(const Tensor& out, const Tensor& a, const Tensor& b) {
  DType type = compute_dtype(out.dtype());
  run_pointwise(out, {&a, &b}, type, {.inner = activation_simd(op, type), .cost = cost});
}
template <ActivationOp op, int cost>
void three(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c) {
  DType type = compute_dtype(out.dtype());
  run_pointwise(out, {&a, &b, &c}, type, {.inner = activation_simd(op, type), .cost = cost});
}
void glu_backward(const Tensor& to_a, const Tensor& to_b, const Tensor& g, const Tensor& a, const Tensor& b) {
  two<ActivationOp::glu_backward_first, 8>(to_a, g, b);
  three<ActivationOp::glu_backward_second, 8>(to_b, g, a, b);
}

// Integers have it as well.
template <class T>
void threshold_elements(void* out, const void* const* in, int64_t n, const void* constant) {
  T* y = static_cast<T*>(out);
  const T *x = static_cast<const T*>(in[0]), *numbers = static_cast<const T*>(constant);
  const T threshold = numbers[0], value = numbers[1];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) y[i] = x[i] <= threshold ? value : x[i];
}
void threshold(const Tensor& out, const Tensor& x, const Scalar& threshold, const Scalar& value) {
  DType type = compute_dtype(x.dtype());
  Constants constants(type, {threshold, value});
  InnerFunction inner = dispatch(type, [](auto* p) -> InnerFunction {
    using T = std::remove_pointer_t<decltype(p)>;
    if constexpr ((kind_of<T> & kNumbers) != 0) return &threshold_elements<T>;
    return nullptr;
  });
  run_pointwise(out, {&x}, type, {.inner = inner, .constant = constants.bytes});
}

using enum ActivationOp;
[[maybe_unused]] const bool registered =
    leaky_relu_kernel.set(kCPU, forward<leaky_relu>) &&
    leaky_relu_backward_kernel.set(kCPU, backward<leaky_relu_backward>) && elu_kernel.set(kCPU, forward<elu, 8>) &&
    elu_backward_kernel.set(kCPU, backward<elu_backward, 8>) &&
    elu_backward_from_result_kernel.set(kCPU, backward<elu_backward_from_result, 2>) &&
    softplus_kernel.set(kCPU, forward<softplus, 16>) &&
    softplus_backward_kernel.set(kCPU, backward<softplus_backward, 8>) &&
    log_sigmoid_kernel.set(kCPU, forward<log_sigmoid, 16>) &&
    log_sigmoid_backward_kernel.set(kCPU, backward<log_sigmoid_backward, 8>) &&
    mish_kernel.set(kCPU, forward<mish, 8>) && mish_backward_kernel.set(kCPU, backward<mish_backward, 8>) &&
    softsign_kernel.set(kCPU, forward<softsign, 2>) &&
    softsign_backward_kernel.set(kCPU, backward<softsign_backward, 2>) &&
    tanhshrink_kernel.set(kCPU, forward<tanhshrink, 8>) &&
    tanhshrink_backward_kernel.set(kCPU, backward<tanhshrink_backward, 8>) &&
    hardsigmoid_kernel.set(kCPU, forward<hardsigmoid>) &&
    hardsigmoid_backward_kernel.set(kCPU, backward<hardsigmoid_backward>) &&
    hardswish_kernel.set(kCPU, forward<hardswish>) &&
    hardswish_backward_kernel.set(kCPU, backward<hardswish_backward>) &&
    hardshrink_kernel.set(kCPU, forward<hardshrink>) && softshrink_kernel.set(kCPU, forward<softshrink>) &&
    shrink_backward_kernel.set(kCPU, backward<shrink_backward>) && threshold_kernel.set(kCPU, threshold) &&
    threshold_backward_kernel.set(kCPU, backward<threshold_backward>) && prelu_kernel.set(kCPU, two<prelu, 1>) &&
    prelu_backward_kernel.set(kCPU, three<prelu_backward, 1>) &&
    prelu_backward_weight_kernel.set(kCPU, two<prelu_backward_weight, 1>) && glu_kernel.set(kCPU, two<glu, 8>) &&
    glu_backward_kernel.set(kCPU, glu_backward);

}  // namespace
}  // namespace cresset::cpu
