// The loop under every reduction. Inner functions see rows or columns of one type; this loop orders the dimensions by
// stride, brings other types and strides into that form a piece at a time, and splits long reductions into pieces that
// depend on the shape alone and are combined as a tree: the result is the same for any number of threads.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset::cpu {

// The inner functions for one type that is read. Accumulators are arrays of `accumulator`'s type, or structures of
// acc_size bytes from which `finish` makes values of that type.
struct ReduceInner {
  DType accumulator;
  void (*start)(void* acc, int64_t n);
  // acc[i] takes in all n elements of row i; rows lie row_stride bytes apart.
  void (*rows)(void* acc, const void* x, int64_t n, int64_t rows, int64_t row_stride);
  // acc[j] takes in element j of each of up to kRowsAtOnce rows.
  void (*columns)(void* acc, const void* const* rows, int count, int64_t n);
  void (*combine)(void* acc, const void* other, int64_t n);
  int64_t acc_size = 0;
  void (*finish)(void* values, const void* acc, int64_t n, const void* constant) = nullptr;
};

// What elements become on their way to the inner functions: to[i] from from[i], both contiguous.
struct ReduceMap {
  void (*map)(void* to, const void* from, int64_t n, const void* constant) = nullptr;
  const void* constant = nullptr;  // finish gets it as well
};

inline constexpr int kRowsAtOnce = 8;
// A reduction of at most so many elements is one piece.
inline constexpr int64_t kPiece = 32768;

const ReduceInner& sum_inner(DType read);
const ReduceInner& max_inner(DType read);  // nan wins
const ReduceInner& min_inner(DType read);

// Row i of many columns: where its element beats values[j], that and i are taken.
using BestIndexColumns = void (*)(void* values, int32_t* indices, const void* row, int32_t i, int64_t n);
BestIndexColumns max_index_columns(DType read);
BestIndexColumns min_index_columns(DType read);

// `out` has x's dimensions, with size 1 or missing where they are reduced; no dims means all. Elements of x are
// converted to `read` where they are not; accumulators are divided by `divisor` at the end.
void run_reduction(const Tensor& out, const Tensor& x, IntArrayRef dims, DType read, const ReduceInner& inner,
                   double divisor = 1, const ReduceMap& map = {});

}  // namespace cresset::cpu
