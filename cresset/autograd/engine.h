// The engine: runs a graph backward on the calling thread. It counts how many gradients each node will get, then runs
// ready nodes, the youngest first. All counters live in the run: a run that throws leaves nothing behind, two threads
// may go through one graph, and a backward may start another.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// Adds gradients of the roots into the leaves (or into `inputs` alone). An empty gradient list stands for ones at
// scalars.
CRESSET_API void backward(const variable_list& roots, const variable_list& gradients = {},
                          std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                          const variable_list& inputs = {});

// Returns the gradients with respect to `inputs` and accumulates into nothing.
CRESSET_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                               const variable_list& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                               bool create_graph = false, bool allow_unused = false);

// Runs `callback` when the backward that is under way on this thread has ended without error (DDP's last step).
CRESSET_API void queue_callback(std::function<void()> callback);

// The node that this thread's backward is running, or null.
CRESSET_API Node* current_node();

}  // namespace cresset::autograd
