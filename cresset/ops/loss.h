// Losses.
#pragma once

#include "cresset/core/kernel_table.h"

namespace cresset {

// How losses of single samples become one. Passed as int64_t, as in ATen.
namespace Reduction {
enum Reduction : int64_t { None, Mean, Sum };
}

// Logits [N, C], class indices [N]. loss is [N] or 0-d; normalizers [N, 2], contiguous, are each row's
// maximum and its sum of exp above it, apart: together they would round. total is how many targets counted.
CRESSET_KERNEL(Kernel<void(const Tensor& loss, const Tensor& normalizers, const Tensor& total, const Tensor& logits,
                           const Tensor& target, int64_t reduction, int64_t ignore_index)>,
               cross_entropy_kernel, "cross_entropy", 3);
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& logits, const Tensor& target,
                           const Tensor& normalizers, const Tensor& total, int64_t reduction, int64_t ignore_index)>,
               cross_entropy_backward_kernel, "cross_entropy_backward");
// What class indices mean for a loss. For each: whether it counts, a class to read (0 if it does not count), its weight
// and its share (1), both divided by the sum of weights for a mean. `empty` is nan for a mean of nothing, else 0.
CRESSET_KERNEL(Kernel<void(const Tensor& classes, const Tensor& counts, const Tensor& weights, const Tensor& shares,
                           const Tensor& empty, const Tensor& target, const Tensor& class_weights, int64_t class_count,
                           int64_t reduction, int64_t ignore_index)>,
               target_classes_kernel, "target_classes", 5);

// -log(softmax(self)) at the target: class indices [N, d1, ..] or probabilities of self's shape [N, C, d1, ..].
CRESSET_API Tensor cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                                 int64_t reduction = Reduction::Mean, int64_t ignore_index = -100,
                                 double label_smoothing = 0.0);

namespace detail {
// The same for class indices, from other ops: what the fused kernel is checked against.
CRESSET_API Tensor cross_entropy_composed(const Tensor& self, const Tensor& target, const Tensor& weight,
                                          int64_t reduction, int64_t ignore_index, double label_smoothing);
}  // namespace detail

}  // namespace cresset
