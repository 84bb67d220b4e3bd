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
  Saved(Saved&&) = default;
  Saved& operator=(Saved&&) = default;

  // Any tensor; its edge is kept beside it.
  void keep(const Tensor& tensor);
  // Input number `input` of the node that saves it: the node has the edge.
  void keep_input(const Tensor& tensor, uint32_t input);
  // An output of the node that saves it, or of what the node stands for.
  void keep_output(const Tensor& tensor, uint32_t output_nr);

  // The value for the formula of `node`, kept here or in `held`. With gradients on it is connected to the graph again.
  const Tensor& read(Node& node, Tensor& held) const {
    if (CRESSET_LIKELY(!rare_ && data_.defined()) && CRESSET_LIKELY(!reconnects_ || !thread_state.grad_enabled)) {
      if (CRESSET_UNLIKELY(data_.impl()->version().load(std::memory_order_relaxed) != version_)) changed(node);
      return data_;
    }
    held = unpack(node);
    return held;
  }
  Tensor unpack(Node& node) const;
  // The op that saves it has overwritten it: reading it is refused.
  void mark_overwritten() { version_--; }
  void reset() {
    data_.reset();
    rare_.reset();
  }

 private:
  enum class From : uint8_t { elsewhere, input, output };
  // Hooks, and the edge of what is neither input nor output of the node.
  struct Rare {
    Edge edge;
    SavedTensorHooks hooks;
    std::shared_ptr<void> object;
    bool packed = false;
  };
  struct CRESSET_API RareDeleter {
    void operator()(Rare* rare) const;
  };
  void store(const Tensor& tensor, From from, uint32_t number, bool requires_grad, bool is_leaf);
  void pack(const Tensor& tensor);
  Rare& rare();
  Tensor reconnected(Tensor alias, Node& node) const;
  [[noreturn]] void changed(const Node& node) const;

  Tensor data_;  // an alias without history, or the leaf itself
  std::unique_ptr<Rare, RareDeleter> rare_;
  uint32_t version_ = 0;
  uint32_t number_ = 0;  // of the input or output
  From from_ = From::elsewhere;
  bool reconnects_ = false;  // it has a place in the graph, which data_ does not carry
};

}  // namespace cresset::autograd
