// What the CUDA kernels share: errors that carry CUDA's own words, the choice of the device, and strided access to
// operands that may be broadcast or of another dtype.
#pragma once

#include <cuda_runtime.h>

#include "cresset/core/tensor.h"

namespace cresset::cuda {

inline void check(const char* op, cudaError_t error) {
  CRESSET_CHECK_AS(DeviceError, error == cudaSuccess, op, ": CUDA says ", cudaGetErrorString(error), " (",
                   cudaGetErrorName(error), ")");
}

inline void use_device(const char* op, Device device) {
  check(op, cudaSetDevice(device.has_index() ? device.index() : 0));
}

inline constexpr int kMaxDims = 12;

// One operand as a kernel sees it: strides in elements, 0 where it is broadcast. A number from the CPU travels as a
// value.
struct Operand {
  void* data;
  DType dtype;
  bool is_number;
  double number;
  int64_t strides[kMaxDims];
};

struct Geometry {
  int rank;
  int64_t numel;
  int64_t sizes[kMaxDims];
};

Geometry geometry_of(const char* op, const Tensor& out);
Operand operand_of(const char* op, const Tensor& x, const Geometry& geometry);

inline __host__ __device__ int64_t offset_of(int64_t i, const Geometry& geometry, const Operand& operand) {
  int64_t offset = 0;
  for (int d = geometry.rank - 1; d >= 0; d--) {
    offset += i % geometry.sizes[d] * operand.strides[d];
    i /= geometry.sizes[d];
  }
  return offset;
}

template <class T>
__device__ T load(const Operand& from, int64_t at) {
  if (from.is_number) return static_cast<T>(from.number);
  switch (from.dtype) {
    case DType::Float:
      return static_cast<T>(static_cast<const float*>(from.data)[at]);
    case DType::Double:
      return static_cast<T>(static_cast<const double*>(from.data)[at]);
    case DType::Long:
      return static_cast<T>(static_cast<const int64_t*>(from.data)[at]);
    default:
      return static_cast<T>(static_cast<const int32_t*>(from.data)[at]);
  }
}
template <class T>
__device__ void store(const Operand& to, int64_t at, T value) {
  switch (to.dtype) {
    case DType::Float:
      static_cast<float*>(to.data)[at] = static_cast<float>(value);
      break;
    case DType::Double:
      static_cast<double*>(to.data)[at] = static_cast<double>(value);
      break;
    case DType::Long:
      static_cast<int64_t*>(to.data)[at] = static_cast<int64_t>(value);
      break;
    default:
      static_cast<int32_t*>(to.data)[at] = static_cast<int32_t>(value);
  }
}

inline constexpr int kThreads = 256;
// Kernels step through the rest in a loop, so that any size fits the grid.
inline int blocks_for(int64_t numel) {
  int64_t blocks = (numel + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < 65535 ? blocks : 65535);
}

}  // namespace cresset::cuda
