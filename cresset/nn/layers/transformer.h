// The Transformer: stacks of encoder and decoder layers, and both together.
#pragma once

#include "cresset/nn/any_module.h"
#include "cresset/nn/containers/module_list.h"
#include "cresset/nn/layers/transformer_layer.h"

namespace cresset::nn {

struct CRESSET_API TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers);
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options, int64_t num_layers);
  CRESSET_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;  // copied num_layers times
  CRESSET_ARG(int64_t, num_layers);
  CRESSET_ARG(AnyModule, norm);  // of the result; none unless given
};

struct CRESSET_API TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers);
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options, int64_t num_layers);
  CRESSET_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  CRESSET_ARG(int64_t, num_layers);
  CRESSET_ARG(AnyModule, norm);
};

struct CRESSET_API TransformerOptions {
  TransformerOptions();
  TransformerOptions(int64_t d_model, int64_t nhead);
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers);
  CRESSET_ARG(int64_t, d_model) = 512;
  CRESSET_ARG(int64_t, nhead) = 8;
  CRESSET_ARG(int64_t, num_encoder_layers) = 6;
  CRESSET_ARG(int64_t, num_decoder_layers) = 6;
  CRESSET_ARG(int64_t, dim_feedforward) = 2048;
  CRESSET_ARG(double, dropout) = 0.1;
  CRESSET_ARG(activation_t, activation);  // kReLU unless said
  CRESSET_ARG(AnyModule, custom_encoder);
  CRESSET_ARG(AnyModule, custom_decoder);
  CRESSET_ARG(double, layer_norm_eps) = 1e-5;
  CRESSET_ARG(bool, batch_first) = false;
  CRESSET_ARG(bool, norm_first) = false;
};

class CRESSET_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  CRESSET_IF_CALLED TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters() {}

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
  AnyModule norm;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(TransformerEncoder);

class CRESSET_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  CRESSET_IF_CALLED TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters() {}

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(TransformerDecoder);

class CRESSET_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_ = {});
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();  // xavier_uniform_ of all matrices
  // Minus infinity above the diagonal: each position sees only those before it and itself.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder, decoder;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};
CRESSET_MODULE(Transformer);

}  // namespace cresset::nn
