// Attention with several heads, as a function of its weights.
#pragma once

#include <tuple>

#include "cresset/nn/options/transformer.h"

namespace cresset::nn::functional {

// query [L, N, E], key and value [S, N, ..] (or batch first, or without a batch). Masks: true, or minus infinity, hides
// a key: attn_mask [L, S] or [N * heads, L, S], key_padding_mask [N, S]. The result and, if needed, the weights: [N, L,
// S], or [N, heads, L, S] when not averaged.
CRESSET_API std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const MultiheadAttentionForwardFuncOptions& options);

}  // namespace cresset::nn::functional
