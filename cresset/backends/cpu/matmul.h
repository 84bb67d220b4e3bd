// One matrix product as the CPU kernels see it: plain pointers and strides. Small, thin and odd products stay in
// libcresset; large ones of a type that a BLAS has go to the library behind `library_gemm`, which is loaded when first
// needed.
#pragma once

#include <atomic>

#include "cresset/core/tensor.h"

namespace cresset::cpu {

struct Matrix {
  void* data = nullptr;
  int64_t row = 0, col = 0, batch = 0;  // strides in elements
};

// out = beta * added + alpha * a @ b for each of `batch` matrices. What is added may be out itself, or be repeated by
// strides of zero (a bias); nothing is, if its data is null.
struct Gemm {
  DType dtype;      // of a and b
  DType out_dtype;  // the same, or float for half types
  int64_t batch, m, n, k;
  Matrix out, added, a, b;
  Scalar beta, alpha;
};

// Runs it on as many threads as pay. Any strides, any dtype but bool.
CRESSET_API void run_gemm(Gemm&& gemm);

// What is added is null or out itself. Returns false if the strides are not for it.
using LibraryGemm = bool (*)(const Gemm& gemm);
CRESSET_API void set_library_gemm(LibraryGemm function);

// A part of one matrix of the batch: rows and columns from, to.
struct GemmBlock {
  int64_t batch, row, row_end, col, col_end;
};
// Up to so many rows meet contiguous columns of floats as dot products, without packing. How a sum is added up depends
// on its place among as many columns, so that blocks begin at multiples of it.
inline constexpr int64_t kDotRows = 8;
using BlockFunction = void (*)(const Gemm& gemm, const GemmBlock& block);
BlockFunction gemm_block_function(DType dtype, DType out_dtype);

// Products of floats that are read as they lie along k: of a thin side and a large one, or of two such sides. Returns
// false for others.
bool along_product(const Gemm& gemm);

// Products of bfloat16 and float16 on the CPU's tile unit, if it has one. tile_product takes one matrix, not a batch,
// and returns false for what is not for it, before anything is written.
bool has_tiles();
bool tile_product(const Gemm& gemm);

}  // namespace cresset::cpu
