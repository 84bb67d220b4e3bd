// add on CUDA: out = a + alpha * b, for any strides and broadcasts, computed in float32 or float64.
#include "cresset/backends/cuda/device.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/pointwise.h"

namespace cresset::cuda {
namespace {

template <class T>
__global__ void add_strided(Geometry g, Operand out, Operand a, Operand b, T alpha) {
  int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < g.numel; i += step)
    store(out, offset_of(i, g, out), load<T>(a, offset_of(i, g, a)) + alpha * load<T>(b, offset_of(i, g, b)));
}

template <class T>
__global__ void add_contiguous(int64_t n, T* out, const T* a, const T* b, T alpha) {
  int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    out[i] = a[i] + alpha * b[i];
}

bool is_plain(const Tensor& x, const Tensor& out) {
  return !x.is_cpu() && x.dtype() == out.dtype() && x.is_contiguous() && x.sizes() == out.sizes();
}

template <class T>
void add_as(const Tensor& out, const Tensor& a, const Tensor& b, T alpha) {
  int blocks = blocks_for(out.numel());
  if (dtype_of<T> == out.dtype() && out.is_contiguous() && is_plain(a, out) && is_plain(b, out)) {
    add_contiguous<T><<<blocks, kThreads>>>(out.numel(), static_cast<T*>(out.impl()->data()),
                                            static_cast<const T*>(a.impl()->data()),
                                            static_cast<const T*>(b.impl()->data()), alpha);
    return;
  }
  Geometry g = geometry_of("add", out);
  add_strided<T>
      <<<blocks, kThreads>>>(g, operand_of("add", out, g), operand_of("add", a, g), operand_of("add", b, g), alpha);
}

void add(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, DType compute) {
  CRESSET_CHECK_AS(TypeError, compute == kFloat || compute == kDouble, "add: found dtype ", name_of(compute),
                   " (expected float32 or float64: this build has no other CUDA kernel of add yet)");
  if (out.numel() == 0) return;
  use_device("add", out.device());
  if (compute == kFloat)
    add_as<float>(out, a, b, alpha.toFloat());
  else
    add_as<double>(out, a, b, alpha.toDouble());
  check("add", cudaGetLastError());
}

[[maybe_unused]] const bool registered = add_kernel.set(kCUDA, add);

}  // namespace
}  // namespace cresset::cuda
