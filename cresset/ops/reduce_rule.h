// What the reductions' shape rules and gradients share: dimensions as bit masks, shapes of results, the way back.
#pragma once

#include "cresset/core/tensor.h"

namespace cresset {

// Which dimensions a list names; none means all.
uint64_t dim_mask(const char* op, IntArrayRef dims, const Tensor& x);
Dims reduced_sizes(const Tensor& x, uint64_t mask, bool keepdim);
// The list as kernels want it: empty for all.
Dims masked_dims(const Tensor& x, uint64_t mask);
// How many elements one result is made of.
int64_t reduced_count(const Tensor& x, uint64_t mask);

// y with the reduced dimensions back in place, as size 1; out of the graph.
Tensor with_kept_dims(const Tensor& y, const Tensor& x, uint64_t mask);
// The same in the graph: y reduced over `mask` of a tensor of `rank` dimensions.
Tensor unreduced(const Tensor& y, int64_t rank, uint64_t mask, bool keepdim);
// The gradient of a sum, spread over what was summed.
Tensor spread(const Tensor& g, IntArrayRef sizes, uint64_t mask, bool keepdim);

void check_ordered(const char* op, const Tensor& x);
// There is no maximum of nothing: wherever a result exists, what it reduces must not be empty.
void check_not_empty(const char* op, const Tensor& x, uint64_t mask, IntArrayRef dims);

// How much of a maximum's gradient each element gets: equals share it. Constant as far as gradients are concerned.
Tensor tie_share(const Tensor& x, const Tensor& top, uint64_t mask);

}  // namespace cresset
