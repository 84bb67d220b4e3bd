// Recording a user's function: which results get which history, and what its backward may return.
#include "cresset/autograd/function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "cresset/autograd/differentiable.h"
#include "cresset/autograd/views.h"

namespace cresset::autograd {

// ---- AutogradContext
variable_list AutogradContext::get_saved_variables() const {
  if (!node_) return {};
  if (released_) backward_second_time(*node_);
  variable_list values;
  for (const Saved& saved : saved_) values.push_back(saved.unpack(*node_));
  return values;
}
bool AutogradContext::needs_input_grad(size_t tensor_index) const {
  CRESSET_CHECK_AS(IndexError, node_ && tensor_index < node_->num_outputs(), "needs_input_grad: tensor input ",
                   tensor_index, " is out of range (expected less than ", node_ ? node_->num_outputs() : 0, ")");
  return node_->wants(tensor_index);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> ranges) const {
  for (const auto& [first, end] : ranges)
    for (size_t i = first; i < end; i++)
      if (needs_input_grad(i)) return true;
  return false;
}

// ---- FunctionNode
namespace {
bool contains(const variable_list& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return t.is_same(tensor); });
}
}  // namespace

FunctionNode::FunctionNode(const std::type_info& type, Backward backward)
    : Node("CppNode", nullptr, 0, 0), type_(type), backward_(backward) {
  runs_without_gradients = true;
  context.node_ = this;
}

void FunctionNode::deallocate_self() {
  this->~FunctionNode();
  deallocate(this, sizeof(FunctionNode));
}

std::string FunctionNode::name() const {
  int status = 0;
  char* plain = abi::__cxa_demangle(type_.name(), nullptr, nullptr, &status);
  std::string name = message_of("CppNode<", plain ? plain : type_.name(), ">");
  std::free(plain);
  return name;
}

void FunctionNode::add_argument(const Tensor* tensor) {
  input_of_argument_.push_back(tensor ? static_cast<int32_t>(arguments_.size()) : -1);
  if (tensor) arguments_.push_back(*tensor);
}

void FunctionNode::link() {
  recorded_ = any_requires_grad(InputList{arguments_});
  for (const Tensor& input : arguments_) {
    inputs_.emplace_back(input);
    edges_of_.push_back(recorded_ && input.defined() && input.requires_grad() ? gradient_edge(input) : Edge{});
  }
  edges_ = edges_of_.data();
  num_edges_ = static_cast<uint32_t>(edges_of_.size());
}

void FunctionNode::wrap_outputs(variable_list& outputs) {
  num_results_ = static_cast<uint32_t>(outputs.size());
  for (const Tensor& dirty : context.dirty_) {
    CRESSET_CHECK_AS(AutogradError, contains(outputs, dirty), name(),
                     ": Some elements marked as dirty during the forward method were not returned as output. The "
                     "inputs that are modified inplace must all be outputs of the Function.");
    bump_version(dirty);
  }
  for (size_t i = 0; i < outputs.size(); i++) {
    CRESSET_CHECK_AS(AutogradError, outputs[i].defined(), name(), ": forward returned an undefined tensor as output ",
                     i);
    outputs_.emplace_back(outputs[i]);
  }
  variable_list returned = outputs;
  size_t differentiable = 0;
  for (size_t i = 0; i < outputs.size(); i++) {
    wrap(outputs[i], static_cast<uint32_t>(i), outputs.size());
    differentiable += outputs[i].requires_grad();
  }
  if (differentiable > 1)
    for (const Tensor& output : outputs)
      if (output.is_view() && !contains(context.dirty_, output)) output.impl()->origin = ViewOrigin::multi_view;
  if (recorded_) save(returned);
  context.to_save_.clear();
  context.dirty_.clear();
  context.non_differentiable_.clear();
  arguments_.clear();
}

void FunctionNode::wrap(Tensor& output, uint32_t output_nr, size_t outputs) {
  bool is_input = contains(arguments_, output), dirty = contains(context.dirty_, output);
  bool differentiable =
      recorded_ && !contains(context.non_differentiable_, output) && is_differentiable(output.dtype());
  if (!differentiable) {
    if (!output.requires_grad()) return;
    if (is_input)  // a detached alias: the input itself keeps its gradient
      output = output.detach();
    else if (!output.is_view())
      output.detach_();
  } else if (dirty) {
    CRESSET_CHECK_AS(AutogradError, is_input, name(),
                     ": Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is "
                     "no need to pass it to mark_dirty().");
    CRESSET_CHECK_AS(AutogradError, !output.is_view() || outputs == 1, name(),
                     ": If your Function modifies inplace an input that is a view of another Tensor, your Function "
                     "cannot return more than one Tensor. This is not supported by the current autograd engine. You "
                     "should either make sure the input is not a view (using .clone() for example) or make your "
                     "Function only return one Tensor");
    check_inplace("mark_dirty", output, /*others_require_grad=*/true);
    set_history(in_place(output), output, Ref<Node>::share(this), output_nr);
    return;
  } else {
    if (is_input) {  // returned as it is: a view of it, on which this node can stand
      NoGradGuard no_grad;
      output = output.view(output.sizes());
    }
    output.impl()->node = Ref<Node>::share(this);
    output.impl()->output_nr = output_nr;
    output.impl()->requires_grad = true;
  }
  if (output.is_view()) output.impl()->origin = ViewOrigin::custom_function;
}

// A result is kept without its node, or the two would own each other.
void FunctionNode::save(const variable_list& outputs) {
  for (const Tensor& tensor : context.to_save_) {
    auto at = std::find_if(outputs.begin(), outputs.end(), [&](const Tensor& y) { return y.is_same(tensor); });
    bool is_output = tensor.defined() && at != outputs.end() &&
                     (!contains(arguments_, tensor) || contains(context.dirty_, tensor)) &&
                     !contains(context.non_differentiable_, tensor);
    Saved& saved = context.saved_.emplace_back();
    if (is_output)
      saved.keep_output(tensor, static_cast<uint32_t>(at - outputs.begin()));
    else
      saved.keep(tensor);
  }
}

Grads FunctionNode::apply(Tensor* gradients, size_t count) {
  std::lock_guard lock(mutex_);
  variable_list incoming;
  for (size_t i = 0; i < count; i++) {
    if (!gradients[i].defined() && context.materialize_grads_)
      incoming.push_back(empty_contiguous(outputs_[i].sizes, outputs_[i].dtype, outputs_[i].device).zero_());
    else
      incoming.push_back(std::move(gradients[i]));
  }
  variable_list results = backward_(&context, std::move(incoming));
  size_t wanted = input_of_argument_.size();
  while (results.size() > wanted && !results.back().defined()) results.pop_back();  // too many, but empty
  CRESSET_CHECK_AS(AutogradError, results.size() == wanted, "function ", name(),
                   " returned an incorrect number of gradients (expected ", wanted, ", got ", results.size(), ")");
  Grads grads(num_edges_);
  for (size_t i = 0; i < wanted; i++) {
    int32_t input = input_of_argument_[i];
    CRESSET_CHECK_AS(AutogradError, input >= 0 || !results[i].defined(), "function ", name(),
                     " returned a gradient different that is defined at position ", i + 1,
                     ", but the corresponding forward input was not a Variable");
    if (input >= 0 && results[i].defined() && wants(static_cast<size_t>(input)))
      grads[static_cast<size_t>(input)] = fitted(std::move(results[i]), i, static_cast<size_t>(input));
  }
  return grads;
}

// Gradients of what was broadcast are summed; dtype and device follow the input.
Tensor FunctionNode::fitted(Tensor gradient, size_t argument, size_t input) const {
  const Form& form = inputs_[input];
  IntArrayRef wanted = form.sizes, found = gradient.sizes();
  if (!(found == wanted)) {
    int lead = static_cast<int>(found.size()) - static_cast<int>(wanted.size());
    bool fits = lead >= 0;
    Dims summed;
    for (int i = 0; fits && i < static_cast<int>(found.size()); i++) {
      int64_t size = i < lead ? 1 : form.sizes[i - lead], given = gradient.size(i);
      fits = size == given || size == 1;
      if (i < lead || size != given) summed.push_back(i);
    }
    CRESSET_CHECK_AS(AutogradError, fits, "Function ", name(), " returned an invalid gradient at index ", argument,
                     " - got ", text_of(found), " but expected shape compatible with ", text_of(wanted));
    gradient = gradient.sum(summed, /*keepdim=*/true);
    if (lead > 0) gradient = gradient.reshape(wanted);
  }
  CRESSET_CHECK_AS(AutogradError, is_complex(form.dtype) || !gradient.is_complex(), "Function ", name(),
                   " returned an invalid gradient at index ", argument, " - expected a real dtype, ",
                   name_of(form.dtype), ", but got ", name_of(gradient.dtype()));
  CRESSET_CHECK_AS(AutogradError, gradient.device() == form.device, "Function ", name(),
                   " returned an invalid gradient at index ", argument, " - expected device ", form.device.str(),
                   " but got ", gradient.device().str());
  return gradient.dtype() == form.dtype ? gradient : gradient.to(form.dtype);
}

void FunctionNode::release_variables() {
  std::lock_guard lock(mutex_);
  context.saved_.clear();
  context.released_ = true;
}

}  // namespace cresset::autograd
