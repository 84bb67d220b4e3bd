// Arrays of bfloat16 to float and back, on vectors: what kernels that compute in float do most with bfloat16.
#pragma once

#include <cstdint>

#include "cresset/core/half.h"

namespace cresset::cpu {

void convert_numbers(float* to, const BFloat16* from, int64_t n);
void convert_numbers(BFloat16* to, const float* from, int64_t n);

}  // namespace cresset::cpu
