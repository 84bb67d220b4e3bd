// Listeners to the nodes that run in this thread's backward: the profiler is one. A backward asks once, at its start,
// whether anybody listens; with nobody, its nodes pay nothing.
#pragma once

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// On for this thread while it lives; those made earlier are called first. Neither call may throw.
class CRESSET_API NodeListener {
 public:
  NodeListener();
  virtual ~NodeListener();
  NodeListener(const NodeListener&) = delete;
  NodeListener& operator=(const NodeListener&) = delete;

  virtual void node_begins(const Node& node, const Tensor* gradients, size_t count) noexcept = 0;
  // Also when the node has thrown.
  virtual void node_ended() noexcept = 0;

 private:
  friend class HeardNode;
  NodeListener* outer_;
};

}  // namespace cresset::autograd
