// Inner functions of softmax: whole rows, or one row of many columns at a time. T is float or double.
#pragma once

#include "cresset/core/dtype.h"

namespace cresset::cpu {

template <class T>
struct SoftmaxInner {
  // One row of n elements; y may be x. Streams the result past the cache if asked to.
  void (*row)(T* y, const T* x, int64_t n, bool stream);
  // The same for its logarithm.
  void (*log_row)(T* y, const T* x, int64_t n, bool stream);
  // The sum of exp(x - top), and top, the row's maximum; both nan if that is not finite.
  T (*exp_total)(const T* x, int64_t n, T* top);
  void (*backward_row)(T* dx, const T* g, const T* y, int64_t n);
  void (*log_backward_row)(T* dx, const T* g, const T* y, int64_t n);
  // y = exp(x - shift) * scale, for x <= shift
  void (*exp_row)(T* y, const T* x, int64_t n, T shift, T scale);
  // Columns: top = max(top, x); y = exp(x - top), total += y.
  void (*max_columns)(T* top, const T* x, int64_t n);
  void (*exp_columns)(T* y, const T* x, const T* top, T* total, int64_t n);
  // total *= exp(before - top), for a maximum that has moved
  void (*move_columns)(T* total, const T* before, const T* top, int64_t n);
};

template <class T>
const SoftmaxInner<T>& softmax_inner();

}  // namespace cresset::cpu
