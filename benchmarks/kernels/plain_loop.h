// The yardstick for large arrays: a loop over buffers that exist already, compiled for this machine.
#pragma once

#include <cstdint>

// What one core can do: multiply-adds in registers alone, in GFLOP/s.
double fma_gflops();

void plain_add(float* out, const float* a, const float* b, int64_t count, int threads);
