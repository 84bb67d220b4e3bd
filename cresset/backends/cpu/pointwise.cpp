// CPU kernels of ops/pointwise and ops/copy: they choose an inner function and hand it to the loop.
#include "cresset/ops/pointwise.h"

#include <cstring>

#include "cresset/backends/cpu/bfloat16_simd.h"
#include "cresset/backends/cpu/element_moves.h"
#include "cresset/backends/cpu/pointwise_simd.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copy.h"

namespace cresset::cpu {
namespace {

// The op's constant in the compute type.
struct Constant {
  alignas(16) char bytes[16];
  Constant(const Scalar& value, DType dtype) {
    dispatch(dtype, [&](auto* p) {
      using T = std::remove_pointer_t<decltype(p)>;
      *reinterpret_cast<T*>(bytes) = value.to<T>();
    });
  }
};

// Looked up only where it will be used.
InnerFunction streaming_for(const Tensor& out, PointwiseOp op, DType type) {
  return out.nbytes() >= kBeyondCache ? streaming_function(op, type) : nullptr;
}

// Where all are bfloat16, the inner function takes them as they stand in memory, without a detour through float arrays.
bool run_bfloat16(const Tensor& out, std::initializer_list<const Tensor*> inputs, PointwiseOp op, DType compute) {
  if (compute != kBFloat16 || out.dtype() != kBFloat16) return false;
  for (const Tensor* input : inputs)
    if (input->dtype() != kBFloat16) return false;
  const DType types[] = {kBFloat16, kBFloat16};
  run_pointwise_typed(out, inputs, types, kBFloat16, {inner_function(op, kBFloat16)});
  return true;
}

void add(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, DType compute) {
  DType type = compute_dtype(compute);
  if (CRESSET_LIKELY(alpha.equal(1))) {
    if (run_bfloat16(out, {&a, &b}, PointwiseOp::add, compute)) return;
    run_pointwise(out, {&a, &b}, type,
                  {inner_function(PointwiseOp::add, type), streaming_for(out, PointwiseOp::add, type)});
    return;
  }
  Constant constant(alpha, type);
  run_pointwise(out, {&a, &b}, type, {inner_function(PointwiseOp::add_scaled, type), nullptr, constant.bytes});
}
void mul(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  if (run_bfloat16(out, {&a, &b}, PointwiseOp::mul, compute)) return;
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b}, type,
                {inner_function(PointwiseOp::mul, type), streaming_for(out, PointwiseOp::mul, type)});
}
void div(const Tensor& out, const Tensor& a, const Tensor& b, DType compute) {
  DType type = compute_dtype(compute);
  run_pointwise(out, {&a, &b}, type, {inner_function(PointwiseOp::div, type)});
}
void relu_backward(const Tensor& out, const Tensor& g, const Tensor& y, DType compute) {
  if (run_bfloat16(out, {&g, &y}, PointwiseOp::relu_backward, compute)) return;
  DType type = compute_dtype(compute);
  run_pointwise(out, {&g, &y}, type, {inner_function(PointwiseOp::relu_backward, type)});
}
template <PointwiseOp op, int cost>
void unary(const Tensor& out, const Tensor& x, DType compute) {
  if (op == PointwiseOp::relu && run_bfloat16(out, {&x}, op, compute)) return;
  DType type = compute_dtype(compute);
  run_pointwise(out, {&x}, type, {inner_function(op, type), nullptr, nullptr, cost});
}
void where(const Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
  DType types[] = {kBool, out.dtype(), out.dtype()};
  run_pointwise_typed(out, {&condition, &a, &b}, types, out.dtype(), {inner_function(PointwiseOp::where, out.dtype())});
}

template <class T>
void copy_elements(void* out, const void* const* in, int64_t n, const void*) {
  std::memcpy(out, in[0], static_cast<size_t>(n) * sizeof(T));
}
InnerFunction copy_function(DType dtype) {
  return with_size_of(dtype, []<class T>(T) -> InnerFunction { return &copy_elements<T>; });
}
template <class To, class From>
void convert_elements(void* out, const void* const* in, int64_t n, const void*) {
  convert_numbers(static_cast<To*>(out), static_cast<const From*>(in[0]), n);
}
void copy(const Tensor& out, const Tensor& x) {
  // What autocast does all the time goes from memory to memory.
  const bool widens = out.dtype() == kFloat && x.dtype() == kBFloat16;
  if (widens || (out.dtype() == kBFloat16 && x.dtype() == kFloat)) {
    const DType from[] = {x.dtype()};
    return run_pointwise_typed(out, {&x}, from, out.dtype(),
                               {widens ? &convert_elements<float, BFloat16> : &convert_elements<BFloat16, float>});
  }
  DType types[] = {out.dtype()};
  run_pointwise_typed(out, {&x}, types, out.dtype(), {copy_function(out.dtype())});
}

template <class T>
void fill_elements(void* out, const void* const*, int64_t n, const void* constant) {
  std::fill_n(static_cast<T*>(out), n, *static_cast<const T*>(constant));
}
void fill(const Tensor& out, const Scalar& value) {
  Constant constant(value, out.dtype());
  InnerFunction inner = dispatch(
      out.dtype(), [](auto* p) -> InnerFunction { return &fill_elements<std::remove_pointer_t<decltype(p)>>; });
  run_pointwise_typed(out, {}, nullptr, out.dtype(), {inner, nullptr, constant.bytes});
}

[[maybe_unused]] const bool registered =
    add_kernel.set(kCPU, add) && mul_kernel.set(kCPU, mul) && div_kernel.set(kCPU, div) &&
    relu_backward_kernel.set(kCPU, relu_backward) && relu_kernel.set(kCPU, unary<PointwiseOp::relu, 1>) &&
    neg_kernel.set(kCPU, unary<PointwiseOp::neg, 1>) && conj_kernel.set(kCPU, unary<PointwiseOp::conj, 1>) &&
    where_kernel.set(kCPU, where) && copy_kernel.set(kCPU, copy) && fill_kernel.set(kCPU, fill);

}  // namespace
}  // namespace cresset::cpu
