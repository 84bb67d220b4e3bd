// Keeping tensors for backward, with version checks and pack/unpack hooks.
#include "cresset/autograd/saved.h"

#include "cresset/autograd/differentiable.h"

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

Saved::Saved(const Tensor& tensor, bool is_output, uint32_t output_nr) : output_nr_(output_nr), is_output_(is_output) {
  if (!tensor.defined()) return;
  TensorImpl* impl = tensor.impl();
  CRESSET_CHECK_AS(
      AutogradError, !impl->inference,
      "save for backward: inference tensors cannot be saved for backward; make a clone outside InferenceMode "
      "and work with that (shape ",
      text_of(impl->sizes), ")");
  version_ = impl->version().load(std::memory_order_relaxed);
  requires_grad_ = is_output ? is_differentiable(impl->dtype) : tensor.requires_grad();
  is_leaf_ = !is_output && requires_grad_ && tensor.is_leaf();
  if (CRESSET_UNLIKELY(thread_state.saved_hooks)) {
    if (!is_output && requires_grad_) edge_ = gradient_edge(tensor);
    is_leaf_ = false;  // what the hook gives back is another tensor, which is connected to the leaf when it is read
    pack(alias(tensor));
  } else if (is_leaf_) {
    data_ = tensor;
  } else {
    data_ = alias(tensor);
    if (!is_output && requires_grad_) edge_ = gradient_edge(tensor);
  }
}

namespace {
// What a hook itself saves is its own affair.
struct HooksOff {
  HooksOff() { thread_state.saved_hooks = false; }
  ~HooksOff() { thread_state.saved_hooks = hook_stack && !hook_stack->empty(); }
};
}  // namespace

void Saved::pack(const Tensor& tensor) {
  auto packed = std::make_shared<Packed>();
  packed->hooks = hook_stack->back();
  NoGradGuard no_grad;
  HooksOff off;
  packed->object = packed->hooks.pack(tensor);
  CRESSET_CHECK_AS(AutogradError, tensor.impl()->version().load() == version_,
                   "save for backward: a saved tensor pack hook is modifying its input in place (shape ",
                   text_of(tensor.sizes()), ")");
  packed_ = std::move(packed);
}

const Tensor& kept_if(bool needed, const Tensor& tensor) {
  static const Tensor* nothing = new Tensor;
  return needed ? tensor : *nothing;
}

void Saved::changed(const Node& node) const {
  throw AutogradError(message_of(
      node.name(), ": one of the variables needed for gradient computation has been modified by an inplace operation: ",
      data_.toString(), " of shape ", text_of(data_.sizes()), is_output_ ? ", the op's output," : "", " is at version ",
      data_.impl()->version().load(), " (expected version ", version_, "). Anomaly mode names the op's call site"));
}

Tensor Saved::unpack(Node& node) const {
  if (CRESSET_UNLIKELY(packed_ != nullptr)) {
    Tensor value;
    {
      NoGradGuard no_grad;
      value = packed_->hooks.unpack(packed_->object);
    }
    CRESSET_CHECK_AS(AutogradError, value.defined(), node.name(),
                     ": the unpack hook of a saved tensor returned an undefined tensor");
    return requires_grad_ && thread_state.grad_enabled ? reconnected(alias(value), node) : value;
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
