// Dropout of whole channels, dropout that keeps mean and variance (alpha), and gumbel_softmax. Plain dropout is with
// the random numbers (ops/random.h).
#pragma once

#include "cresset/core/generator.h"
#include "cresset/core/kernel_table.h"

namespace cresset {

// -log(-log(u)) of numbers drawn evenly; out is contiguous, and takes a counter for four elements.
CRESSET_KERNEL(Kernel<void(const Tensor& out, PhiloxCursor at)>, gumbel_kernel, "gumbel");

// Drops whole channels [batch, channels, ..], and divides the others by 1 - p.
CRESSET_API Tensor feature_dropout(const Tensor& input, double p, bool train);
CRESSET_API Tensor& feature_dropout_(const Tensor& input, double p, bool train);
CRESSET_API Tensor dropout1d(const Tensor& input, double p = 0.5, bool training = true);
CRESSET_API Tensor dropout2d(const Tensor& input, double p = 0.5, bool training = true);
CRESSET_API Tensor dropout3d(const Tensor& input, double p = 0.5, bool training = true);
// For selu: dropped elements become its lower end, and the result is scaled back to mean 0 and variance 1.
CRESSET_API Tensor alpha_dropout(const Tensor& input, double p, bool train);
CRESSET_API Tensor& alpha_dropout_(const Tensor& input, double p, bool train);
CRESSET_API Tensor feature_alpha_dropout(const Tensor& input, double p, bool train);
CRESSET_API Tensor& feature_alpha_dropout_(const Tensor& input, double p, bool train);

// softmax of logits with random numbers added, or the choice that they make (hard), with softmax's gradient.
CRESSET_API Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false, int64_t dim = -1);

}  // namespace cresset
