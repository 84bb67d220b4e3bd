// Terms of the pointwise losses and their derivatives, one element at a time. Included by the plain kernels and by
// those that are compiled once per SIMD target.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"
#include "cresset/ops/loss_pointwise.h"

namespace cresset::cpu {

// What the inner functions get beside their arrays, in double for every type.
struct TermConstants {
  double a, b, scale;
};

// The inner function of a term that is vectorised, null for the others: the term itself (from x and t), or its first
// derivative by x (from g, x and t).
InnerFunction loss_term_simd(LossTerm term, int order, DType compute);

}  // namespace cresset::cpu
