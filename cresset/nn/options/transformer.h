// Options of attention and the Transformer's parts. Beyond libtorch's: batch_first and norm_first.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/nn/enums.h"

namespace cresset::nn {

struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  CRESSET_ARG(int64_t, embed_dim);
  CRESSET_ARG(int64_t, num_heads);
  CRESSET_ARG(double, dropout) = 0.0;  // of the attention weights
  CRESSET_ARG(bool, bias) = true;
  CRESSET_ARG(bool, add_bias_kv) = false;
  CRESSET_ARG(bool, add_zero_attn) = false;
  CRESSET_ARG(int64_t, kdim);
  CRESSET_ARG(int64_t, vdim);
  CRESSET_ARG(bool, batch_first) = false;
};

using activation_t = std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct CRESSET_API TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead);
  CRESSET_ARG(int64_t, d_model);
  CRESSET_ARG(int64_t, nhead);
  CRESSET_ARG(int64_t, dim_feedforward) = 2048;
  CRESSET_ARG(double, dropout) = 0.1;
  CRESSET_ARG(activation_t, activation);  // kReLU unless said
  CRESSET_ARG(double, layer_norm_eps) = 1e-5;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(bool, norm_first) = false;  // normalise before attention and feedforward, not after
};

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

namespace functional {

struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads, Tensor in_proj_weight,
                                       Tensor in_proj_bias, Tensor bias_k, Tensor bias_v, bool add_zero_attn,
                                       double dropout_p, Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  CRESSET_ARG(int64_t, embed_dim_to_check);
  CRESSET_ARG(int64_t, num_heads);
  CRESSET_ARG(Tensor, in_proj_weight);  // q, k and v one below the other
  CRESSET_ARG(Tensor, in_proj_bias);
  CRESSET_ARG(Tensor, bias_k);
  CRESSET_ARG(Tensor, bias_v);
  CRESSET_ARG(bool, add_zero_attn);
  CRESSET_ARG(double, dropout_p);
  CRESSET_ARG(Tensor, out_proj_weight);
  CRESSET_ARG(Tensor, out_proj_bias);
  CRESSET_ARG(bool, training) = true;
  CRESSET_ARG(Tensor, key_padding_mask) = {};
  CRESSET_ARG(bool, need_weights) = true;
  CRESSET_ARG(Tensor, attn_mask) = {};
  CRESSET_ARG(bool, use_separate_proj_weight) = false;
  CRESSET_ARG(Tensor, q_proj_weight) = {};
  CRESSET_ARG(Tensor, k_proj_weight) = {};
  CRESSET_ARG(Tensor, v_proj_weight) = {};
  CRESSET_ARG(Tensor, static_k) = {};
  CRESSET_ARG(Tensor, static_v) = {};
  CRESSET_ARG(bool, average_attn_weights) = true;
  CRESSET_ARG(bool, batch_first) = false;
};

}  // namespace functional
}  // namespace cresset::nn
