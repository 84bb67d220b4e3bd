// A batch of matrices as LAPACK sees them: columns one after the other, matrices one after the other.
#pragma once

#include <algorithm>

#include "cresset/backends/cpu/dnn/lapack.h"
#include "cresset/backends/cpu/dnn/library_call.h"
#include "cresset/core/parallel.h"
#include "cresset/core/tensor.h"

namespace cresset::cpu {

template <class T>
T* data_of(const Tensor& x) {
  return static_cast<T*>(x.impl()->data());
}

// Calls f with a null pointer of the tensor's type, which is one that LAPACK has.
template <class F>
void with_type(const Tensor& x, const F& f) {
  switch (x.dtype()) {
    case kFloat:
      return f(static_cast<float*>(nullptr));
    case kDouble:
      return f(static_cast<double*>(nullptr));
    case kComplexFloat:
      return f(static_cast<std::complex<float>*>(nullptr));
    case kComplexDouble:
      return f(static_cast<std::complex<double>*>(nullptr));
    default:
      throw TypeError(
          message_of("linalg: found dtype ", name_of(x.dtype()), " (expected float32, float64 or complex)"));
  }
}

template <class T>
struct Batch {
  T* data;
  int rows, cols;
  int64_t count;

  explicit Batch(const Tensor& x)
      : data(data_of<T>(x)), rows(narrowed(x.size(-2))), cols(narrowed(x.size(-1))), count(1) {
    for (int64_t i = 0; i + 2 < x.dim(); i++) count *= x.size(i);
  }
  T* operator[](int64_t i) const { return data + i * rows * cols; }

  // f(i) for each matrix. The libraries stay serial inside a region that was split.
  template <class F>
  void each(const F& f) const {
    const LibraryCall library;
    library.wait_unless_allowed();
    const double work = static_cast<double>(rows) * cols * std::min(rows, cols) + 100;
    const auto grain = std::max<int64_t>(1, static_cast<int64_t>(30000 / work));
    // A few large matrices gain more from threads inside each.
    if (count == 1 || (count < get_num_threads() && work > 1e7)) {
      for (int64_t i = 0; i < count; i++) f(i);
      return;
    }
    parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; i++) f(i);
    });
  }

 private:
  static int narrowed(int64_t n) {
    CRESSET_CHECK(n <= INT32_MAX, "linalg_check: a matrix has ", n, " rows or columns (LAPACK takes 32-bit sizes)");
    return static_cast<int>(n);
  }
};

}  // namespace cresset::cpu
