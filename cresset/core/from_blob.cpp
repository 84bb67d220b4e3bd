// Tensors over borrowed memory.
#include "cresset/core/from_blob.h"

namespace cresset {
namespace {

size_t alignment_of(DType dtype) { return element_size(to_real(dtype)); }

Dims checked_strides(IntArrayRef sizes, const TensorOptions& options) {
  storage_bytes("from_blob", sizes, options.dtype());
  return contiguous_strides(sizes);
}

}  // namespace

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset, BlobDeleter deleter,
                 const TensorOptions& options) {
  check_strided("from_blob", options);
  const DType dtype = options.dtype();
  const Device device = options.device();
  const size_t bytes = storage_bytes("from_blob", sizes, strides, dtype, storage_offset);
  CRESSET_CHECK_AS(ValueError, data != nullptr || bytes == 0, "from_blob: data is null for shape ", text_of(sizes),
                   " (expected ", bytes, " bytes of memory)");
  CRESSET_CHECK_AS(DeviceError, !device.is_meta(), "from_blob: found device meta, which has no memory");
  CRESSET_CHECK_AS(ValueError, !device.is_cpu() || reinterpret_cast<uintptr_t>(data) % alignment_of(dtype) == 0,
                   "from_blob: data at ", data, " is not aligned for ", name_of(dtype), " (expected a multiple of ",
                   alignment_of(dtype), ")");
  TensorImpl* impl = TensorImpl::make();
  Tensor y(Ref<TensorImpl>::adopt(impl));
  impl->dtype = dtype;
  impl->device = device;
  impl->inference = thread_state.inference;
  impl->offset = storage_offset;
  impl->set_geometry(sizes, strides);
  impl->storage = StorageImpl::borrow(data, bytes, device, nullptr);
  if (options.requires_grad()) y.requires_grad_();
  *impl->storage->deleter = std::move(deleter);  // last: nothing can fail any more
  return y;
}

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, BlobDeleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, BlobDeleter deleter, const TensorOptions& options) {
  return from_blob(data, sizes, checked_strides(sizes, options), 0, std::move(deleter), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, 0, BlobDeleter(), options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, BlobDeleter deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, strides, 0, std::move(deleter), options);
}

}  // namespace cresset
