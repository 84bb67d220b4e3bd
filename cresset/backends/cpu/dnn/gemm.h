// What gemm.cpp hands on: products of bfloat16.
#pragma once

#include "cresset/backends/cpu/matmul.h"

namespace cresset::cpu {

// A matrix as a BLAS takes it: rows one after the other, or columns ("transposed").
struct BlasMatrix {
  bool fits, transposed;
  int64_t lead;
};
BlasMatrix blas_matrix(const Matrix& m, int64_t rows, int64_t cols);

// By oneDNN, on CPUs that multiply bfloat16. What is added is null or out itself. Returns false if it is not for it.
bool bfloat16_gemm(const Gemm& gemm);

}  // namespace cresset::cpu
