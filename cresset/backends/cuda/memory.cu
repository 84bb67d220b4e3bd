// Memory on a CUDA device: taking and giving it back, the way to and from the CPU, copies between layouts and dtypes,
// filling. Everything runs on the default stream.
#include "cresset/backends/cuda/device.h"
#include "cresset/core/kernel.h"
#include "cresset/ops/copy.h"

namespace cresset::cuda {

Geometry geometry_of(const char* op, const Tensor& out) {
  Geometry g{};
  g.rank = static_cast<int>(out.dim());
  g.numel = out.numel();
  CRESSET_CHECK_AS(ShapeError, g.rank <= kMaxDims, op, ": found ", g.rank, " dimensions (expected up to ", kMaxDims,
                   " on CUDA)");
  for (int d = 0; d < g.rank; d++) g.sizes[d] = out.impl()->sizes[d];
  return g;
}

Operand operand_of(const char* op, const Tensor& x, const Geometry& g) {
  Operand operand{};
  operand.dtype = x.dtype();
  if (x.is_cpu()) {  // the shape rule lets only 0-d tensors through
    operand.is_number = true;
    dispatch(x.dtype(),
             [&](auto* p) { operand.number = Scalar(*static_cast<decltype(p)>(x.impl()->data())).toDouble(); });
    return operand;
  }
  CRESSET_CHECK_AS(TypeError,
                   x.dtype() == kFloat || x.dtype() == kDouble || x.dtype() == kLong || x.dtype() == DType::Int, op,
                   ": found dtype ", name_of(x.dtype()),
                   " (expected float32, float64, int32 or int64: this build has no other CUDA kernels yet)");
  operand.data = x.impl()->data();
  int lead = g.rank - static_cast<int>(x.dim());
  for (int d = 0; d < x.dim(); d++) operand.strides[d + lead] = x.impl()->sizes[d] == 1 ? 0 : x.impl()->strides[d];
  return operand;
}

namespace {

void* allocate(size_t bytes, Device device) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  CRESSET_CHECK_AS(DeviceError, error == cudaSuccess && count > 0, "empty: no CUDA device can be used here (",
                   error == cudaSuccess ? "none was found" : cudaGetErrorString(error), "); asked for ", device.str());
  CRESSET_CHECK_AS(DeviceError, device.index() < count, "empty: found device ", device.str(),
                   " (expected cuda:0 to cuda:", count - 1, ", the CUDA devices of this machine)");
  use_device("empty", device);
  void* data = nullptr;
  error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw OutOfMemoryError(message_of("empty: CUDA out of memory: asked for ", bytes, " bytes on ", device.str()));
  }
  check("empty", error);
  return data;
}
// Also called while the program ends, when CUDA may be gone: nothing to report to anybody then.
void deallocate(void* data, size_t, Device device) {
  if (cudaSetDevice(device.has_index() ? device.index() : 0) == cudaSuccess) cudaFree(data);
}

void upload(const Tensor& on_device, const Tensor& on_cpu) {
  use_device("copy to device", on_device.device());
  check("copy to device",
        cudaMemcpy(on_device.impl()->data(), on_cpu.impl()->data(), on_device.nbytes(), cudaMemcpyHostToDevice));
}
void download(const Tensor& on_device, const Tensor& on_cpu) {
  use_device("copy from device", on_device.device());
  check("copy from device",
        cudaMemcpy(on_cpu.impl()->data(), on_device.impl()->data(), on_device.nbytes(), cudaMemcpyDeviceToHost));
}

template <class T>
__global__ void copy_elements(Geometry g, Operand out, Operand x) {
  int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < g.numel; i += step)
    store(out, offset_of(i, g, out), load<T>(x, offset_of(i, g, x)));
}

void copy(const Tensor& out, const Tensor& x) {
  if (out.numel() == 0) return;
  use_device("copy", out.device());
  Geometry g = geometry_of("copy", out);
  Operand to = operand_of("copy", out, g), from = operand_of("copy", x, g);
  if (is_integral(x.dtype(), true) && !from.is_number)  // int64 does not fit a double
    copy_elements<int64_t><<<blocks_for(g.numel), kThreads>>>(g, to, from);
  else
    copy_elements<double><<<blocks_for(g.numel), kThreads>>>(g, to, from);
  check("copy", cudaGetLastError());
}

template <class T>
__global__ void fill_elements(Geometry g, Operand out, T value) {
  int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < g.numel; i += step)
    store(out, offset_of(i, g, out), value);
}
void fill(const Tensor& out, const Scalar& value) {
  if (out.numel() == 0) return;
  use_device("fill", out.device());
  Geometry g = geometry_of("fill", out);
  Operand to = operand_of("fill", out, g);
  if (value.isIntegral(true))
    fill_elements<int64_t><<<blocks_for(g.numel), kThreads>>>(g, to, value.toLong());
  else
    fill_elements<double><<<blocks_for(g.numel), kThreads>>>(g, to, value.toDouble());
  check("fill", cudaGetLastError());
}

[[maybe_unused]] const bool registered = [] {
  device_memory(kCUDA) = {allocate, deallocate};
  return upload_kernel.set(kCUDA, upload) && download_kernel.set(kCUDA, download) && copy_kernel.set(kCUDA, copy) &&
         fill_kernel.set(kCUDA, fill);
}();

}  // namespace
}  // namespace cresset::cuda
