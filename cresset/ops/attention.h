// Scaled dot product attention.
#pragma once

#include "cresset/core/generator.h"
#include "cresset/core/kernel_table.h"

namespace cresset {

// q [.., L, E], k [.., S, E], v [.., S, F]; mask, if defined, [.., L, S], bool or of q's dtype: all with the same
// leading dimensions, maybe of stride 0. normalizers, contiguous, are the logarithms of each row's sum of exp, in the
// type that q computes in. Dropout's numbers are counted tile by tile.
CRESSET_KERNEL(
    Kernel<void(const Tensor& out, const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& mask, bool causal, double scale, double dropout_p, PhiloxCursor at)>,
    attention_kernel, "scaled_dot_product_attention", 2);
CRESSET_KERNEL(Kernel<void(const Tensor& dq, const Tensor& dk, const Tensor& dv, const Tensor& g, const Tensor& out,
                           const Tensor& normalizers, const Tensor& q, const Tensor& k, const Tensor& v,
                           const Tensor& mask, bool causal, double scale, double dropout_p, PhiloxCursor at)>,
               attention_backward_kernel, "scaled_dot_product_attention_backward", 3);
// What the scores are multiplied with, [.., L, S], contiguous: 0, or 1 / (1 - p).
CRESSET_KERNEL(Kernel<void(const Tensor& kept, double p, PhiloxCursor at)>, attention_dropout_kernel,
               "scaled_dot_product_attention_dropout");

// Whether a row sees any key: its normalizer is not +inf.
CRESSET_KERNEL(Kernel<void(const Tensor& seen, const Tensor& normalizers)>, attention_seen_kernel,
               "scaled_dot_product_attention_seen");

// softmax(query @ key.T * scale + mask) @ value, without ever holding all scores. A bool mask says which keys count;
// rows of which none does are 0. scale is 1 / sqrt(E) unless given.
CRESSET_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                const Tensor& attn_mask = {}, double dropout_p = 0.0,
                                                bool is_causal = false, std::optional<double> scale = std::nullopt);

}  // namespace cresset
