// Compiled with -O3 -march=native -fopenmp, unlike the programs around it.
#include "plain_loop.h"

#include <algorithm>
#include <chrono>

double fma_gflops() {
  using Vector = float __attribute__((vector_size(64)));
  constexpr int kChains = 12, kSteps = 2000000;  // enough chains to hide the latency, few enough for the registers
  double best = 0;
  for (int round = 0; round < 5; round++) {
    Vector sums[kChains], factor, term;
    for (int i = 0; i < 16; i++) factor[i] = 0.999F, term[i] = 0.001F;
    for (Vector& sum : sums) sum = term;
    auto start = std::chrono::steady_clock::now();
    for (int step = 0; step < kSteps; step++) {
#pragma GCC unroll 12
      for (Vector& sum : sums) sum = sum * factor + term;
      asm volatile("" : "+v"(factor));  // no step is like another
    }
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    for (Vector& sum : sums) asm volatile("" : : "m"(sum));
    best = std::max(best, 2e-9 * 16 * kChains * kSteps / time.count());
  }
  return best;
}

void plain_add(float* __restrict out, const float* __restrict a, const float* __restrict b, int64_t count,
               int threads) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (int64_t i = 0; i < count; i++) out[i] = a[i] + b[i];
}
