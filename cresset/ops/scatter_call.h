// What the ops that write by index share: one call of the scatter kernel, with its checks and its result.
#pragma once

#include "cresset/core/into.h"
#include "cresset/ops/gather.h"

namespace cresset {

// Runs a kernel that checks indices: its error gets the shape that they were out of.
template <class F>
void naming_shape(const Tensor& indexed, const F& kernel) {
  try {
    kernel();
  } catch (IndexError& error) {
    error.set_message(error.msg() + " (shape " + text_of(indexed.sizes()) + ")");
    throw;
  }
}

struct ScatterCall {
  const char* op;
  Tensor self, index, src;  // index and src have the same rank, 1 at least; src may be one number with strides 0
  int64_t dim;
  bool wraps = false;         // negative indices count from the end
  bool keeps_layout = false;  // of self, where the result is fresh
};
// self with src written into it; out of the graph.
Tensor scattered(const Into& into, const ScatterCall& call, ScatterMode mode);
// The whole of scatter_reduce and index_reduce, gradient included.
Tensor reduced_by_index(const char* node, const Into& into, const ScatterCall& call, std::string_view reduce,
                        bool include_self);
// One index for every slice along dim, seen with the shape of `like`.
Tensor index_of_slices(const Tensor& index, const Tensor& like, int64_t dim);
Tensor at_least_1d(const Tensor& x);  // out of the graph

}  // namespace cresset
