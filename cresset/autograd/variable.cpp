// A tensor's side of autograd: leaves, gradients, hooks, detaching, views and in-place changes.
#include "cresset/autograd/variable.h"

#include <algorithm>

#include "cresset/autograd/differentiable.h"
#include "cresset/autograd/engine.h"
#include "cresset/autograd/views.h"
#include "cresset/core/warning.h"

namespace cresset {
namespace autograd {
namespace {
// Of the rare writes to what several threads may share: retained gradients, hook lists.
std::mutex& rare_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}
template <class Signature>
SharedHook<Signature> shared(std::function<Signature> hook) {
  return std::make_shared<std::function<Signature>>(std::move(hook));
}
}  // namespace

constinit thread_local uint64_t Node::sequence_counter __attribute__((tls_model("initial-exec"))) = 0;

// Threads that share a leaf may all be the first to ask.
AutogradData* autograd_data_or_null(const Tensor& tensor) {
  std::atomic_ref<AutogradDataBase*> slot(tensor.impl()->autograd);
  return static_cast<AutogradData*>(slot.load(std::memory_order_acquire));
}

AutogradData& autograd_data(const Tensor& tensor) {
  if (AutogradData* data = autograd_data_or_null(tensor)) return *data;
  auto fresh = std::make_unique<AutogradData>();
  AutogradDataBase* expected = nullptr;
  std::atomic_ref<AutogradDataBase*> slot(tensor.impl()->autograd);
  if (slot.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
    return *fresh.release();
  return *static_cast<AutogradData*>(expected);
}

void GradKeeper::keep(const Tensor& gradient) {
  std::lock_guard lock(mutex_);
  if (!into_) return;
  if (into_->defined())
    *into_ = into_->add(gradient);
  else
    *into_ = gradient.clone();
}
void GradKeeper::forget() {
  std::lock_guard lock(mutex_);
  into_ = nullptr;
}

// ---- nodes' hooks
void NodeExtrasDeleter::operator()(NodeExtras* extras) const { delete extras; }
NodeExtras& Node::extras() {
  if (!extras_) extras_.reset(new NodeExtras);
  return *extras_;
}
bool Node::has_node_hooks() const { return extras_->has_node_hooks(); }

unsigned Node::add_tensor_hook(uint32_t output_nr, std::function<Tensor(const Tensor&)> hook) {
  std::lock_guard lock(rare_mutex());
  auto& e = extras();
  e.tensor_hooks.push_back({e.next_id, output_nr, shared(std::move(hook))});
  return e.next_id++;
}
bool Node::remove_tensor_hook(unsigned id) {
  std::lock_guard lock(rare_mutex());
  return extras_ && std::erase_if(extras_->tensor_hooks, [&](auto& h) { return h.id == id; }) > 0;
}
unsigned Node::add_pre_hook(std::function<variable_list(const variable_list&)> hook) {
  std::lock_guard lock(rare_mutex());
  auto& e = extras();
  e.pre_hooks.emplace_back(e.next_id, shared(std::move(hook)));
  return e.next_id++;
}
unsigned Node::add_post_hook(std::function<variable_list(const variable_list&, const variable_list&)> hook) {
  std::lock_guard lock(rare_mutex());
  auto& e = extras();
  e.post_hooks.emplace_back(e.next_id, shared(std::move(hook)));
  return e.next_id++;
}
bool Node::del_pre_hook(unsigned id) {
  std::lock_guard lock(rare_mutex());
  return extras_ && std::erase_if(extras_->pre_hooks, [&](auto& h) { return h.first == id; }) > 0;
}
bool Node::del_post_hook(unsigned id) {
  std::lock_guard lock(rare_mutex());
  return extras_ && std::erase_if(extras_->post_hooks, [&](auto& h) { return h.first == id; }) > 0;
}

void backward_second_time(const Node& node) {
  throw AutogradError(
      message_of(node.name(),
                 ": Trying to backward through the graph a second time (or directly access saved tensors after they "
                 "have already been freed). Saved intermediate values of the graph are freed when you call .backward() "
                 "or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
                 "time or if you need to access saved tensors after calling backward."));
}
void out_form_with_grad(const char* name) {
  throw AutogradError(
      message_of(name,
                 ": functions with out=... arguments don't support automatic differentiation, but one of the "
                 "arguments requires grad"));
}

// ---- edges and accumulation
Edge gradient_edge(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (CRESSET_LIKELY(!impl->differentiable_view && impl->node))
    return {Ref<Node>::share(static_cast<Node*>(impl->node.get())), impl->output_nr};
  if (auto node = tensor.grad_fn()) return {std::move(node), impl->output_nr};
  if (!impl->requires_grad || impl->inference) return {};
  return {grad_accumulator(tensor), 0};
}

Ref<Node> grad_accumulator(const Tensor& leaf) {
  if (!leaf.impl()->requires_grad || leaf.impl()->node) return {};
  AutogradData& data = autograd_data(leaf);
  std::lock_guard lock(data.mutex);
  if (data.accumulator) return Ref<Node>::share(data.accumulator);
  auto node = make_node<AccumulateGrad>(leaf);
  data.accumulator = node.get();
  return node;
}

AccumulateGrad::AccumulateGrad(Tensor leaf) : Node("AccumulateGrad", nullptr, 0, 1), leaf_(std::move(leaf)) {
  sequence_ = UINT64_MAX;  // gradients of leaves are ready as soon as they can be: DDP's overlap lives on it
}

void AccumulateGrad::deallocate_self() {
  Tensor leaf = leaf_;
  {
    AutogradData& data = autograd_data(leaf);
    std::lock_guard lock(data.mutex);
    uint32_t count = references.load();
    while (count != 1)  // found again by grad_accumulator meanwhile
      if (references.compare_exchange_weak(count, count - 1)) return;
    data.accumulator = nullptr;
  }
  this->~AccumulateGrad();
  deallocate(this, sizeof(AccumulateGrad));
}

bool is_stealable(const Tensor& gradient) {
  TensorImpl* impl = gradient.impl();
  return gradient.use_count() == 1 && impl->storage.unique() && !impl->differentiable_view && !impl->node &&
         !impl->wrapped_number && !impl->inference && !impl->storage->deleter &&
         gradient.is_non_overlapping_and_dense() &&
         static_cast<int64_t>(impl->storage->bytes) <=
             std::max<int64_t>(64, static_cast<int64_t>(gradient.nbytes()) * 2);
}

void AccumulateGrad::accumulate(AutogradData& data, Tensor gradient) {
  CRESSET_CHECK_AS(AutogradError, gradient.sizes() == leaf_.sizes(), "AccumulateGrad: a gradient of shape ",
                   text_of(gradient.sizes()), " reached a leaf of shape ", text_of(leaf_.sizes()));
  if (data.destination.defined()) {
    CRESSET_CHECK_AS(AutogradError, !thread_state.grad_enabled || !gradient.requires_grad(),
                     "AccumulateGrad: create_graph would lose the gradient's own graph, since gradients of this leaf "
                     "are written into a given destination; use autograd::grad");
    if (!data.grad.defined()) {
      AutoGradMode off(false);
      data.destination.copy_(gradient);
      data.grad = data.destination;
    } else {
      AutoGradMode off(false);
      data.grad.add_(gradient);
    }
    return;
  }
  if (!data.grad.defined()) {
    bool keep_graph = thread_state.grad_enabled && gradient.requires_grad();
    if (keep_graph)
      data.grad = gradient.clone();
    else if (is_stealable(gradient) && gradient.strides() == leaf_.strides())
      data.grad = std::move(gradient);
    else {
      AutoGradMode off(false);
      Tensor fresh = leaf_.is_non_overlapping_and_dense()
                         ? empty_strided(leaf_.sizes(), leaf_.strides(), gradient.options())
                         : empty_contiguous(leaf_.sizes(), gradient.dtype(), gradient.device());
      fresh.copy_(gradient);
      data.grad = std::move(fresh);
    }
    return;
  }
  if (thread_state.grad_enabled)
    data.grad = data.grad.add(gradient);  // create_graph: never in place under somebody's feet
  else
    data.grad.add_(gradient);
}

void AccumulateGrad::call_leaf_hooks(Tensor& gradient) {
  if (!gradient.defined()) return;
  AutogradData& data = autograd_data(leaf_);
  if (CRESSET_LIKELY(data.hooks.empty())) return;
  auto hooks = data.hooks;
  for (auto& hook : hooks) call_hook("AccumulateGrad", *hook.call, gradient);
}

Grads AccumulateGrad::apply(Tensor* gradients, size_t) {
  Tensor gradient = std::move(gradients[0]);
  if (!gradient.defined()) return {};
  AutogradData& data = autograd_data(leaf_);
  if (gradient.dtype() != leaf_.dtype()) gradient = gradient.to(leaf_.dtype());
  {
    std::lock_guard lock(data.mutex);
    accumulate(data, std::move(gradient));
  }
  if (CRESSET_LIKELY(data.post_accumulate_hooks.empty())) return {};
  auto hooks = data.post_accumulate_hooks;
  for (auto& [id, hook] : hooks) (*hook)(leaf_);
  return {};
}

void set_grad_destination(const Tensor& leaf, const Tensor& destination) {
  CRESSET_CHECK_AS(AutogradError, leaf.requires_grad() && leaf.is_leaf(),
                   "set_grad_destination: wants a leaf that requires grad");
  CRESSET_CHECK_AS(ShapeError, !destination.defined() || destination.sizes() == leaf.sizes(),
                   "set_grad_destination: found shape ", text_of(destination.sizes()), " (expected the leaf's, ",
                   text_of(leaf.sizes()), ")");
  CRESSET_CHECK_AS(TypeError, !destination.defined() || destination.dtype() == leaf.dtype(),
                   "set_grad_destination: found dtype ", name_of(destination.dtype()), " (expected the leaf's, ",
                   name_of(leaf.dtype()), ")");
  CRESSET_CHECK_AS(DeviceError, !destination.defined() || destination.device() == leaf.device(),
                   "set_grad_destination: found device ", destination.device().str(), " (expected the leaf's, ",
                   leaf.device().str(), ")");
  AutogradData& data = autograd_data(leaf);
  std::lock_guard lock(data.mutex);
  data.destination = destination;
}

// ---- history
namespace {
void attach(const Tensor& y, Ref<Node> node, uint32_t output_nr) {
  TensorImpl* impl = y.impl();
  impl->node = std::move(node);
  impl->output_nr = output_nr;
  impl->requires_grad = true;
}

}  // namespace

void move_retained(const Tensor& y) {
  AutogradData* data = autograd_data_or_null(y);
  if (!data || !data->keeper) return;
  data->keeper->forget();
  data->keeper.reset();
  y.retain_grad();
}

void set_history(const Into& into, const Tensor& y, Ref<Node> node, uint32_t output_nr) {
  if (CRESSET_LIKELY(into.fresh())) {
    attach(y, std::move(node), output_nr);
    return;
  }
  if (y.impl()->differentiable_view) {
    rebase_view(y, std::move(node));
  } else {
    attach(y, std::move(node), output_nr);
  }
  move_retained(y);
}

}  // namespace autograd

using namespace autograd;

// ---- Tensor's methods
const Tensor& Tensor::requires_grad_(bool on) const {
  if (on) {
    CRESSET_CHECK_AS(AutogradError, is_differentiable(dtype()),
                     "requires_grad_: Only Tensors of floating point and complex dtype can require gradients, found ",
                     name_of(dtype()));
    CRESSET_CHECK_AS(
        AutogradError, !is_inference() || thread_state.inference,
        "requires_grad_: Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  } else {
    CRESSET_CHECK_AS(
        AutogradError, is_leaf() || !requires_grad(),
        "requires_grad_: you can only change requires_grad flags of leaf variables. If you want to use a "
        "computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()");
  }
  impl_->requires_grad = on || impl_->node;
  return *this;
}

Ref<Node> Tensor::grad_fn() const {
  TensorImpl* impl = known();
  if (impl->differentiable_view) refresh_view(*this);
  return impl->node ? Ref<Node>::share(static_cast<Node*>(impl->node.get())) : Ref<Node>();
}

bool Tensor::is_leaf() const {
  if (!requires_grad()) return true;
  if (impl_->node) return false;
  // Asking a view for its node may be refused; being asked what it is may not.
  return !impl_->differentiable_view || impl_->origin != ViewOrigin::ordinary || !grad_fn();
}

const Tensor& Tensor::grad() const {
  static const Tensor* undefined = new Tensor;
  known();
  AutogradData* data = autograd_data_or_null(*this);
  if (CRESSET_LIKELY(data && data->grad.defined())) return data->grad;
  if (!is_leaf() && !(data && data->keeper))
    CRESSET_WARN_ONCE_UNLESS_HANDLED(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead.");
  return data ? data->grad : *undefined;
}
Tensor& Tensor::mutable_grad() const {
  known();
  return autograd_data(*this).grad;
}

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  CRESSET_CHECK_AS(AutogradError, !inputs || !inputs->empty(),
                   "backward: 'inputs' argument to backward cannot be empty (leave it out for all leaves)");
  autograd::backward({*this}, gradient.defined() ? variable_list{gradient} : variable_list{}, retain_graph,
                     create_graph, inputs ? inputs->vec() : variable_list{});
}

Tensor Tensor::detach() const {
  known();
  Tensor y = cresset::alias(*this);
  y.impl()->own_version = impl_->own_version;
  return y;
}

Tensor& Tensor::detach_() {
  CRESSET_CHECK_AS(AutogradError, !known()->differentiable_view,
                   "detach_: Can't detach views in-place. Use detach() instead.");
  if (AutogradData* data = autograd_data_or_null(*this); data && data->keeper) {
    data->keeper->forget();
    data->keeper.reset();
  }
  impl_->node.reset();
  impl_->output_nr = 0;
  impl_->requires_grad = false;
  return *this;
}

Tensor Tensor::variable_data() const {
  known();
  Tensor y = cresset::alias(*this);
  y.impl()->own_version = Ref<VersionCounter>::adopt(new VersionCounter);
  return y;
}

void Tensor::set_data(const Tensor& other) const {
  TensorImpl* impl = known();
  TensorImpl* from = other.known();
  CRESSET_CHECK_AS(TypeError, !impl->requires_grad || is_differentiable(from->dtype),
                   "set_data: data of a tensor that requires grad wants a floating point or complex dtype, found ",
                   name_of(from->dtype));
  auto version = Ref<VersionCounter>::adopt(new VersionCounter);
  version->value = impl->version().load();  // the data is other, the count of in-place changes goes on
  impl->storage = from->storage;
  impl->own_version = std::move(version);
  impl->dtype = from->dtype;
  impl->device = from->device;
  impl->offset = from->offset;
  impl->set_geometry(from->sizes, from->strides);
}

Tensor& Tensor::set_(const Tensor& source) const {
  CRESSET_CHECK_AS(TypeError, dtype() == source.dtype(), "set_: found a source of dtype ", name_of(source.dtype()),
                   " (expected self's, ", name_of(dtype()), ")");
  CRESSET_CHECK_AS(DeviceError, device() == source.device(), "set_: found a source on ", source.device().str(),
                   " (expected self's device, ", device().str(), ")");
  CRESSET_CHECK_AS(AutogradError, !requires_grad() && !source.requires_grad(),
                   "set_: found a tensor that requires grad (expected tensors without history)");
  set_data(source);
  impl()->version().fetch_add(1, std::memory_order_relaxed);
  return const_cast<Tensor&>(*this);
}

void Tensor::retain_grad() const {
  CRESSET_CHECK_AS(AutogradError, requires_grad(),
                   "retain_grad: can't retain_grad on Tensor that has requires_grad=False");
  Ref<Node> node = grad_fn();
  AutogradData& data = autograd_data(*this);
  if (!node || data.keeper) return;  // a leaf keeps its gradient anyway
  data.keeper = std::make_shared<GradKeeper>(&data.grad);
  std::lock_guard lock(rare_mutex());
  node->extras().retained.emplace_back(impl_->output_nr, data.keeper);
}
bool Tensor::retains_grad() const {
  known();
  AutogradData* data = autograd_data_or_null(*this);
  return data && data->keeper;
}

uint32_t Tensor::_version() const {
  CRESSET_CHECK_AS(AutogradError, !known()->inference, "_version: Inference tensors do not track version counter.");
  return impl_->version().load();
}
Tensor Tensor::_base() const {
  CRESSET_CHECK_AS(AutogradError, is_view(), "_base: Can't get base of non-view Tensor");
  return Tensor(impl_->base);
}
const std::string& Tensor::name() const {
  known();
  return autograd_data(*this).name;
}

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook) const {
  CRESSET_CHECK_AS(AutogradError, hook, "register_hook: found an empty function (expected a callable)");
  CRESSET_CHECK_AS(AutogradError, requires_grad(),
                   "register_hook: cannot register a hook on a variable that doesn't require gradient");
  if (auto node = grad_fn()) return node->add_tensor_hook(impl_->output_nr, std::move(hook));
  AutogradData& data = autograd_data(*this);
  std::lock_guard lock(rare_mutex());
  data.hooks.push_back({data.next_id, 0, shared(std::move(hook))});
  return data.next_id++;
}
void Tensor::remove_hook(unsigned position) const {
  if (auto node = grad_fn()) {
    CRESSET_CHECK_AS(AutogradError, node->remove_tensor_hook(position),
                     "remove_hook: Invalid index, no hook at position ", position);
    return;
  }
  AutogradData& data = autograd_data(*this);
  std::lock_guard lock(rare_mutex());
  size_t gone = std::erase_if(data.hooks, [&](auto& h) { return h.id == position; }) +
                std::erase_if(data.post_accumulate_hooks, [&](auto& h) { return h.first == position; });
  CRESSET_CHECK_AS(AutogradError, gone, "remove_hook: Invalid index, no hook at position ", position);
}
unsigned Tensor::register_post_accumulate_grad_hook(std::function<void(const Tensor&)> hook) const {
  CRESSET_CHECK_AS(AutogradError, hook,
                   "register_post_accumulate_grad_hook: found an empty function (expected a callable)");
  CRESSET_CHECK_AS(
      AutogradError, requires_grad() && is_leaf(),
      "register_post_accumulate_grad_hook: post accumulate grad hooks cannot be registered on non-leaf tensors or "
      "on ones that do not require grad");
  AutogradData& data = autograd_data(*this);
  std::lock_guard lock(rare_mutex());
  data.post_accumulate_hooks.emplace_back(data.next_id, shared(std::move(hook)));
  return data.next_id++;
}

}  // namespace cresset
