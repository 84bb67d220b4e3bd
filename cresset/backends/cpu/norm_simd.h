// Inner functions of the norms of whole rows. T is float or double; sums are handed out in double.
#pragma once

#include <cstdint>

namespace cresset::cpu {

template <class T>
struct NormInner {
  // The mean and the sum of squared distances from it.
  void (*moments)(const T* x, int64_t n, double* mean, double* squares);
  // y = (x - mean) * rstd * w + b; w and b may be null. Streams past the cache if asked to.
  void (*row)(T* y, const T* x, int64_t n, T mean, T rstd, const T* w, const T* b, bool stream);
  // dx of such a row; adds to dw and db, where they are not null.
  void (*row_backward)(T* dx, T* dw, T* db, const T* g, const T* x, const T* w, int64_t n, T mean, T rstd);
  // The sum of squares; y = x * scale * w; and its gradient: dx = (g * w - x * share) * scale, dw += g * x * scale.
  double (*squares)(const T* x, int64_t n);
  double (*weighted_dot)(const T* g, const T* x, const T* w, int64_t n);
  void (*scale_row)(T* y, const T* x, int64_t n, T scale, const T* w, bool stream);
  void (*scale_backward)(T* dx, T* dw, const T* g, const T* x, const T* w, int64_t n, T scale, T share);
};

template <class T>
const NormInner<T>& norm_inner();

}  // namespace cresset::cpu
