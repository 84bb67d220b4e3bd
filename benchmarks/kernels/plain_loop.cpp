// Compiled with -O3 -march=native -fopenmp, unlike the programs around it.
#include "plain_loop.h"

void plain_add(float* __restrict out, const float* __restrict a, const float* __restrict b, int64_t count,
               int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; i++) out[i] = a[i] + b[i];
}
