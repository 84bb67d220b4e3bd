// Checkpointing: the function's intermediate tensors are not kept but computed again when backward asks for them. It
// builds on saved-tensor hooks, so the graph stays the ordinary one: several outputs, nested checkpoints, grad(),
// second derivatives and hooks work as without it.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

struct CheckpointOptions {
  bool preserve_rng_state = true;  // the second computation draws the first one's random numbers (dropout)
};

// The function must give the same values each time and must not change its inputs in place. What it captures is kept as
// it is; what it is given as input is checked for changes.
CRESSET_API variable_list checkpoint(std::function<variable_list(const variable_list&)> function,
                                     const variable_list& inputs, CheckpointOptions options = {});
CRESSET_API Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input,
                              CheckpointOptions options = {});

// Runs the functions one after another in `segments` parts; all but the last are checkpointed.
CRESSET_API Tensor checkpoint_sequential(const std::vector<std::function<Tensor(const Tensor&)>>& functions,
                                         int64_t segments, const Tensor& input, CheckpointOptions options = {});

}  // namespace cresset::autograd
