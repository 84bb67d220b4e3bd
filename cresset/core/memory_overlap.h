// Whether strided layouts share memory: two elements of one layout, or an element of each of two. The answers are exact
// for every shape and stride, by the addresses and not by the storages.
#pragma once

#include "cresset/core/shape.h"
#include "cresset/core/tensor.h"

namespace cresset {

// Two elements of one layout lie at one address. Layouts of views and transposes are told by their sorted strides; only
// what as_strided can make needs a search.
CRESSET_API bool repeats_addresses(IntArrayRef sizes, IntArrayRef strides);

enum class MemoryOverlap {
  none,
  full,    // element i of one is element i of the other
  partial  // some memory is shared in another way
};
CRESSET_API MemoryOverlap memory_overlap(const Tensor& a, const Tensor& b);

}  // namespace cresset
