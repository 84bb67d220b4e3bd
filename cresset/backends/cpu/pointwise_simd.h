// The inner functions of the pointwise kernels, compiled once per SIMD target and chosen at run time.
#pragma once

#include "cresset/backends/cpu/pointwise_loop.h"

namespace cresset::cpu {

enum class PointwiseOp : uint8_t { add, add_scaled, mul, div, relu, neg, conj, relu_backward, where, count };

// Null where the op does not have the type.
InnerFunction inner_function(PointwiseOp op, DType compute);
InnerFunction streaming_function(PointwiseOp op, DType compute);

// The SIMD target in use ("AVX3"); CRESSET_CPU_TARGET=SSE4|AVX2|AVX3 forces one the CPU has.
const char* simd_target();
void choose_simd_target();  // once, before the first dispatch

}  // namespace cresset::cpu
