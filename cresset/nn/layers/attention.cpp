#include "cresset/nn/layers/attention.h"

#include "cresset/nn/functional/attention.h"
#include "cresset/nn/init.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options_) : options(options_) {
  MultiheadAttentionImpl::reset();
}

void MultiheadAttentionImpl::reset() {
  int64_t size = options.embed_dim();
  CRESSET_CHECK_AS(ValueError, options.num_heads() > 0 && size % options.num_heads() == 0,
                   "MultiheadAttention: embed_dim must be divisible by num_heads, found ", size, " and ",
                   options.num_heads());
  head_dim = size / options.num_heads();
  _qkv_same_embed_dim = options.kdim() == size && options.vdim() == size;
  if (_qkv_same_embed_dim) {
    in_proj_weight = register_parameter("in_proj_weight", empty({3 * size, size}));
  } else {
    q_proj_weight = register_parameter("q_proj_weight", empty({size, size}));
    k_proj_weight = register_parameter("k_proj_weight", empty({size, options.kdim()}));
    v_proj_weight = register_parameter("v_proj_weight", empty({size, options.vdim()}));
  }
  in_proj_bias = register_parameter("in_proj_bias", options.bias() ? empty({3 * size}) : Tensor(), options.bias());
  out_proj = register_module("out_proj", Linear(LinearOptions(size, size).bias(options.bias())));
  if (options.add_bias_kv()) {
    bias_k = register_parameter("bias_k", empty({1, 1, size}));
    bias_v = register_parameter("bias_v", empty({1, 1, size}));
  }
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (weight.defined()) init::xavier_uniform_(weight);
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (bias_k.defined()) {
    init::xavier_normal_(bias_k);
    init::xavier_normal_(bias_v);
  }
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                           const Tensor& key_padding_mask, bool need_weights,
                                                           const Tensor& attn_mask, bool average_attn_weights) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(options.embed_dim(), options.num_heads(), in_proj_weight,
                                                       in_proj_bias, bias_k, bias_v, options.add_zero_attn(),
                                                       options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights)
          .batch_first(options.batch_first()));
}

CRESSET_FORWARD_DEFAULTS(MultiheadAttentionImpl, {3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())},
                         {6, AnyValue(true)})

}  // namespace cresset::nn
