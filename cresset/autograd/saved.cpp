// Keeping tensors for backward, with version checks and pack/unpack hooks.
#include "cresset/autograd/saved.h"

#include "cresset/autograd/differentiable.h"

namespace cresset::autograd {
namespace {
thread_local std::vector<SavedTensorHooks>* hook_stack = nullptr;
}

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

void Saved::RareDeleter::operator()(Rare* rare) const { delete rare; }
Saved::Rare& Saved::rare() {
  if (!rare_) rare_.reset(new Rare);
  return *rare_;
}

void Saved::keep(const Tensor& tensor) {
  if (!tensor.defined()) return;
  bool requires_grad = tensor.requires_grad(), is_leaf = requires_grad && tensor.is_leaf();
  store(tensor, From::elsewhere, 0, requires_grad, is_leaf);
  if (requires_grad && (!is_leaf || thread_state.saved_hooks)) rare().edge = gradient_edge(tensor);
}
void Saved::keep_input(const Tensor& tensor, uint32_t input) {
  bool requires_grad = tensor.requires_grad();
  store(tensor, From::input, input, requires_grad, requires_grad && tensor.is_leaf());
}
void Saved::keep_output(const Tensor& tensor, uint32_t output_nr) {
  if (tensor.defined()) store(tensor, From::output, output_nr, is_differentiable(tensor.dtype()), false);
}

void Saved::store(const Tensor& tensor, From from, uint32_t number, bool requires_grad, bool is_leaf) {
  TensorImpl* impl = tensor.impl();
  CRESSET_CHECK_AS(
      AutogradError, !impl->inference,
      "save for backward: Inference tensors cannot be saved for backward. To work around you can make a clone to get a "
      "normal tensor and use it in autograd. (shape ",
      text_of(impl->sizes), ")");
  version_ = impl->version().load(std::memory_order_relaxed);
  from_ = from;
  number_ = number;
  if (CRESSET_UNLIKELY(thread_state.saved_hooks)) {
    reconnects_ = requires_grad;  // what the hook gives back is another tensor, also for a leaf
    pack(alias(tensor));
  } else if (is_leaf) {
    data_ = tensor;
  } else {
    reconnects_ = requires_grad;
    data_ = alias(tensor);
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
  Rare& to = rare();
  to.hooks = hook_stack->back();
  to.packed = true;
  NoGradGuard no_grad;
  HooksOff off;
  to.object = to.hooks.pack(tensor);
  CRESSET_CHECK_AS(AutogradError, tensor.impl()->version().load() == version_,
                   "save for backward: a saved tensor pack hook is modifying its input in place (shape ",
                   text_of(tensor.sizes()), ")");
}

const Tensor& no_tensor() {
  static const Tensor* nothing = new Tensor;
  return *nothing;
}

void Saved::changed(const Node& node) const {
  throw AutogradError(message_of(
      node.name(), ": one of the variables needed for gradient computation has been modified by an inplace operation: ",
      data_.toString(), " of shape ", text_of(data_.sizes()), from_ == From::output ? ", the op's output," : "",
      " is at version ", data_.impl()->version().load(), " (expected version ", version_,
      "). Anomaly mode names the op's call site"));
}

Tensor Saved::unpack(Node& node) const {
  if (CRESSET_UNLIKELY(rare_ && rare_->packed)) {
    Tensor value;
    {
      NoGradGuard no_grad;
      value = rare_->hooks.unpack(rare_->object);
    }
    CRESSET_CHECK_AS(AutogradError, value.defined(), node.name(),
                     ": the unpack hook of a saved tensor returned an undefined tensor");
    return reconnects_ && thread_state.grad_enabled ? reconnected(alias(value), node) : value;
  }
  if (!data_.defined()) return {};
  if (CRESSET_UNLIKELY(data_.impl()->version().load(std::memory_order_relaxed) != version_)) changed(node);
  return reconnects_ && thread_state.grad_enabled ? reconnected(alias(data_), node) : data_;
}

Tensor Saved::reconnected(Tensor fresh, Node& node) const {
  TensorImpl* impl = fresh.impl();
  if (from_ == From::output) {
    impl->node = Ref<NodeBase>::share(&node);
    impl->output_nr = number_;
    impl->requires_grad = true;
    return fresh;
  }
  const Edge& edge = from_ == From::input ? node.next_edge(number_) : rare_->edge;
  if (!edge.is_valid()) return fresh;
  impl->node = Ref<NodeBase>::share(edge.function.get());
  impl->output_nr = edge.input_nr;
  impl->requires_grad = true;
  return fresh;
}

}  // namespace cresset::autograd
