#include "cresset/nn/layers/transformer.h"

#include <limits>

#include "cresset/nn/init.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

// ---- options
TransformerEncoderOptions::TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
    : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
TransformerEncoderOptions::TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                                                     int64_t num_layers)
    : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
    : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
TransformerDecoderOptions::TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                                                     int64_t num_layers)
    : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}
TransformerOptions::TransformerOptions() : activation_(kReLU) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead)
    : d_model_(d_model), nhead_(nhead), activation_(kReLU) {}
TransformerOptions::TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                                       int64_t num_decoder_layers)
    : d_model_(d_model),
      nhead_(nhead),
      num_encoder_layers_(num_encoder_layers),
      num_decoder_layers_(num_decoder_layers),
      activation_(kReLU) {}

// ---- encoder
TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_) : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}

void TransformerEncoderImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.num_layers() > 0, "TransformerEncoder: found num_layers ", options.num_layers(),
                   " (expected 1 or more)");
  layers = register_module("layers", ModuleList());
  for (int64_t i = 0; i < options.num_layers(); i++) layers->push_back(options.encoder_layer()->clone());
  norm = AnyModule();
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); i++)
    x = TransformerEncoderLayer(layers->ptr<TransformerEncoderLayerImpl>(i))(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

// ---- decoder
TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_) : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}

void TransformerDecoderImpl::reset() {
  CRESSET_CHECK_AS(ValueError, options.num_layers() > 0, "TransformerDecoder: found num_layers ", options.num_layers(),
                   " (expected 1 or more)");
  layers = register_module("layers", ModuleList());
  for (int64_t i = 0; i < options.num_layers(); i++) layers->push_back(options.decoder_layer()->clone());
  norm = AnyModule();
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask,
                                       const Tensor& memory_mask, const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); i++)
    x = TransformerDecoderLayer(layers->ptr<TransformerDecoderLayerImpl>(i))(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

// ---- both
TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  TransformerImpl::reset();
}

namespace {
template <class LayerOptions>
LayerOptions layer_options(const TransformerOptions& o) {
  return LayerOptions(o.d_model(), o.nhead())
      .dim_feedforward(o.dim_feedforward())
      .dropout(o.dropout())
      .activation(o.activation())
      .layer_norm_eps(o.layer_norm_eps())
      .batch_first(o.batch_first())
      .norm_first(o.norm_first());
}
AnyModule last_norm(const TransformerOptions& o) {
  return AnyModule(LayerNorm(LayerNormOptions({o.d_model()}).eps(o.layer_norm_eps())));
}
}  // namespace

void TransformerImpl::reset() {
  const TransformerOptions& o = options;
  encoder =
      o.custom_encoder().is_empty()
          ? AnyModule(TransformerEncoder(
                TransformerEncoderOptions(layer_options<TransformerEncoderLayerOptions>(o), o.num_encoder_layers())
                    .norm(last_norm(o))))
          : o.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  decoder =
      o.custom_decoder().is_empty()
          ? AnyModule(TransformerDecoder(
                TransformerDecoderOptions(layer_options<TransformerDecoderLayerOptions>(o), o.num_decoder_layers())
                    .norm(last_norm(o))))
          : o.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask, const Tensor& tgt_mask,
                                const Tensor& memory_mask, const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask, const Tensor& memory_key_padding_mask) {
  CRESSET_CHECK_AS(ShapeError, (src.dim() == 2 || src.dim() == 3) && src.dim() == tgt.dim(),
                   "Transformer: src and tgt should have 3 dimensions each (or 2, without a batch), but got ",
                   src.dim(), " and ", tgt.dim());
  int64_t batch_dim = options.batch_first() ? 0 : 1;
  CRESSET_CHECK_AS(ShapeError, src.dim() == 2 || src.size(batch_dim) == tgt.size(batch_dim),
                   "Transformer: src and tgt should have equal batch size, but got ",
                   src.dim() == 2 ? 1 : src.size(batch_dim), " and ", tgt.dim() == 2 ? 1 : tgt.size(batch_dim));
  CRESSET_CHECK_AS(ShapeError, src.size(-1) == options.d_model() && tgt.size(-1) == options.d_model(),
                   "Transformer: src and tgt should have same feature size as d_model, ", options.d_model(),
                   ", but got ", src.size(-1), " and ", tgt.size(-1));
  Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
  return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  CRESSET_CHECK_AS(ValueError, sz >= 0, "generate_square_subsequent_mask: found ", sz, " (expected 0 or more)");
  return full({sz, sz}, -std::numeric_limits<double>::infinity(), TensorOptions(kFloat)).triu(1);
}

CRESSET_FORWARD_DEFAULTS(TransformerEncoderImpl, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
CRESSET_FORWARD_DEFAULTS(TransformerDecoderImpl, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())},
                         {4, AnyValue(Tensor())}, {5, AnyValue(Tensor())})
CRESSET_FORWARD_DEFAULTS(TransformerImpl, {2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                         {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})

}  // namespace cresset::nn
