// Inner functions of the norms with statistics per channel: rows that have one mean, or one row of many columns that
// each have their own. S is what stands in memory: float, double, or bfloat16, which is computed in float; sums are
// handed out in double.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cresset/core/half.h"

namespace cresset::cpu {

template <class S>
using Computed = std::conditional_t<std::is_same_v<S, BFloat16>, float, S>;

template <class S>
struct ChannelInner {
  using T = Computed<S>;
  // The mean and the sum of squared distances from it.
  void (*moments)(const S* x, int64_t n, double* mean, double* squares);
  // y = (x - mean) * scale + shift
  void (*affine)(S* y, const S* x, int64_t n, T mean, T scale, T shift);
  // The sums of g and of g * (x - mean).
  void (*sums)(const S* g, const S* x, int64_t n, T mean, double* sum, double* product);
  // dx = a * g + b + c * (x - mean)
  void (*combine)(S* dx, const S* g, const S* x, int64_t n, T mean, T a, T b, T c);
  // Columns. sum += x - shift, squares += (x - shift)^2
  void (*column_moments)(T* sum, T* squares, const S* x, const T* shift, int64_t n);
  void (*column_affine)(S* y, const S* x, const T* mean, const T* scale, const T* shift, int64_t n);
  void (*column_sums)(T* sum, T* product, const S* g, const S* x, const T* mean, int64_t n);
  void (*column_combine)(S* dx, const S* g, const S* x, const T* mean, const T* a, const T* b, const T* c, int64_t n);
};

template <class S>
const ChannelInner<S>& channel_inner();

}  // namespace cresset::cpu
