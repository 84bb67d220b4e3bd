// Inner functions of the pools over contiguous floats.
#pragma once

#include <cstdint>

namespace cresset::cpu {

struct PoolInner {
  void (*add)(float* sums, const float* x, int64_t n);                         // sums += x
  void (*add_divided)(float* sums, const float* x, float divisor, int64_t n);  // sums += x / divisor
};
const PoolInner& pool_inner();

}  // namespace cresset::cpu
