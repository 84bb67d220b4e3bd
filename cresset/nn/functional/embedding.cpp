#include "cresset/nn/functional/embedding.h"

#include "cresset/ops/all.h"

namespace cresset::nn::functional {
namespace {

// Counted from the end where negative; -1 is the ops' word for none.
int64_t padding_row(const char* op, std::optional<int64_t> padding_idx, const Tensor& weight) {
  if (!padding_idx) return -1;
  const int64_t rows = weight.size(0);
  CRESSET_CHECK_AS(IndexError, *padding_idx >= -rows && *padding_idx < rows, op, ": found padding_idx ", *padding_idx,
                   " (Padding_idx must be within num_embeddings, ", -rows, " to ", rows - 1, ")");
  return *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
}

void limit_norms(const Tensor& weight, const Tensor& input, std::optional<double> max_norm, double norm_type) {
  if (!max_norm) return;
  NoGradGuard no_grad;
  cresset::embedding_renorm_(weight, input, *max_norm, norm_type);
}

}  // namespace

Tensor one_hot(const Tensor& tensor, int64_t num_classes) { return cresset::one_hot(tensor, num_classes); }

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& o) {
  const int64_t padding = padding_row("embedding", o.padding_idx(), weight);
  limit_norms(weight, input, o.max_norm(), o.norm_type());
  return cresset::embedding(weight, input, padding, o.scale_grad_by_freq(), o.sparse());
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& o) {
  const char* op = "embedding_bag";
  Tensor indices = input, offsets = o.offsets(), scales = o.per_sample_weights();
  CRESSET_CHECK_AS(ShapeError, !scales.defined() || scales.sizes() == input.sizes(), op,
                   ": found per_sample_weights of shape ", scales.defined() ? text_of(scales.sizes()) : "",
                   " and input of shape ", text_of(input.sizes()), " (expected the same shape)");
  CRESSET_CHECK_AS(ValueError, !scales.defined() || o.mode().is<enumtype::kSum>(), op,
                   ": found per_sample_weights with mode ", enumtype::get_enum_name(o.mode()),
                   " (expected kSum: only sums are weighted)");
  const bool largest = o.mode().is<enumtype::kMax>();
  CRESSET_CHECK_AS(ValueError, !largest || !o.scale_grad_by_freq(), op,
                   ": max mode does not support scaling the gradient by the frequency (expected kSum or kMean)");
  CRESSET_CHECK_AS(ValueError, !largest || !o.sparse(), op,
                   ": max mode does not support sparse weights (expected kSum or kMean)");
  if (input.dim() == 2) {  // every row is a bag
    CRESSET_CHECK_AS(ValueError, !offsets.defined(), op,
                     ": found offsets with an input of two dimensions (expected none: its rows are the bags)");
    offsets = cresset::arange(0, input.numel(), std::max<int64_t>(input.size(1), 1), input.options());
    if (input.size(1) == 0) offsets = cresset::zeros({input.size(0)}, input.options());
    indices = cresset::reshape(input, {-1});
    if (scales.defined()) scales = cresset::reshape(scales, {-1});
  } else {
    CRESSET_CHECK_AS(ShapeError, input.dim() == 1, op, ": found input of shape ", text_of(input.sizes()),
                     " (expected 1 or 2 dimensions)");
    CRESSET_CHECK_AS(ValueError, offsets.defined(), op,
                     ": found no offsets with an input of one dimension (expected the bags' first places)");
    CRESSET_CHECK_AS(ShapeError, offsets.dim() == 1, op, ": found offsets of shape ", text_of(offsets.sizes()),
                     " (expected one dimension)");
  }
  const int64_t padding = padding_row(op, o.padding_idx(), weight);
  limit_norms(weight, indices, o.max_norm(), o.norm_type());
  return std::get<0>(cresset::embedding_bag(weight, indices, offsets, o.scale_grad_by_freq(),
                                            static_cast<int64_t>(o.mode().index()), o.sparse(), scales,
                                            input.dim() == 1 && o.include_last_offset(), padding));
}

}  // namespace cresset::nn::functional
