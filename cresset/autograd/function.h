// A user's own differentiable function, with libtorch's API:
//
//   struct Square : autograd::Function<Square> {
//     static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x;
//     }
//     static variable_list backward(AutogradContext* ctx, variable_list grads) {
//       return {grads[0] * ctx->get_saved_variables()[0] * 2};
//     }
//   };
//   Tensor y = Square::apply(x);
//
// forward runs with gradients off. backward returns one gradient for each argument of forward, and for each tensor of
// an argument that is a list of them (undefined for what is no tensor); it is written with ops, so that it can be
// differentiated again.
#pragma once

#include <mutex>
#include <optional>
#include <typeinfo>
#include <unordered_map>

#include "cresset/autograd/node.h"
#include "cresset/autograd/saved.h"
#include "cresset/core/ivalue.h"

namespace cresset::autograd {

using Variable = Tensor;
using tensor_list = std::vector<Tensor>;
using IndexRange = std::pair<size_t, size_t>;  // first and one behind the last

class FunctionNode;

// What forward leaves for backward.
class CRESSET_API AutogradContext {
 public:
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;

  std::unordered_map<std::string, IValue> saved_data;

  // Inputs and outputs of the function; other tensors may be saved, too, but get no gradient of their own.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  variable_list get_saved_variables() const;
  // Inputs that forward changed in place; each must be among its results.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  // Results that get no gradient.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  // Whether backward sees zeros (the default) or undefined tensors for results that nobody used.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  // Whether the gradient of the i-th tensor among forward's arguments is wanted. To be asked in backward.
  bool needs_input_grad(size_t tensor_index) const;
  // Whether any in these ranges is.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class FunctionNode;
  FunctionNode* node_ = nullptr;
  variable_list to_save_, dirty_, non_differentiable_;
  std::vector<Saved> saved_;
  bool materialize_grads_ = true;
  bool released_ = false;
};

// The node of a user's function: everything that does not depend on its type.
class CRESSET_API FunctionNode : public Node {
 public:
  using Backward = variable_list (*)(AutogradContext* context, variable_list gradients);

  FunctionNode(const std::type_info& type, Backward backward);
  void deallocate_self() override;
  Grads apply(Tensor* gradients, size_t count) override;
  void release_variables() override;
  std::string name() const override;

  AutogradContext context;

  // Before forward: an argument that is a tensor, or one that is not; then the edges, since forward may change inputs.
  void add_argument(const Tensor* tensor);
  void link();
  // After forward: gives the results their place in the graph. Without a graph the node is thrown away.
  void wrap_outputs(variable_list& outputs);

 private:
  // What a gradient must look like.
  struct Form {
    Dims sizes;
    DType dtype = kFloat;
    Device device;
    explicit Form(const Tensor& t) {
      if (t.defined()) sizes = t.sizes(), dtype = t.dtype(), device = t.device();
    }
    TensorOptions options() const { return TensorOptions(dtype).device(device); }
  };
  void wrap(Tensor& output, uint32_t output_nr, size_t outputs);
  void save(const variable_list& outputs);
  Tensor fitted(Tensor gradient, size_t argument, size_t input) const;

  const std::type_info& type_;
  Backward backward_;
  bool recorded_ = false;
  std::vector<Edge> edges_of_;
  variable_list arguments_;                 // until forward has run
  std::vector<int32_t> input_of_argument_;  // -1: not a tensor
  std::vector<Form> inputs_, outputs_;
  std::recursive_mutex mutex_;  // backward is the user's code: one thread at a time
};

template <class T>
struct Function {
  // Calls T::forward(context, args...) and records it. Arguments that are Tensor or optional<Tensor> are inputs, and so
  // is each tensor of a list.
  template <class X = T, class... Args>
  static auto apply(Args&&... args) -> std::decay_t<decltype(X::forward(nullptr, std::declval<Args>()...))> {
    using Result = std::decay_t<decltype(X::forward(nullptr, std::declval<Args>()...))>;
    static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, variable_list>,
                  "forward of an autograd::Function returns a Tensor or a list of tensors");
    Ref<FunctionNode> node = make_node<FunctionNode>(typeid(X), &X::backward);
    (add_argument(*node, args), ...);
    node->link();
    variable_list outputs;
    {
      NoGradGuard no_grad;
      if constexpr (std::is_same_v<Result, Tensor>)
        outputs.push_back(X::forward(&node->context, std::forward<Args>(args)...));
      else
        outputs = X::forward(&node->context, std::forward<Args>(args)...);
    }
    node->wrap_outputs(outputs);
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(outputs[0]);
    else
      return outputs;
  }

 private:
  template <class A>
  static void add_argument(FunctionNode& node, const A& argument) {
    if constexpr (std::is_convertible_v<const A&, const Tensor&>)
      node.add_argument(&static_cast<const Tensor&>(argument));
    else if constexpr (std::is_same_v<A, std::optional<Tensor>>)
      node.add_argument(argument && argument->defined() ? &*argument : nullptr);
    else if constexpr (std::is_convertible_v<const A&, TensorList>)
      for (const Tensor& tensor : TensorList(argument)) node.add_argument(&tensor);
    else
      node.add_argument(nullptr);
  }
};

}  // namespace cresset::autograd
