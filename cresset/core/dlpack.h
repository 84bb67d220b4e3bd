// DLPack: tensors shared with other libraries without a copy. The C structs are the standard's (0.6 and newer, without
// version); a dlpack.h that was included before is taken instead.
#pragma once

#include "cresset/core/tensor.h"

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#define DLPACK_VERSION 80
extern "C" {
typedef enum {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
} DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int device_id;
} DLDevice;
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for a compact row-major tensor
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);  // called once by whoever took the tensor over; may be null
} DLManagedTensor;
}
#endif

namespace cresset {

// The result shares src's memory and keeps it alive until its deleter is called. It knows nothing of the graph.
CRESSET_API DLManagedTensor* toDLPack(const Tensor& src);
// Takes src over: its deleter is called when the last tensor over it has gone. If src is refused, it stays the
// caller's.
CRESSET_API Tensor fromDLPack(const DLManagedTensor* src);

}  // namespace cresset
