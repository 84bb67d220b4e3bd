#include "cresset/nn/layers/transformer_layer.h"

#include "cresset/ops/all.h"

namespace cresset::nn {

namespace {

Tensor activated(const activation_t& activation, const Tensor& x) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return relu(x);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return gelu(x);
  return std::get<std::function<Tensor(const Tensor&)>>(activation)(x);
}

template <class Options>
MultiheadAttention attention_of(const Options& o) {
  return MultiheadAttention(
      MultiheadAttentionOptions(o.d_model(), o.nhead()).dropout(o.dropout()).batch_first(o.batch_first()));
}
template <class Options>
LayerNorm norm_of(const Options& o) {
  return LayerNorm(LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps()));
}

Tensor attended(MultiheadAttention& attention, const Tensor& query, const Tensor& memory, const Tensor& mask,
                const Tensor& key_padding_mask) {
  return std::get<0>(attention(query, memory, memory, key_padding_mask, /*need_weights=*/false, mask, true));
}

}  // namespace

TransformerEncoderLayerOptions::TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead), activation_(kReLU) {}

// ---- encoder
TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& options_)
    : options(options_) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  const auto& o = options;
  self_attn = register_module("self_attn", attention_of(o));
  linear1 = register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  dropout = register_module("dropout", Dropout(o.dropout()));
  linear2 = register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  norm1 = register_module("norm1", norm_of(o));
  norm2 = register_module("norm2", norm_of(o));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  auto attend = [&](const Tensor& x) { return dropout1(attended(self_attn, x, x, src_mask, src_key_padding_mask)); };
  auto feed = [&](const Tensor& x) { return dropout2(linear2(dropout(activated(options.activation(), linear1(x))))); };
  if (options.norm_first()) {
    Tensor x = src + attend(norm1(src));
    return x + feed(norm2(x));
  }
  Tensor x = norm1(src + attend(src));
  return norm2(x + feed(x));
}

// ---- decoder
TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(const TransformerDecoderLayerOptions& options_)
    : options(options_) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  const auto& o = options;
  self_attn = register_module("self_attn", attention_of(o));
  multihead_attn = register_module("multihead_attn", attention_of(o));
  linear1 = register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  dropout = register_module("dropout", Dropout(o.dropout()));
  linear2 = register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  norm1 = register_module("norm1", norm_of(o));
  norm2 = register_module("norm2", norm_of(o));
  norm3 = register_module("norm3", norm_of(o));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
  dropout3 = register_module("dropout3", Dropout(o.dropout()));
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask,
                                            const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  auto attend = [&](const Tensor& x) { return dropout1(attended(self_attn, x, x, tgt_mask, tgt_key_padding_mask)); };
  auto look_up = [&](const Tensor& x) {
    return dropout2(attended(multihead_attn, x, memory, memory_mask, memory_key_padding_mask));
  };
  auto feed = [&](const Tensor& x) { return dropout3(linear2(dropout(activated(options.activation(), linear1(x))))); };
  if (options.norm_first()) {
    Tensor x = tgt + attend(norm1(tgt));
    x = x + look_up(norm2(x));
    return x + feed(norm3(x));
  }
  Tensor x = norm1(tgt + attend(tgt));
  x = norm2(x + look_up(x));
  return norm3(x + feed(x));
}

CRESSET_FORWARD_DEFAULTS(TransformerEncoderLayerImpl, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
CRESSET_FORWARD_DEFAULTS(TransformerDecoderLayerImpl, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                         {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})

}  // namespace cresset::nn
