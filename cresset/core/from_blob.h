// from_blob: a tensor over memory of somebody else's. It copies nothing; the deleter, if there is one, is called with
// `data` once the last tensor over it has gone. A call that is refused leaves the memory with the caller.
#pragma once

#include <functional>

#include "cresset/core/tensor.h"

namespace cresset {

using BlobDeleter = std::function<void(void*)>;

CRESSET_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
CRESSET_API Tensor from_blob(void* data, IntArrayRef sizes, BlobDeleter deleter, const TensorOptions& options = {});
CRESSET_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
CRESSET_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, BlobDeleter deleter,
                             const TensorOptions& options = {});
CRESSET_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset,
                             BlobDeleter deleter, const TensorOptions& options = {});

}  // namespace cresset
