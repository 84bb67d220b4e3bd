// Views and in-place changes: how a change through a view reaches its base, and how sibling views learn of it.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// After an in-place op on a view: puts a copy-slices node on the base and renews the view's own node.
void rebase_view(const Tensor& view, Ref<Node> node);
// If the base has changed since this view's node was made, replaces the node by one that reads from the base as it is
// now.
void refresh_view(const Tensor& view);

// All of x's memory under another dtype, as a differentiable view: how a view is replayed whose base is complex and it
// is not, or the other way round. Filled in by ops/complex.
using RetypeView = Tensor (*)(const Tensor& x, DType dtype);
CRESSET_API inline constinit RetypeView retype_view = nullptr;

}  // namespace cresset::autograd
