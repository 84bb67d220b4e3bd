// Inner functions of running sums. T is float or double; sums are taken in double.
#pragma once

#include "cresset/core/dtype.h"

namespace cresset::cpu {

template <class T>
struct ScanInner {
  double (*sum)(const T* x, int64_t n);
  // y[i] = before + x[0] + … + x[i]; y may be x.
  void (*scan)(T* y, const T* x, int64_t n, double before);
};

template <class T>
const ScanInner<T>& scan_inner();

}  // namespace cresset::cpu
