// Embeddings: rows of a table by index, alone or added up in bags.
#pragma once

#include "cresset/nn/cloneable.h"
#include "cresset/nn/options/embedding.h"

namespace cresset::nn {

// Rows start normally distributed; the row of padding_idx is zero and gets no gradient.
class CRESSET_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  CRESSET_IF_CALLED EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();
  Tensor forward(const Tensor& indices);
  void pretty_print(std::ostream& stream) const override;
  EmbeddingOptions options;
  Tensor weight;
};

class CRESSET_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingImpl;
  // A table that is there; it is not trained unless freeze(false).
  static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {});
};

class CRESSET_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  CRESSET_IF_CALLED EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();
  // Rows of input are bags; or offsets says where in a flat input each bag starts.
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {});
  void pretty_print(std::ostream& stream) const override;
  EmbeddingBagOptions options;
  Tensor weight;

 protected:
  CRESSET_FORWARD_DEFAULTS_IN_SOURCE
};

class CRESSET_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingBagImpl;
  static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace cresset::nn
