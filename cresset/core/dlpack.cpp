// Conversion of tensors to and from DLPack's structs.
#include "cresset/core/dlpack.h"

#include <algorithm>
#include <memory>

#include "cresset/core/from_blob.h"

namespace cresset {
namespace {

constexpr uint8_t kBoolCode = 6;  // kDLBool, which older dlpack.h lack

uint8_t type_code(DType dtype) {
  if (dtype == kBool) return kBoolCode;
  if (dtype == kByte) return kDLUInt;
  if (dtype == kBFloat16) return kDLBfloat;
  if (is_complex(dtype)) return kDLComplex;
  return is_floating_point(dtype) ? kDLFloat : kDLInt;
}
DLDataType dl_dtype(DType dtype) { return {type_code(dtype), static_cast<uint8_t>(8 * element_size(dtype)), 1}; }

DType dtype_from(DLDataType found) {
  for (int i = 0; i < kDTypes; i++) {
    auto dtype = static_cast<DType>(i);
    DLDataType known = dl_dtype(dtype);
    if (known.code == found.code && known.bits == found.bits && found.lanes == 1) return dtype;
  }
  throw TypeError(message_of("fromDLPack: found type code ", int{found.code}, " with ", int{found.bits}, " bits and ",
                             found.lanes, " lanes, which is unsupported (expected one lane of bool, uint8, int8 to ",
                             "int64, float16 to float64, bfloat16, complex64 or complex128)"));
}

Device device_from(DLDevice found) {
  if (found.device_type == kDLCPU) return kCPU;
  if (found.device_type == kDLCUDA && found.device_id >= 0 && found.device_id < 128)
    return Device(kCUDA, found.device_id);
  throw DeviceError(message_of("fromDLPack: found device type ", static_cast<int>(found.device_type), " index ",
                               found.device_id, ", which is unsupported (expected CPU (1) or CUDA (2))"));
}

struct Exported {
  DLManagedTensor managed{};
  Tensor handle;
  Dims sizes, strides;
};

}  // namespace

DLManagedTensor* toDLPack(const Tensor& src) {
  CRESSET_CHECK_AS(DeviceError, src.is_cpu() || src.is_cuda(), "toDLPack: found a tensor on ", src.device().str(),
                   " (expected cpu or cuda)");
  auto exported = std::make_unique<Exported>();
  exported->handle = alias(src);  // keeps this memory even if src is given another one
  exported->sizes = src.sizes();
  exported->strides = src.strides();
  // Some readers take the stride of a dimension of one element at its word.
  for (int i = 0; i < exported->sizes.rank(); i++)
    if (exported->sizes[i] < 2) exported->strides[i] = 1;
  DLTensor& to = exported->managed.dl_tensor;
  to.data = src.data_ptr();
  to.device = {src.is_cpu() ? kDLCPU : kDLCUDA, std::max(0, src.device().index())};
  to.ndim = exported->sizes.rank();
  to.dtype = dl_dtype(src.dtype());
  to.shape = exported->sizes.data();
  to.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Exported*>(self->manager_ctx); };
  return &exported.release()->managed;
}

Tensor fromDLPack(const DLManagedTensor* src) {
  CRESSET_CHECK_AS(ValueError, src != nullptr, "fromDLPack: found a null pointer (expected a DLManagedTensor)");
  const DLTensor& from = src->dl_tensor;
  CRESSET_CHECK_AS(ShapeError, from.ndim >= 0 && from.ndim <= 64 && (from.ndim == 0 || from.shape != nullptr),
                   "fromDLPack: found ", from.ndim, " dimensions", from.shape ? "" : " and no shape",
                   " (expected 0 to 64)");
  const DType dtype = dtype_from(from.dtype);
  const Device device = device_from(from.device);
  const IntArrayRef sizes(from.shape, static_cast<size_t>(from.ndim));
  auto* data = from.data ? static_cast<char*>(from.data) + from.byte_offset : nullptr;
  auto release = [src](void*) {
    if (src->deleter) src->deleter(const_cast<DLManagedTensor*>(src));
  };
  const TensorOptions options = TensorOptions(dtype).device(device);
  if (!from.strides) return from_blob(data, sizes, release, options);
  return from_blob(data, sizes, IntArrayRef(from.strides, sizes.size()), release, options);
}

}  // namespace cresset
