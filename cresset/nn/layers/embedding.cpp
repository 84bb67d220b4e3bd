#include "cresset/nn/layers/embedding.h"

#include "cresset/nn/functional/embedding.h"
#include "cresset/nn/layers/describe.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

using detail::written;
namespace F = functional;

namespace {

// The padding row from the front. Where the table is given, its shape must be the one announced.
template <class Options>
void check(const char* name, Options& o) {
  const int64_t rows = o.num_embeddings();
  CRESSET_CHECK_AS(ValueError, rows >= 0 && o.embedding_dim() >= 0, name, ": found ", rows, " rows of ",
                   o.embedding_dim(), " (expected no negative number)");
  if (o.padding_idx()) {
    CRESSET_CHECK_AS(IndexError, *o.padding_idx() >= -rows && *o.padding_idx() < rows, name,
                     ": Padding_idx must be within num_embeddings, found ", *o.padding_idx(), " (expected ", -rows,
                     " to ", rows - 1, ")");
    if (*o.padding_idx() < 0) o.padding_idx(*o.padding_idx() + rows);
  }
  if (o._weight().defined())
    CRESSET_CHECK_AS(ShapeError, o._weight().sizes() == IntArrayRef({rows, o.embedding_dim()}), name,
                     ": Shape of weight does not match num_embeddings and embedding_dim, found ",
                     text_of(o._weight().sizes()), " (expected [", rows, ", ", o.embedding_dim(), "])");
}

void start_normally(const Tensor& weight, std::optional<int64_t> padding_idx) {
  NoGradGuard no_grad;
  normal_(weight);
  if (padding_idx) zero_(select(weight, 0, *padding_idx));
}

template <class Options>
std::string table_text(const Options& o) {
  return detail::either("", "num_embeddings=") + std::to_string(o.num_embeddings()) + ", " +
         detail::either("", "embedding_dim=") + std::to_string(o.embedding_dim());
}

void check_table(const char* name, const Tensor& embeddings) {
  CRESSET_CHECK_AS(ShapeError, embeddings.dim() == 2, name,
                   "::from_pretrained: Embeddings parameter is expected to be 2-dimensional, found shape ",
                   text_of(embeddings.sizes()));
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) {
  EmbeddingImpl::reset();
  options._weight(Tensor());  // or copies of this layer would share it
}

void EmbeddingImpl::reset() {
  check("Embedding", options);
  if (options._weight().defined()) {
    weight = register_parameter("weight", options._weight());
  } else {
    weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
  }
}

void EmbeddingImpl::reset_parameters() { start_normally(weight, options.padding_idx()); }

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  if (options.max_norm()) {
    NoGradGuard no_grad;
    embedding_renorm_(weight, indices, *options.max_norm(), options.norm_type());
  }
  return embedding(weight, indices, options.padding_idx().value_or(-1), options.scale_grad_by_freq(), options.sparse());
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  std::string text = table_text(options);
  if (options.padding_idx()) text += ", padding_idx=" + std::to_string(*options.padding_idx());
  if (options.max_norm()) text += ", max_norm=" + written(*options.max_norm());
  if (options.norm_type() != 2) text += ", norm_type=" + written(options.norm_type());
  if (options.scale_grad_by_freq()) text += ", scale_grad_by_freq=" + written(true);
  if (options.sparse()) text += ", sparse=" + written(true);
  detail::print_line(stream, *this, text);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& o) {
  check_table("Embedding", embeddings);
  Embedding layer(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                      ._weight(embeddings)
                      .padding_idx(o.padding_idx())
                      .max_norm(o.max_norm())
                      .norm_type(o.norm_type())
                      .scale_grad_by_freq(o.scale_grad_by_freq())
                      .sparse(o.sparse()));
  layer->weight.set_requires_grad(!o.freeze());
  return layer;
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
  options._weight(Tensor());
}

void EmbeddingBagImpl::reset() {
  check("EmbeddingBag", options);
  if (options._weight().defined()) {
    weight = register_parameter("weight", options._weight());
  } else {
    weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
    reset_parameters();
  }
}

void EmbeddingBagImpl::reset_parameters() { start_normally(weight, options.padding_idx()); }

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return F::embedding_bag(input, weight,
                          F::EmbeddingBagFuncOptions()
                              .offsets(offsets)
                              .max_norm(options.max_norm())
                              .norm_type(options.norm_type())
                              .scale_grad_by_freq(options.scale_grad_by_freq())
                              .mode(options.mode())
                              .sparse(options.sparse())
                              .per_sample_weights(per_sample_weights)
                              .include_last_offset(options.include_last_offset())
                              .padding_idx(options.padding_idx()));
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  constexpr const char* modes[] = {"sum", "mean", "max"};
  std::string text = table_text(options);
  if (options.max_norm()) text += ", max_norm=" + written(*options.max_norm());
  if (options.norm_type() != 2) text += ", norm_type=" + written(options.norm_type());
  if (options.scale_grad_by_freq()) text += ", scale_grad_by_freq=" + written(true);
  if (options.sparse() && detail::as_libtorch()) text += ", sparse=true";
  if (!detail::as_libtorch())
    text += std::string(", mode=") + modes[options.mode().index()];
  else if (!options.mode().is<enumtype::kMean>())
    text += ", mode=" + enumtype::get_enum_name(options.mode());
  if (options.padding_idx()) text += ", padding_idx=" + std::to_string(*options.padding_idx());
  detail::print_line(stream, *this, text);
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& o) {
  check_table("EmbeddingBag", embeddings);
  EmbeddingBag layer(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                         ._weight(embeddings)
                         .max_norm(o.max_norm())
                         .norm_type(o.norm_type())
                         .scale_grad_by_freq(o.scale_grad_by_freq())
                         .mode(o.mode())
                         .sparse(o.sparse())
                         .include_last_offset(o.include_last_offset())
                         .padding_idx(o.padding_idx()));
  layer->weight.set_requires_grad(!o.freeze());
  return layer;
}

CRESSET_FORWARD_DEFAULTS(EmbeddingBagImpl, {1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})

}  // namespace cresset::nn
