// Inner functions of the direct convolution. The input stands in a padded copy in which every window weight ("tap") is
// a fixed offset from the position of its result, so that vectors run along the rows of the result.
#pragma once

#include "cresset/core/dtype.h"

namespace cresset::cpu {

template <class T>
struct DirectRows {
  T* y;                     // the results, or their gradients
  int64_t y_output, y_row;  // strides between outputs and between rows; columns are neighbours
  int64_t outputs, rows, columns;
  const T* x;              // the padded copy, at the first result's position; a vector behind its end may be read
  int64_t x_row;           // from one row of results to the next
  const int64_t* offsets;  // of each tap
  int64_t taps;
};

template <class T>
struct DirectInner {
  // y[o] = bias[o] + sum over taps of w[o * taps + tap] * x[offsets[tap]]
  void (*correlate)(const DirectRows<T>& at, const T* w, const T* bias);
  // dw[o * taps + tap] += the sum over rows and columns of y[o] * x[offsets[tap]]
  void (*weigh)(const DirectRows<T>& at, T* dw);
};

template <class T>
const DirectInner<T>& direct_inner();

}  // namespace cresset::cpu
