// Connectionist temporal classification (A. Graves et al., 2006).
#pragma once

#include "cresset/core/kernel_table.h"
#include "cresset/ops/loss.h"

namespace cresset {

// log_probs [T, N, C]; targets [N, S] or all of them in a row; lengths [N], int64. loss is [N] or 0-d. Lengths and
// targets are checked before anything is written.
CRESSET_KERNEL(
    Kernel<void(const Tensor& loss, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank, int64_t reduction, bool zero_infinity)>,
    ctc_loss_kernel, "ctc_loss");
// The derivative by log_probs, taken as independent numbers. (PyTorch adds exp(log_probs), which log_softmax takes off
// again: behind it the two are the same.)
CRESSET_KERNEL(Kernel<void(const Tensor& dx, const Tensor& g, const Tensor& log_probs, const Tensor& targets,
                           const Tensor& input_lengths, const Tensor& target_lengths, int64_t blank, int64_t reduction,
                           bool zero_infinity)>,
               ctc_loss_backward_kernel, "ctc_loss_backward");

// -log of the probability of each target sequence, summed over all alignments. The mean divides each by its length
// first. log_probs may lack the batch dimension.
CRESSET_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                            IntArrayRef target_lengths, int64_t blank = 0, int64_t reduction = Reduction::Mean,
                            bool zero_infinity = false);
CRESSET_API Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                            const Tensor& target_lengths, int64_t blank = 0, int64_t reduction = Reduction::Mean,
                            bool zero_infinity = false);

}  // namespace cresset
