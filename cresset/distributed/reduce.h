// The arithmetic of reductions: into[i] = left[i] op right[i]. Plain loops, which the compiler turns into vectors.
#pragma once

#include <cstddef>

#include "cresset/core/dtype.h"
#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

// `into` may be either of the others. AVG adds; divide() finishes it. float16 and bfloat16 are computed in float.
using Reduction = void (*)(void* into, const void* left, const void* right, size_t count);
// Null: this dtype does not have it.
Reduction reduction_of(ReduceOp op, DType dtype);
void divide(void* data, DType dtype, size_t count, int by);

// Refuses what the dtype does not have, by the name of the operation.
void check_reduction(const char* operation, ReduceOp op, DType dtype);

}  // namespace cresset::distributed
