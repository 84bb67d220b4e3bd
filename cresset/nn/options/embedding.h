// Options of embeddings.
#pragma once

#include <optional>
#include <variant>

#include "cresset/core/arg.h"
#include "cresset/core/tensor.h"
#include "cresset/nn/enums.h"

namespace cresset::nn {

struct CRESSET_API EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  CRESSET_ARG(int64_t, num_embeddings);
  CRESSET_ARG(int64_t, embedding_dim);
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(bool, sparse) = false;
  CRESSET_ARG(Tensor, _weight) = Tensor();
};

struct CRESSET_API EmbeddingFromPretrainedOptions {
  CRESSET_ARG(bool, freeze) = true;
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(bool, sparse) = false;
};

using EmbeddingBagMode = enumtype::Choice<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

struct CRESSET_API EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  CRESSET_ARG(int64_t, num_embeddings);
  CRESSET_ARG(int64_t, embedding_dim);
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(EmbeddingBagMode, mode) = kMean;
  CRESSET_ARG(bool, sparse) = false;
  CRESSET_ARG(Tensor, _weight) = Tensor();
  CRESSET_ARG(bool, include_last_offset) = false;
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

struct CRESSET_API EmbeddingBagFromPretrainedOptions {
  CRESSET_ARG(bool, freeze) = true;
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(EmbeddingBagMode, mode) = kMean;
  CRESSET_ARG(bool, sparse) = false;
  CRESSET_ARG(bool, include_last_offset) = false;
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

namespace functional {

struct CRESSET_API EmbeddingFuncOptions {
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(bool, sparse) = false;
};

struct CRESSET_API EmbeddingBagFuncOptions {
  CRESSET_ARG(Tensor, offsets) = Tensor();
  CRESSET_ARG(std::optional<double>, max_norm) = std::nullopt;
  CRESSET_ARG(double, norm_type) = 2.;
  CRESSET_ARG(bool, scale_grad_by_freq) = false;
  CRESSET_ARG(EmbeddingBagMode, mode) = kMean;
  CRESSET_ARG(bool, sparse) = false;
  CRESSET_ARG(Tensor, per_sample_weights) = Tensor();
  CRESSET_ARG(bool, include_last_offset) = false;
  CRESSET_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

}  // namespace functional
}  // namespace cresset::nn
