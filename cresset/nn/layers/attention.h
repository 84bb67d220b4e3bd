// MultiheadAttention.
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/layers/linear.h"
#include "cresset/nn/options/transformer.h"

namespace cresset::nn {

// Its result and the attention weights (undefined with need_weights false, which is faster and takes less memory).
class CRESSET_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  CRESSET_IF_CALLED MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);

  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true);
  void reset() override;
  void _reset_parameters();

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear out_proj = nullptr;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  int64_t head_dim = 0;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(MultiheadAttention);

}  // namespace cresset::nn
