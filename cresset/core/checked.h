// Arithmetic with sizes that cannot wrap around. Shape rules compute with numbers that programs give, and a size that
// wrapped would pass for a small one: what does not fit into an int64 is refused in the op's name instead.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "cresset/core/export.h"

namespace cresset {

// 0 if any factor is 0, however large the others are.
CRESSET_API int64_t checked_product(const char* op, std::initializer_list<int64_t> factors);
CRESSET_API int64_t checked_sum(const char* op, std::initializer_list<int64_t> terms);

// Wide enough for sums of products of two int64 each; `value` back as an int64, or a ShapeError.
using Wide = __int128;
CRESSET_API int64_t checked_size(const char* op, Wide value);

}  // namespace cresset
