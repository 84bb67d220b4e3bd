// Keeping tensors for backward, with version checks and pack/unpack hooks.
#include "cresset/autograd/saved.h"

namespace cresset::autograd {
namespace {
thread_local std::vector<SavedTensorHooks>* hook_stack = nullptr;
}

struct Saved::Packed {
  SavedTensorHooks hooks;
  std::shared_ptr<void> object;
};

SavedTensorHooksScope::SavedTensorHooksScope(SavedTensorHooks hooks) {
  CRESSET_CHECK_AS(AutogradError, hooks.pack && hooks.unpack,
                   "SavedTensorHooksScope: both a pack and an unpack function are wanted");
  if (!hook_stack) hook_stack = new std::vector<SavedTensorHooks>;
  hook_stack->push_back(std::move(hooks));
  thread_state.saved_hooks = true;
}
SavedTensorHooksScope::~SavedTensorHooksScope() {
  hook_stack->pop_back();
  thread_state.saved_hooks = !hook_stack->empty();
  if (hook_stack->empty()) {
    delete hook_stack;
    hook_stack = nullptr;
  }
}

Saved::Saved(const Tensor& tensor, bool is_output) : is_output_(is_output) {
  if (!tensor.defined()) return;
  TensorImpl* impl = tensor.impl();
  CRESSET_CHECK_AS(
      AutogradError, !impl->inference,
      "save for backward: inference tensors cannot be saved for backward; make a clone outside InferenceMode "
      "and work with that (shape ",
      text_of(impl->sizes), ")");
  version_ = impl->version().load(std::memory_order_relaxed);
  requires_grad_ = is_output ? is_differentiable(impl->dtype) : tensor.requires_grad();
  output_nr_ = impl->output_nr;
  is_leaf_ = !is_output && requires_grad_ && tensor.is_leaf();
  if (is_leaf_) {
    data_ = tensor;
  } else {
    data_ = alias(tensor);
    if (!is_output && requires_grad_) edge_ = gradient_edge(tensor);
  }
  if (CRESSET_UNLIKELY(thread_state.saved_hooks)) {
    auto packed = std::make_shared<Packed>();
    packed->hooks = hook_stack->back();
    bool before = thread_state.saved_hooks;
    thread_state.saved_hooks = false;  // what the hook itself saves is its own affair
    try {
      packed->object = packed->hooks.pack(data_);
    } catch (...) {
      thread_state.saved_hooks = before;
      throw;
    }
    thread_state.saved_hooks = before;
    packed_ = std::move(packed);
    data_.reset();
  }
}

void Saved::changed(const Node& node) const {
  throw AutogradError(message_of(
      node.name(), ": one of the variables needed for gradient computation has been modified by an inplace operation: ",
      data_.toString(), " of shape ", text_of(data_.sizes()), is_output_ ? ", the op's output," : "", " is at version ",
      data_.impl()->version().load(), " (expected version ", version_, "). Anomaly mode names the op's call site"));
}

Tensor Saved::unpack(Node& node) const {
  if (CRESSET_UNLIKELY(packed_ != nullptr)) {
    Tensor value = packed_->hooks.unpack(packed_->object);
    CRESSET_CHECK_AS(AutogradError, value.defined(), node.name(),
                     ": the unpack hook of a saved tensor returned an undefined tensor");
    if (is_leaf_ || !requires_grad_ || !thread_state.grad_enabled) return value;
    return reconnected(alias(value), node);
  }
  if (!data_.defined()) return {};
  if (CRESSET_UNLIKELY(data_.impl()->version().load(std::memory_order_relaxed) != version_)) changed(node);
  if (is_leaf_ || !requires_grad_ || !thread_state.grad_enabled) return data_;
  return reconnected(alias(data_), node);
}

Tensor Saved::reconnected(Tensor fresh, Node& node) const {
  TensorImpl* impl = fresh.impl();
  if (is_output_) {
    impl->node = Ref<NodeBase>::share(&node);
    impl->output_nr = output_nr_;
    impl->requires_grad = true;
  } else if (edge_.is_valid()) {
    impl->node = Ref<NodeBase>::share(edge_.function.get());
    impl->output_nr = edge_.input_nr;
    impl->requires_grad = true;
  }
  return fresh;
}

}  // namespace cresset::autograd
