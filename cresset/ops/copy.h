// Copies: clone, copy_, fill_, conversion between dtypes and devices, memory formats.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& x)>, copy_kernel, "copy");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Scalar& value)>, fill_kernel, "fill");
// Between a device and the CPU; both sides are contiguous and of one dtype. The device's tensor comes first, so a
// download counts both as written.
CRESSET_KERNEL(Kernel<void(const Tensor& on_device, const Tensor& on_cpu)>, upload_kernel, "copy to device");
CRESSET_KERNEL(Kernel<void(const Tensor& on_device, const Tensor& on_cpu)>, download_kernel, "copy from device", 2);

CRESSET_API Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor& copy_(const Tensor& self, const Tensor& source, bool non_blocking = false);
CRESSET_API Tensor& fill_(const Tensor& self, const Scalar& value);
CRESSET_API Tensor& zero_(const Tensor& self);
CRESSET_API Tensor to(const Tensor& self, const TensorOptions& options, bool non_blocking = false, bool copy = false);
CRESSET_API Tensor contiguous(const Tensor& self, MemoryFormat memory_format = MemoryFormat::Contiguous);

}  // namespace cresset
