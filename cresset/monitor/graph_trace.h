// What ops a function calls on which tensors: the picture of a network, with names and shapes. It listens as a mode
// above autograd, so that composed ops are one node each.
#pragma once

#include <functional>

#include "cresset/core/ordered_dict.h"
#include "cresset/core/tensor.h"

namespace cresset::monitor {

struct TracedNode {
  std::string name;  // "first/linear"; the slashes are scopes
  std::string op;    // "linear", "Parameter", "input", "output"
  std::vector<std::string> inputs;
  std::vector<std::vector<int64_t>> shapes;  // of the outputs
  std::string attributes;                    // plain arguments: "dim=1"
};

// Runs `forward` once, without gradients. Ops that use a parameter stand in its scope ("first" of "first.weight").
CRESSET_API std::vector<TracedNode> trace_graph(const OrderedDict<std::string, Tensor>& named,
                                                const std::vector<Tensor>& inputs,
                                                const std::function<std::vector<Tensor>()>& forward);

}  // namespace cresset::monitor
