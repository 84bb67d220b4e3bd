// Saved: a tensor kept for backward. It checks on reading that nobody changed the values in between. It never holds a
// tensor's own place in the graph (a leaf apart): an alias of the data and the edge are kept instead, or an op's output
// and its node, or a tensor later changed in place and the node that saved it, would own each other for ever.
#pragma once

#include <functional>

#include "cresset/autograd/node.h"

namespace cresset::autograd {

// Packs a tensor into anything when it is saved, and unpacks it when backward asks. Checkpointing and offload build on
// it.
struct SavedTensorHooks {
  std::function<std::shared_ptr<void>(const Tensor&)> pack;
  std::function<Tensor(const std::shared_ptr<void>&)> unpack;
};

// Switches hooks on for what this thread saves while it lives.
class CRESSET_API SavedTensorHooksScope {
 public:
  explicit SavedTensorHooksScope(SavedTensorHooks hooks);
  ~SavedTensorHooksScope();
  SavedTensorHooksScope(const SavedTensorHooksScope&) = delete;
  SavedTensorHooksScope& operator=(const SavedTensorHooksScope&) = delete;
};

class CRESSET_API Saved {
 public:
  Saved() = default;
  // An output's edge is filled in with the node that saves it, when it is read.
  Saved(const Tensor& tensor, bool is_output, uint32_t output_nr = 0);
  Saved(Saved&&) = default;
  Saved& operator=(Saved&&) = default;

  // The value for the formula of `node`. With gradients on it is connected to the graph again.
  Tensor unpack(Node& node) const;
  void mark_overwritten() { version_--; }
  void reset() {
    data_.reset();
    edge_ = {};
    packed_.reset();
  }
  bool empty() const { return !data_.defined() && !packed_; }

 private:
  struct Packed;
  void pack(const Tensor& tensor);
  Tensor reconnected(Tensor alias, Node& node) const;
  [[noreturn]] void changed(const Node& node) const;

  Tensor data_;  // an alias without history, or the leaf itself
  Edge edge_;
  std::shared_ptr<Packed> packed_;
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool is_leaf_ = false;
  bool requires_grad_ = false;
};

}  // namespace cresset::autograd
