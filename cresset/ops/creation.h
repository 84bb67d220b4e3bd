// Making tensors: empty, filled, like others, and ranges. From values: ops/tensor_literal.h; over memory of somebody
// else's: core/from_blob.h.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_KERNEL(Kernel<void(const Tensor& out, const Scalar& start, const Scalar& step)>, arange_kernel, "arange");
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Scalar& start, const Scalar& end)>, linspace_kernel, "linspace");
CRESSET_KERNEL(Kernel<void(const Tensor& out)>, eye_kernel, "eye");

CRESSET_API Tensor empty(IntArrayRef size, const TensorOptions& options = {},
                         std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor ones(IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor full(IntArrayRef size, const Scalar& fill_value, const TensorOptions& options = {});
CRESSET_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                              std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                              std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                             std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor full_like(const Tensor& self, const Scalar& fill_value, const TensorOptions& options = {},
                             std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor new_empty(const Tensor& self, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                                     const TensorOptions& options = {});
CRESSET_API Tensor new_zeros(const Tensor& self, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor new_ones(const Tensor& self, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                            const TensorOptions& options = {});
CRESSET_API Tensor scalar_tensor(const Scalar& s, const TensorOptions& options = {});
// Out forms: out gets the shape and keeps its dtype and device.
CRESSET_API Tensor& empty_out(Tensor& out, IntArrayRef size, std::optional<MemoryFormat> memory_format = std::nullopt);
CRESSET_API Tensor& zeros_out(Tensor& out, IntArrayRef size);
CRESSET_API Tensor& ones_out(Tensor& out, IntArrayRef size);
CRESSET_API Tensor& full_out(Tensor& out, IntArrayRef size, const Scalar& fill_value);

// int64 if all given numbers are integers, otherwise the default dtype.
CRESSET_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
CRESSET_API Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
CRESSET_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                          const TensorOptions& options = {});
CRESSET_API Tensor& arange_out(Tensor& out, const Scalar& end);
CRESSET_API Tensor& arange_out(Tensor& out, const Scalar& start, const Scalar& end, const Scalar& step = 1);
CRESSET_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, const TensorOptions& options = {});
CRESSET_API Tensor& linspace_out(Tensor& out, const Scalar& start, const Scalar& end, int64_t steps);
CRESSET_API Tensor eye(int64_t n, const TensorOptions& options = {});
CRESSET_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});
CRESSET_API Tensor& eye_out(Tensor& out, int64_t n);
CRESSET_API Tensor& eye_out(Tensor& out, int64_t n, int64_t m);

}  // namespace cresset
