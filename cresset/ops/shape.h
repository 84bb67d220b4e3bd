// Views and other changes of shape that move no data.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

CRESSET_API Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                              std::optional<int64_t> storage_offset = std::nullopt);
CRESSET_API Tensor view(const Tensor& self, IntArrayRef size);
CRESSET_API Tensor reshape(const Tensor& self, IntArrayRef shape);
CRESSET_API Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
CRESSET_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
CRESSET_API Tensor t(const Tensor& self);
CRESSET_API Tensor permute(const Tensor& self, IntArrayRef dims);
CRESSET_API Tensor expand(const Tensor& self, IntArrayRef size, bool implicit = false);
CRESSET_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
CRESSET_API Tensor slice(const Tensor& self, int64_t dim = 0, std::optional<int64_t> start = std::nullopt,
                         std::optional<int64_t> end = std::nullopt, int64_t step = 1);
CRESSET_API Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
CRESSET_API Tensor unsqueeze(const Tensor& self, int64_t dim);
CRESSET_API Tensor squeeze(const Tensor& self);
CRESSET_API Tensor squeeze(const Tensor& self, int64_t dim);
CRESSET_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
CRESSET_API std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0);
CRESSET_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);

// The strides by which x can be seen with shape `sizes` without a copy, if it can.
CRESSET_API std::optional<Dims> view_strides(const Tensor& x, IntArrayRef sizes);

}  // namespace cresset
