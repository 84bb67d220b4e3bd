// The loop under every pointwise kernel. Inner functions see contiguous arrays of the compute type only; this loop
// brings strided, broadcast and differently typed operands into that form, a chunk at a time through the L1 cache, and
// writes results back. Nothing is ever converted or made contiguous as a whole.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset::cpu {

// out[0..n) from in[k][0..n); `constant` is the op's own (alpha, bounds) or null.
using InnerFunction = void (*)(void* out, const void* const* in, int64_t n, const void* constant);

struct PointwiseCall {
  InnerFunction inner;
  InnerFunction streaming = nullptr;  // for results beyond the cache: writes past it
  const void* constant = nullptr;
  int cost = 1;  // of one element, in units of an addition: decides when threads pay
};

inline constexpr int kMaxInputs = 4;
// Bytes of result from which writing past the cache pays.
inline constexpr size_t kBeyondCache = 8 << 20;

// All inputs are brought to `compute`, the result from `produced` (often the same) to out's dtype.
void run_pointwise(const Tensor& out, std::initializer_list<const Tensor*> inputs, DType compute, DType produced,
                   const PointwiseCall& call);
inline void run_pointwise(const Tensor& out, std::initializer_list<const Tensor*> inputs, DType compute,
                          const PointwiseCall& call) {
  run_pointwise(out, inputs, compute, compute, call);
}

// Inputs may each have a type of their own that the inner function expects (where: bool, T, T).
void run_pointwise_typed(const Tensor& out, std::initializer_list<const Tensor*> inputs, const DType* input_types,
                         DType produced, const PointwiseCall& call);

// Converts n elements with strides in bytes; either side may have stride 0 or run backwards.
void convert(void* to, DType to_type, int64_t to_stride, const void* from, DType from_type, int64_t from_stride,
             int64_t n);

}  // namespace cresset::cpu
