// Embeddings as functions.
#pragma once

#include "cresset/nn/options/embedding.h"

namespace cresset::nn::functional {

CRESSET_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);
// With max_norm, the rows of weight that input names are scaled down first, in place.
CRESSET_API Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});
CRESSET_API Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                                 const EmbeddingBagFuncOptions& options = {});

}  // namespace cresset::nn::functional
