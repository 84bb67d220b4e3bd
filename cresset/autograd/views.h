// Views and in-place changes: how a change through a view reaches its base, and how sibling views learn of it.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// After an in-place op on a view: puts a copy-slices node on the base and renews the view's own node.
void rebase_view(const Tensor& view, Ref<Node> node);
// If the base has changed since this view's node was made, replaces the node by one that reads from the base as it is
// now.
void refresh_view(const Tensor& view);

}  // namespace cresset::autograd
