// Embeddings. Looking up is a gather of rows; its gradient adds rows up, sorted by where they go, in a kernel of its
// own.
#include "cresset/ops/embedding.h"

#include "cresset/autograd/kept_dims.h"
#include "cresset/ops/copy.h"
#include "cresset/ops/creation.h"
#include "cresset/ops/forms.h"
#include "cresset/ops/pointwise.h"
#include "cresset/ops/reduce.h"
#include "cresset/ops/scatter_call.h"
#include "cresset/ops/shape.h"

namespace cresset {

using detail::FourTensors;

namespace {

void check_indices(const char* op, const char* argument, const Tensor& indices, const Tensor& weight) {
  CRESSET_CHECK_AS(
      TypeError, indices.dtype() == kLong || indices.dtype() == kInt, op, ": Expected tensor for argument '", argument,
      "' to have one of the following scalar types: Long, Int; but got ", toString(indices.dtype()), " instead");
  CRESSET_CHECK_AS(DeviceError, indices.device() == weight.device(), op,
                   ": Expected all tensors to be on the same device, but found at least two devices, ",
                   weight.device().str(), " and ", indices.device().str());
}
void refuse_sparse(const char* op, bool sparse) {
  CRESSET_CHECK_AS(NotImplementedError, !sparse, op,
                   ": sparse gradients (sparse=true) are not supported: there are no sparse tensors (expected "
                   "sparse=false; optim::SparseAdam takes dense gradients and steps the rows that are not zero)");
}

// The rows of weight that indices names; [indices…, width].
Tensor rows_of(const char* op, const Tensor& weight, const Tensor& indices) {
  Dims sizes(indices.sizes());
  sizes.push_back(weight.size(1));
  Tensor y = empty_contiguous(sizes, weight.dtype(), weight.device());
  if (y.numel() == 0) return y;
  CRESSET_CHECK_AS(IndexError, weight.size(0) > 0, op, ": index out of range in self: weight has no rows (shape ",
                   text_of(weight.sizes()), ")");
  Tensor flat = reshape(indices.detach(), {-1});
  Tensor matrix = alias(y, {flat.numel(), weight.size(1)}, {weight.size(1), 1}, 0);
  gather_kernel(matrix, weight.detach(), index_of_slices(flat, matrix, 0), 0, false);
  return y;
}

}  // namespace

// The gradient of a table, and what that is differentiated to: a look-up in the other direction.
CRESSET_OP(embedding_dense_backward, , Tensor,
           (const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
            bool scale_grad_by_freq),
           "grad_output, indices, num_weights, padding_idx, scale_grad_by_freq", Gradient::formula,
           "The gradient of an embedding's weight: rows of grad_output added up by index.")
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights,
                                int64_t padding_idx, bool scale_grad_by_freq) try {
  CRESSET_INTERCEPT(embedding_dense_backward, , Tensor, grad_output, indices, num_weights, padding_idx,
                    scale_grad_by_freq);
  check_indices("embedding_dense_backward", "indices", indices, grad_output);
  CRESSET_CHECK_AS(ShapeError, grad_output.dim() == indices.dim() + 1,
                   "embedding_dense_backward: found grad_output of shape ", text_of(grad_output.sizes()),
                   " for indices of shape ", text_of(indices.sizes()), " (expected one dimension more)");
  const int64_t width = grad_output.size(-1);
  Tensor gw = empty_contiguous({num_weights, width}, grad_output.dtype(), grad_output.device());
  Tensor flat = reshape(indices.detach(), {-1});
  Tensor rows = reshape(grad_output.detach(), {flat.numel(), width});
  if (gw.numel() > 0) embedding_backward_kernel(gw, rows, flat, padding_idx, scale_grad_by_freq);
  return differentiable("EmbeddingDenseBackwardBackward0", gw, inputs(grad_output), saved(indices),
                        [padding_idx, num_weights, scale_grad_by_freq](const Tensor& gg, Wants, const Tensor& indices) {
                          Tensor table = gg;
                          if (padding_idx >= 0) {
                            Tensor row = empty_contiguous({1}, kLong, gg.device());
                            fill_kernel(row, padding_idx);
                            table = index_fill(gg, 0, row, 0);
                          }
                          Tensor for_g = embedding(table, indices);
                          if (scale_grad_by_freq) {
                            Tensor flat = reshape(indices, {-1}),
                                   counts = empty_contiguous({flat.numel()}, gg.dtype(), gg.device());
                            if (flat.numel() > 0) frequency_kernel(counts, flat, num_weights);
                            for_g = div(for_g, unsqueeze(reshape(counts, indices.sizes()), -1));
                          }
                          return grads(std::move(for_g));
                        });
}
CRESSET_ERRORS_OF(embedding_dense_backward, , grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)

CRESSET_OP(embedding, , Tensor,
           (const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq, bool sparse),
           "weight, indices, padding_idx=-1, scale_grad_by_freq=false, sparse=false", Gradient::formula,
           "The rows of weight that indices names. The row padding_idx gets no gradient; scale_grad_by_freq divides a "
           "row's gradient by how often it was named.")
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq,
                 bool sparse) try {
  CRESSET_INTERCEPT(embedding, , Tensor, weight, indices, padding_idx, scale_grad_by_freq, sparse);
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 2, "embedding: 'weight' must be 2-D, found shape ",
                   text_of(weight.sizes()));
  check_indices("embedding", "indices", indices, weight);
  refuse_sparse("embedding", sparse);
  return differentiable(
      "EmbeddingBackward0", rows_of("embedding", weight, indices), inputs(weight), saved(indices),
      [rows = weight.size(0), padding_idx, scale_grad_by_freq](const Tensor& g, Wants, const Tensor& indices) {
        return grads(embedding_dense_backward(g, indices, rows, padding_idx, scale_grad_by_freq));
      });
}
CRESSET_ERRORS_OF(embedding, , weight, indices, padding_idx, scale_grad_by_freq, sparse)

CRESSET_OP(embedding_renorm_, , Tensor&, (const Tensor& self, const Tensor& indices, double max_norm, double norm_type),
           "self, indices, max_norm, norm_type", Gradient::none,
           "Scales the rows of self that indices names so that their norm is at most max_norm.")
Tensor& embedding_renorm_(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) try {
  if (CRESSET_UNLIKELY(thread_state.modes_above != 0) &&
      intercepted<void>(embedding_renorm__op, self, indices, max_norm, norm_type))
    return const_cast<Tensor&>(self);
  CRESSET_CHECK_AS(ShapeError, self.dim() == 2, "embedding_renorm_: Expected 2-dimensional tensor, but got shape ",
                   text_of(self.sizes()), " for argument 'self'");
  CRESSET_CHECK_AS(TypeError, is_differentiable(self.dtype()), "embedding_renorm_: found dtype ", name_of(self.dtype()),
                   " (expected a floating-point or complex type)");
  check_indices("embedding_renorm_", "indices", indices, self);
  autograd::check_inplace("embedding_renorm_", self, false);
  check_no_overlap("embedding_renorm_", self, indices);
  Tensor flat = reshape(indices.detach(), {-1});
  check_index_kernel(flat, self.size(0), 0, false);
  if (flat.numel() > 0) embedding_renorm_kernel(self.detach(), flat, max_norm, norm_type);
  not_differentiable(in_place(self), self);
  return const_cast<Tensor&>(self);
}
CRESSET_ERRORS_OF(embedding_renorm_, , self, indices, max_norm, norm_type)

// ---- embedding_bag
namespace {

enum BagMode : int64_t { kSum, kMean, kMax };

void check_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
                const Tensor& scales) {
  CRESSET_CHECK_AS(ShapeError, weight.dim() == 2, "embedding_bag: 'weight' must be 2-D, found shape ",
                   text_of(weight.sizes()));
  check_indices("embedding_bag", "indices", indices, weight);
  check_indices("embedding_bag", "offsets", offsets, weight);
  CRESSET_CHECK_AS(TypeError, is_differentiable(weight.dtype()) && !weight.is_complex(),
                   "embedding_bag: not implemented for '", toString(weight.dtype()),
                   "' weight (expected a real floating-point type)");
  CRESSET_CHECK_AS(ShapeError, indices.dim() == 1 && offsets.dim() == 1,
                   "embedding_bag: indices and offsets must be vectors, found shapes ", text_of(indices.sizes()),
                   " and ", text_of(offsets.sizes()));
  CRESSET_CHECK_AS(ValueError, mode >= kSum && mode <= kMax, "embedding_bag: found mode ", mode,
                   " (expected 0 for sum, 1 for mean or 2 for max)");
  if (!scales.defined()) return;
  CRESSET_CHECK_AS(ValueError, mode == kSum, "embedding_bag: per_sample_weights is only supported for mode sum, found ",
                   mode == kMean ? "mean" : "max");
  CRESSET_CHECK_AS(TypeError, scales.dtype() == weight.dtype(),
                   "embedding_bag: expected weight and per_sample_weights ", "to have the same dtype, found ",
                   name_of(weight.dtype()), " and ", name_of(scales.dtype()));
  CRESSET_CHECK_AS(ShapeError, scales.sizes() == indices.sizes(),
                   "embedding_bag: expected per_sample_weights of shape ", text_of(indices.sizes()),
                   " (that of indices), found ", text_of(scales.sizes()));
  CRESSET_CHECK_AS(DeviceError, scales.device() == weight.device(), "embedding_bag: per_sample_weights is on ",
                   scales.device().str(), " (expected ", weight.device().str(), ")");
}

// 1 where a count is not zero.
Tensor nonzero_mask(const Tensor& counts, DType dtype) { return counts.to(kBool).to(dtype); }

}  // namespace

CRESSET_OP(embedding_bag, , FourTensors,
           (const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, int64_t mode,
            bool sparse, const Tensor& per_sample_weights, bool include_last_offset, int64_t padding_idx),
           "weight, indices, offsets, scale_grad_by_freq=false, mode=0, sparse=false, per_sample_weights={}, "
           "include_last_offset=false, padding_idx=-1",
           Gradient::formula,
           "The sum (mode 0), mean (1) or maximum (2) of the rows of weight that each bag of indices names; bags start "
           "at offsets.")
FourTensors embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                          int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
                          int64_t padding_idx) try {
  CRESSET_INTERCEPT(embedding_bag, , FourTensors, weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                    per_sample_weights, include_last_offset, padding_idx);
  check_bags(weight, indices, offsets, mode, per_sample_weights);
  refuse_sparse("embedding_bag", sparse);
  CRESSET_CHECK_AS(ShapeError, !include_last_offset || offsets.numel() > 0,
                   "embedding_bag: include_last_offset: numel of offsets must be at least 1, found 0");
  const int64_t rows = weight.size(0), bags = offsets.numel() - (include_last_offset ? 1 : 0), width = weight.size(1);
  CRESSET_CHECK_AS(IndexError, padding_idx >= -rows && padding_idx < rows, "embedding_bag: padding_idx ", padding_idx,
                   " must be within the number of embeddings, found ", rows);
  if (padding_idx < -1) padding_idx += rows;
  check_index_kernel(indices, rows, 0, false);
  Device device = weight.device();
  Tensor y = empty_contiguous({bags, width}, weight.dtype(), device);
  Tensor bag = empty_contiguous({indices.numel()}, kLong, device), size = empty_contiguous({bags}, kLong, device);
  Tensor from = empty_contiguous(mode == kMax ? Dims{bags, width} : Dims{0}, kLong, device);
  if (bags > 0)
    embedding_bag_kernel(y, bag, size, from, weight, indices, offsets, per_sample_weights, mode, padding_idx);
  differentiable_outputs(
      "EmbeddingBagBackward0", Into{}, {&y, &bag, &size, &from}, inputs(weight, per_sample_weights),
      saved(kept_if(per_sample_weights.defined() && per_sample_weights.requires_grad(), weight), indices,
            per_sample_weights, bag, size, from),
      [mode, rows, padding_idx, scale_grad_by_freq](OutputGrads gradients, Wants wants, const Tensor& weight,
                                                    const Tensor& indices, const Tensor& scales, const Tensor& bag,
                                                    const Tensor& size, const Tensor& from) {
        const Tensor& g = gradients[0];
        if (!g.defined()) return grads(Tensor(), Tensor());
        if (mode == kMax) {  // an empty bag came from nowhere
          Tensor kept = where(unsqueeze(size, 1).to(kBool), g, g.new_zeros({}));
          return grads(scatter_add(g.new_zeros({rows, g.size(1)}), 0, from, kept), Tensor());
        }
        Tensor spread = g;
        if (mode == kMean) {
          Tensor mask = nonzero_mask(size, g.dtype());
          spread = mul(g, unsqueeze(div(mask, add(size.to(g.dtype()), sub(ones_like(mask), mask))), 1));
        }
        Tensor parts = index_select(spread, 0, bag), for_weight, for_scales;
        if (wants(0)) {
          Tensor scaled = scales.defined() ? mul(parts, unsqueeze(scales, 1)) : parts;
          for_weight = embedding_dense_backward(scaled, indices, rows, padding_idx, scale_grad_by_freq);
        }
        if (wants(1)) {
          Tensor table = weight;
          if (padding_idx >= 0) {  // what is skipped does not depend on its scale
            Tensor row = empty_contiguous({1}, kLong, g.device());
            fill_kernel(row, padding_idx);
            table = index_fill(weight, 0, row, 0);
          }
          for_scales = sum(mul(parts, index_select(table, 0, indices)), 1);
        }
        return grads(std::move(for_weight), std::move(for_scales));
      });
  return {y, bag, size, from};
}
CRESSET_ERRORS_OF(embedding_bag, , weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights,
                  include_last_offset, padding_idx)

// ---- one_hot
CRESSET_OP(one_hot, , Tensor, (const Tensor& self, int64_t num_classes), "self, num_classes=-1", Gradient::none,
           "A new last dimension of num_classes (-1: one more than the largest number) with a 1 where self says.")
Tensor one_hot(const Tensor& self, int64_t num_classes) try {
  CRESSET_INTERCEPT(one_hot, , Tensor, self, num_classes);
  CRESSET_CHECK_AS(TypeError, self.dtype() == kLong, "one_hot: is only applicable to index tensor, found dtype ",
                   name_of(self.dtype()), " (expected int64)");
  CRESSET_CHECK_AS(ValueError, self.numel() > 0 || num_classes > 0,
                   "one_hot: Can not infer total number of classes from empty tensor.");
  CRESSET_CHECK_AS(ValueError, num_classes > 0 || num_classes == -1, "one_hot: num_classes should be positive, found ",
                   num_classes);
  if (num_classes == -1) {
    CRESSET_CHECK_AS(NotImplementedError, !self.is_meta(),
                     "one_hot: the number of classes depends on values, which a meta tensor does not have");
    num_classes = max(self).item<int64_t>() + 1;
    CRESSET_CHECK_AS(IndexError, num_classes > 0, "one_hot: Class values must be non-negative, found ",
                     num_classes - 1);
  }
  Dims sizes(self.sizes());
  sizes.push_back(num_classes);
  Tensor y = self.new_zeros(sizes);
  if (self.numel() > 0) scatter_(y, -1, unsqueeze(self, -1), 1);
  return y;
}
CRESSET_ERRORS_OF(one_hot, , self, num_classes)

}  // namespace cresset
