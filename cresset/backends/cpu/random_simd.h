// The inner loops of the random kernels that are worth vectors: Philox, Box and Muller, dropout. Compiled once per SIMD
// target. The bits are the same on all of them; normal numbers may differ in the last place.
#pragma once

#include <cstdint>

namespace cresset::cpu {

inline constexpr int64_t kRandomChunk = 512;  // elements of 32 bits

struct RandomFunctions {
  // The chunk that starts at `counter`: four elements from each.
  void (*bits)(uint64_t seed, uint64_t counter, uint32_t* bits);
  // y = normal * std + mean from a chunk of bits, two by two.
  void (*normal)(const uint32_t* bits, float mean, float std, float* y);
  // y = x * scale, or zero where the bits are below threshold; n elements, at most a chunk.
  void (*dropout)(const uint32_t* bits, uint32_t threshold, float scale, const float* x, float* y, int64_t n);
};
const RandomFunctions& random_functions();

}  // namespace cresset::cpu
