// Inner functions of the norms: whole rows with one mean, or one row of many columns that each have their own. T is
// float or double; sums are handed out in double.
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
  // y = (x - mean) * scale + shift
  void (*affine)(T* y, const T* x, int64_t n, T mean, T scale, T shift);
  // The sums of g and of g * (x - mean).
  void (*sums)(const T* g, const T* x, int64_t n, T mean, double* sum, double* product);
  // dx = a * g + b + c * (x - mean)
  void (*combine)(T* dx, const T* g, const T* x, int64_t n, T mean, T a, T b, T c);
  // Columns. sum += x - shift, squares += (x - shift)^2
  void (*column_moments)(T* sum, T* squares, const T* x, const T* shift, int64_t n);
  void (*column_affine)(T* y, const T* x, const T* mean, const T* scale, const T* shift, int64_t n);
  void (*column_sums)(T* sum, T* product, const T* g, const T* x, const T* mean, int64_t n);
  void (*column_combine)(T* dx, const T* g, const T* x, const T* mean, const T* a, const T* b, const T* c, int64_t n);
  // The sum of squares; y = x * scale * w; and its gradient: dx = (g * w - x * share) * scale, dw += g * x * scale.
  double (*squares)(const T* x, int64_t n);
  double (*weighted_dot)(const T* g, const T* x, const T* w, int64_t n);
  void (*scale_row)(T* y, const T* x, int64_t n, T scale, const T* w, bool stream);
  void (*scale_backward)(T* dx, T* dw, const T* g, const T* x, const T* w, int64_t n, T scale, T share);
};

template <class T>
const NormInner<T>& norm_inner();

}  // namespace cresset::cpu
