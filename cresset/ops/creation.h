// Making tensors: empty, filled, like others, ranges, from values and from memory of somebody else's.
#pragma once

#include "cresset/core/kernel.h"

namespace cresset {

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
CRESSET_API Tensor new_zeros(const Tensor& self, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor new_ones(const Tensor& self, IntArrayRef size, const TensorOptions& options = {});
CRESSET_API Tensor new_full(const Tensor& self, IntArrayRef size, const Scalar& fill_value,
                            const TensorOptions& options = {});

}  // namespace cresset
