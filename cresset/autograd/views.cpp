// Views and in-place changes. A view keeps its base; sizes, strides and offset say how it reads from it, so it is
// replayed with as_strided. An in-place op on a view becomes CopySlices on the base: the op's gradient for the part the
// view covers, the unchanged gradient elsewhere.
#include "cresset/autograd/views.h"

#include <mutex>

#include "cresset/autograd/differentiable.h"
#include "cresset/autograd/variable.h"
#include "cresset/core/modes.h"

namespace cresset::autograd {
namespace {

struct Geometry {
  Dims sizes, strides;
  int64_t offset;
};

// A tensor like the base, dense, into which a gradient of the whole base is written; views of it use the same strides.
Tensor base_shaped(const Tensor& gradient, const Geometry& base) {
  if (is_dense(base.sizes, base.strides)) return empty_strided(base.sizes, base.strides, gradient.options());
  return empty_contiguous(base.sizes, gradient.dtype(), gradient.device());
}

// `base` with the dtype that its view has, and an offset of the base in elements of that.
Tensor typed_like(const Tensor& base, DType dtype) {
  return CRESSET_LIKELY(base.dtype() == dtype) ? base : retype_view(base, dtype);
}
int64_t offset_in(int64_t offset, DType of, DType dtype) {
  return of == dtype ? offset : is_complex(of) ? 2 * offset : offset / 2;
}

class CopySlices final : public Pooled<CopySlices> {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> function)
      : Pooled("CopySlices", nullptr, static_cast<uint32_t>(function->num_outputs()), 1),
        base_{base.impl()->sizes, base.impl()->strides, base.impl()->offset},
        view_{view.impl()->sizes, view.impl()->strides,
              view.impl()->offset - offset_in(base.impl()->offset, base.dtype(), view.dtype())},
        dtype_(view.dtype()),
        function_(std::move(function)),
        edges_of_(function_->num_outputs()) {
    // The first input of the op was the view itself: its gradient goes to the base's former node. The others keep
    // theirs.
    edges_of_[0] = gradient_edge(base);
    for (size_t i = 1; i < edges_of_.size(); i++) edges_of_[i] = function_->next_edge(i);
    edges_ = edges_of_.data();
  }

  Grads apply(Tensor* gradients, size_t) override {
    if (!gradients[0].defined()) return Grads(num_edges_);
    if (!function_) backward_second_time(*this);
    Tensor whole = base_shaped(gradients[0], base_);
    whole.copy_(gradients[0]);
    if (!is_dense(base_.sizes, base_.strides)) return apply_by_index(whole);
    Tensor part = typed_like(whole, dtype_).as_strided(view_.sizes, view_.strides, view_.offset);
    Tensor part_gradient = part.clone();
    Grads inner = function_->apply(&part_gradient, 1);
    Grads result(num_edges_);
    if (wants(0)) {
      if (inner[0].defined())
        part.copy_(inner[0]);
      else
        part.zero_();
      result[0] = std::move(whole);
    }
    for (size_t i = 1; i < inner.size(); i++)
      if (wants(i)) result[i] = std::move(inner[i]);
    return result;
  }

  void release_variables() override {
    if (function_) function_->release_variables();
    function_.reset();
  }
  std::string name() const override { return "CopySlices"; }

 private:
  // A base with holes or overlaps cannot be laid out like itself: work in a buffer of its whole memory.
  Grads apply_by_index(const Tensor& whole) {
    int64_t extent = 1;
    for (int i = 0; i < base_.sizes.rank(); i++) extent += (base_.sizes[i] - 1) * base_.strides[i];
    Tensor memory = empty_contiguous(extent, whole.dtype(), whole.device());
    memory.zero_();
    memory.as_strided(base_.sizes, base_.strides, 0).copy_(whole);
    Tensor part = typed_like(memory, dtype_).as_strided(view_.sizes, view_.strides, view_.offset);
    Tensor part_gradient = part.clone();
    Grads inner = function_->apply(&part_gradient, 1);
    if (inner[0].defined())
      part.copy_(inner[0]);
    else
      part.zero_();
    Grads result(num_edges_);
    if (wants(0)) result[0] = memory.as_strided(base_.sizes, base_.strides, 0).clone();
    for (size_t i = 1; i < inner.size(); i++)
      if (wants(i)) result[i] = std::move(inner[i]);
    return result;
  }

  Geometry base_, view_;  // the view's offset counts from the base's first element
  DType dtype_;           // of the view
  Ref<Node> function_;
  std::vector<Edge> edges_of_;
};

std::mutex& view_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

// PyTorch's words. `indirect`: not the view itself but its base or a sibling was changed.
[[noreturn]] void refuse_view(const char* op, const TensorImpl* view, bool indirect) {
  const char* what =
      indirect ? "its base or another view of its base has been modified inplace" : "is being modified inplace";
  std::string header, why;
  switch (view->origin) {
    case ViewOrigin::no_grad:
      header = "A view was created in no_grad mode and ";
      why =
          " with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can "
          "clarify your code by moving both the view and the inplace either both inside the no_grad block (if you "
          "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)";
      break;
    case ViewOrigin::inference:
      header = "A view was created in inference mode and ";
      why = " in normal mode, which is not allowed";
      break;
    case ViewOrigin::multi_view:
      header = "Output of a function that returns multiple views is a view and ";
      why =
          ". Such functions (split, unbind, chunk) do not allow the output views to be modified inplace. You should "
          "replace the inplace operation by an out-of-place one";
      break;
    case ViewOrigin::custom_function:
      header = "Output of a custom Function is a view and ";
      why =
          ". This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
          "logic to handle view+inplace would override the custom backward associated with the custom Function, "
          "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
          "custom Function";
      break;
    case ViewOrigin::ordinary:
      break;
  }
  throw AutogradError(message_of(op, ": ", header, what, why, " (shape ", text_of(view->sizes), ")"));
}

}  // namespace

void check_inplace(const char* op, const Tensor& self, bool others_require_grad) {
  TensorImpl* impl = self.impl();
  if (CRESSET_UNLIKELY(impl->inference && !thread_state.inference))
    throw AutogradError(message_of(
        op,
        ": Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
        "normal tensor before doing inplace update"));
  if (!thread_state.grad_enabled || (!others_require_grad && !self.requires_grad())) return;
  if (impl->differentiable_view) {
    if (impl->origin != ViewOrigin::ordinary) refuse_view(op, impl, /*indirect=*/false);
    if (self.requires_grad() && Tensor(impl->base).is_leaf())
      throw AutogradError(message_of(
          op, ": a view of a leaf Variable that requires grad is being used in an in-place operation (shape ",
          text_of(impl->sizes), ")"));
  }
  if (self.requires_grad() && self.is_leaf())
    throw AutogradError(
        message_of(op, ": a leaf Variable that requires grad is being used in an in-place operation (shape ",
                   text_of(impl->sizes), "); wrap the update in NoGradGuard, or work on a clone"));
}

void set_view(const Tensor& y, const Tensor& x, ViewOrigin origin) {
  TensorImpl* view = y.impl();
  TensorImpl* from = x.impl();
  if (CRESSET_UNLIKELY(thread_state.modes_below != 0)) modes::view_made(y, x);
  if (from->inference) {
    view->inference = true;
    return;
  }
  if (CRESSET_UNLIKELY(!is_differentiable(from->dtype))) origin = ViewOrigin::ordinary;
  if (thread_state.inference)
    origin = ViewOrigin::inference;
  else if (!thread_state.grad_enabled)
    origin = ViewOrigin::no_grad;
  if (from->differentiable_view) {
    view->base = from->base;
    if (origin == ViewOrigin::ordinary) origin = from->origin;
  } else {
    view->base = x.ref();
  }
  view->own_version = from->own_version;
  view->differentiable_view = true;
  view->origin = origin;
  view->view_version = view->version().load(std::memory_order_relaxed);
}

void refresh_view(const Tensor& view) {
  TensorImpl* impl = view.impl();
  if (!impl->base->requires_grad && !impl->node) return;
  uint32_t now = impl->version().load(std::memory_order_relaxed);
  std::atomic_ref<uint32_t> seen(impl->view_version);  // threads may share the view
  if (CRESSET_LIKELY(seen.load(std::memory_order_acquire) == now)) return;
  std::lock_guard lock(view_mutex());
  if (seen.load(std::memory_order_relaxed) == now) return;
  Tensor base(impl->base);
  if (!base.requires_grad()) return;
  if (impl->origin != ViewOrigin::ordinary) refuse_view("grad_fn", impl, /*indirect=*/true);
  AutoGradMode on(true);
  Tensor fresh = typed_like(base, impl->dtype).as_strided(impl->sizes, impl->strides, impl->offset);
  impl->node = fresh.impl()->node;
  impl->output_nr = fresh.impl()->output_nr;  // requires_grad() asks the base: other threads may be reading it
  seen.store(now, std::memory_order_release);
  move_retained(view);
}

void rebase_view(const Tensor& view, Ref<Node> node) {
  TensorImpl* impl = view.impl();
  Tensor base(impl->base);
  CRESSET_CHECK_AS(AutogradError, node->num_inputs() == 1, node->name(),
                   ": an op with several outputs cannot change a view in place");
  Ref<Node> copy = make_node<CopySlices>(base, view, std::move(node));
  base.impl()->node = std::move(copy);
  base.impl()->output_nr = 0;
  base.impl()->requires_grad = true;
  move_retained(base);
  impl->view_version = impl->version().load(std::memory_order_relaxed) - 1;  // behind: refresh makes its new node
  refresh_view(view);
}

}  // namespace cresset::autograd
