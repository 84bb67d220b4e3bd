// Tables of vectors looked up by number: embedding, and embedding_bag, which reduces the vectors of each bag.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// gw[r] = the sum of the rows g[i] with indices[i] == r, in the order of i, divided by their number if by_frequency.
// padding_idx gets zeros; -1: none does. gw is contiguous, g a matrix and indices a vector.
CRESSET_KERNEL(
    Kernel<void(const Tensor& gw, const Tensor& g, const Tensor& indices, int64_t padding_idx, bool by_frequency)>,
    embedding_backward_kernel, "embedding_backward");
// How often each element's value occurs in indices, which is a vector: counts has its shape.
CRESSET_KERNEL(Kernel<void(const Tensor& counts, const Tensor& indices, int64_t size)>, frequency_kernel, "frequency");
CRESSET_KERNEL(Kernel<void(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type)>,
               embedding_renorm_kernel, "embedding_renorm");
// mode 0: sum, 1: mean, 2: max. max_indices is [bags, width] for max, else untouched; per_sample_weights may be
// undefined. Bags start at `offsets`; the last one ends with the indices, unless offsets has one entry more.
CRESSET_KERNEL(Kernel<void(const Tensor& out, const Tensor& offset2bag, const Tensor& bag_size,
                           const Tensor& max_indices, const Tensor& weight, const Tensor& indices,
                           const Tensor& offsets, const Tensor& per_sample_weights, int64_t mode, int64_t padding_idx)>,
               embedding_bag_kernel, "embedding_bag", 4);

CRESSET_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                             bool scale_grad_by_freq = false, bool sparse = false);
CRESSET_API Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                            int64_t padding_idx, bool scale_grad_by_freq);
// Scales the rows that indices names so that their norm is at most max_norm.
CRESSET_API Tensor& embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm, double norm_type);
// Output, the bag of each index, the number of indices in each bag, and for max where each value came from.
CRESSET_API std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq = false,
    int64_t mode = 0, bool sparse = false, const Tensor& per_sample_weights = {}, bool include_last_offset = false,
    int64_t padding_idx = -1);

CRESSET_API Tensor one_hot(const Tensor& self, int64_t num_classes = -1);

}  // namespace cresset
