// Calling a module whose type is not known, with its hooks around it.
#include <cxxabi.h>

#include <cstdlib>
#include <tuple>

#include "cresset/autograd/function.h"
#include "cresset/nn/module_hooks.h"
#include "cresset/ops/all.h"

namespace cresset::nn {

namespace detail {

std::string demangled(const std::type_info& type) {
  if (type == typeid(Tensor)) return "Tensor";
  int status = 0;
  char* plain = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = plain ? plain : type.name();
  std::free(plain);
  return name;
}
void wrong_any_type(const std::type_info& wanted, const std::type_info& found) {
  throw TypeError(message_of("Attempted to cast AnyValue to ", demangled(wanted), ", but its actual type is ",
                             found == typeid(void) ? "nothing (it is empty)" : demangled(found)));
}
std::shared_ptr<Module> held(Module* module) { return std::shared_ptr<Module>(module); }
void empty_holder(const std::type_info& contained) {
  throw ValueError(message_of("Accessing empty ModuleHolder: found no ", demangled(contained),
                              " in it (give it one before it is used)"));
}
void wrong_argument(const Module& module, size_t index, const std::type_info& wanted, const std::type_info& found) {
  throw TypeError(message_of(short_name(module), "'s forward(): Expected argument #", index, " to be of type ",
                             demangled(wanted), ", but received value of type ", demangled(found)));
}
void wrong_result(const Module& module, const std::type_info& wanted, const std::type_info& found) {
  throw TypeError(message_of(short_name(module), "'s forward(): The type of the return value is ", demangled(found),
                             ", but you asked for type ", demangled(wanted)));
}
void hooks_need_one_forward(const Module& module) {
  throw NotImplementedError(
      message_of(short_name(module),
                 ": has hooks, but its forward is overloaded or a template, so that they cannot be run "
                 "(expected one forward, or a member `AnyValue any_forward(AnyValues& arguments)`)"));
}

void complete_arguments(Module& module, AnyValues& arguments, size_t wanted) {
  if (arguments.size() < wanted && module._forward_has_default_args() &&
      arguments.size() >= module._forward_num_required_args())
    arguments = module._forward_populate_default_args(std::move(arguments));
  if (CRESSET_LIKELY(arguments.size() == wanted)) return;
  std::string name = short_name(module);
  if (module._forward_has_default_args())
    throw TypeError(message_of(name, "'s forward() method expects at least ", module._forward_num_required_args(),
                               " argument(s) and at most ", wanted, " argument(s), but received ", arguments.size(),
                               "."));
  throw TypeError(message_of(name, "'s forward() method expects ", wanted, " argument(s), but received ",
                             arguments.size(), ". If ", name,
                             "'s forward() method has default arguments, please make sure the forward() method is "
                             "declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."));
}

[[noreturn]] static void no_default_arguments(const Module& module, const char* method) {
  throw NotImplementedError(message_of(
      short_name(module), ": torch::nn::Module subclass that has default arguments in `forward` method must override `",
      method, "` method. Please use `FORWARD_HAS_DEFAULT_ARGS` macro to do so."));
}

void learn_call(Module& module, CallFunction function) {
  if (!module.call_) module.call_ = function;
}

}  // namespace detail

unsigned int Module::_forward_num_required_args() { detail::no_default_arguments(*this, "_forward_num_required_args"); }
std::vector<AnyValue> Module::_forward_populate_default_args(std::vector<AnyValue>&&) {
  detail::no_default_arguments(*this, "_forward_populate_default_args");
}

// ---- hooks
void ModuleHooks::remove(unsigned id) {
  auto take = [id](auto& list) { std::erase_if(list, [id](const auto& entry) { return entry.first == id; }); };
  take(before_forward);
  take(after_forward);
  take(before_backward);
  take(after_backward);
  if (owner) owner->hooked_ = any();
}
void RemovableHandle::remove() {
  if (auto hooks = hooks_.lock()) hooks->remove(id_);
}
ModuleHooks& Module::hooks() {
  if (!hooks_) {
    hooks_ = std::make_shared<ModuleHooks>();
    hooks_->owner = this;
  }
  hooked_ = true;
  return *hooks_;
}

namespace {
template <class List, class Hook>
unsigned append(ModuleHooks& hooks, List ModuleHooks::*list, Hook hook) {
  CRESSET_CHECK_AS(ValueError, hook, "register hook: found an empty function");
  (hooks.*list).emplace_back(hooks.next_id, std::make_shared<Hook>(std::move(hook)));
  return hooks.next_id++;
}
}  // namespace

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  unsigned id = append(hooks(), &ModuleHooks::before_forward, std::move(hook));
  return {hooks_, id};
}
RemovableHandle Module::register_forward_hook(ForwardHook hook) {
  unsigned id = append(hooks(), &ModuleHooks::after_forward, std::move(hook));
  return {hooks_, id};
}
RemovableHandle Module::register_full_backward_hook(BackwardHook hook) {
  unsigned id = append(hooks(), &ModuleHooks::after_backward, std::move(hook));
  return {hooks_, id};
}
RemovableHandle Module::register_full_backward_pre_hook(BackwardPreHook hook) {
  unsigned id = append(hooks(), &ModuleHooks::before_backward, std::move(hook));
  return {hooks_, id};
}

namespace {

using Tensors = std::vector<Tensor>;

// The tensors inside a value of one of the types that forwards take and return.
void collect(AnyValue& value, std::vector<Tensor*>& into) {
  auto add = [&](Tensor& tensor) {
    if (tensor.defined()) into.push_back(&tensor);
  };
  if (auto* one = value.try_get<Tensor>()) return add(*one);
  if (auto* list = value.try_get<Tensors>()) {
    for (Tensor& tensor : *list) add(tensor);
  } else if (auto* maybe = value.try_get<std::optional<Tensor>>()) {
    if (*maybe) add(**maybe);
  } else if (auto* two = value.try_get<std::tuple<Tensor, Tensor>>()) {
    add(std::get<0>(*two));
    add(std::get<1>(*two));
  } else if (auto* three = value.try_get<std::tuple<Tensor, Tensor, Tensor>>()) {
    add(std::get<0>(*three));
    add(std::get<1>(*three));
    add(std::get<2>(*three));
  } else if (auto* state = value.try_get<std::tuple<Tensor, std::tuple<Tensor, Tensor>>>()) {
    add(std::get<0>(*state));
    add(std::get<0>(std::get<1>(*state)));
    add(std::get<1>(std::get<1>(*state)));
  }
}

// A node that hands gradients through: the place where backward hooks stand.
struct ModuleBoundary {
  static Tensors backward(autograd::AutogradContext*, Tensors gradients) { return gradients; }
};

// Puts one boundary behind all the tensors; null when none wants a gradient.
Ref<autograd::FunctionNode> pass_boundary(const std::vector<Tensor*>& tensors) {
  auto node = autograd::make_node<autograd::FunctionNode>(typeid(ModuleBoundary), &ModuleBoundary::backward);
  node->context.set_materialize_grads(false);
  Tensors outputs;
  bool wanted = false;
  for (Tensor* tensor : tensors) {
    node->add_argument(tensor);
    outputs.push_back(*tensor);
    wanted = wanted || (thread_state.grad_enabled && tensor->requires_grad());
  }
  if (!wanted) return {};
  node->link();
  node->wrap_outputs(outputs);
  for (size_t i = 0; i < tensors.size(); i++)
    if (tensors[i]->requires_grad()) *tensors[i] = outputs[i];
  return node;
}

// One call's backward hooks: the output's boundary notes grad_output, the input's calls the hooks.
struct BackwardCall {
  std::shared_ptr<Module> keeper;  // empty for a module that is not held by a shared_ptr
  Module* module;
  ModuleHooks::List<BackwardPreHook> before;
  ModuleHooks::List<BackwardHook> after;
  Tensors grad_output;

  Tensors run_after(Tensors grad_input) {
    for (auto& [id, hook] : after) {
      Tensors changed = (*hook)(*module, grad_input, grad_output);
      if (changed.empty()) continue;
      CRESSET_CHECK_AS(ValueError, grad_input.empty() || changed.size() == grad_input.size(), short_name(*module),
                       ": a backward hook returned ", changed.size(), " gradients (expected ", grad_input.size(), ")");
      if (!grad_input.empty()) grad_input = std::move(changed);
    }
    return grad_input;
  }
  Tensors run_before(Tensors gradients) {
    for (auto& [id, hook] : before) {
      Tensors changed = (*hook)(*module, gradients);
      if (changed.empty()) continue;
      CRESSET_CHECK_AS(ValueError, changed.size() == gradients.size(), short_name(*module),
                       ": a backward pre-hook returned ", changed.size(), " gradients (expected ", gradients.size(),
                       ")");
      gradients = std::move(changed);
    }
    return gradients;
  }
};

}  // namespace

namespace detail {

AnyValue call_with_hooks(Module& module, CallFunction function, AnyValues arguments) {
  std::shared_ptr<ModuleHooks> hooks = module.hooks_;
  if (!hooks || !hooks->any()) return function(module, arguments);
  for (auto& [id, hook] : ModuleHooks::List<ForwardPreHook>(hooks->before_forward)) (*hook)(module, arguments);

  std::shared_ptr<BackwardCall> backward;
  bool has_inputs = false;
  size_t input_count = 0;
  if (thread_state.grad_enabled && !(hooks->before_backward.empty() && hooks->after_backward.empty())) {
    backward = std::make_shared<BackwardCall>();
    backward->keeper = module.weak_from_this().lock();
    backward->module = &module;
    backward->before = hooks->before_backward;
    backward->after = hooks->after_backward;
    std::vector<Tensor*> inputs;
    for (AnyValue& argument : arguments) collect(argument, inputs);
    input_count = inputs.size();
    if (auto node = pass_boundary(inputs)) {
      has_inputs = true;
      node->add_post_hook(
          [backward](const Tensors& gradients, const Tensors&) { return backward->run_after(gradients); });
    }
  }

  AnyValues given = hooks->after_forward.empty() ? AnyValues() : arguments;
  AnyValue result = function(module, arguments);
  for (auto& [id, hook] : ModuleHooks::List<ForwardHook>(hooks->after_forward)) (*hook)(module, given, result);

  if (backward) {
    std::vector<Tensor*> outputs;
    collect(result, outputs);
    if (auto node = pass_boundary(outputs))
      node->add_pre_hook([backward, has_inputs, input_count](const Tensors& gradients) {
        backward->grad_output = backward->run_before(gradients);
        // Where no argument wants a gradient, nothing else would call them.
        if (!has_inputs) backward->run_after(Tensors(input_count));
        return backward->grad_output;
      });
  }
  return result;
}

}  // namespace detail

AnyValue Module::call(AnyValues arguments) {
  CRESSET_CHECK_AS(NotImplementedError, call_, short_name(*this),
                   ": call does not know its forward (expected a module that was held, registered or put into a "
                   "container under its own type, with one forward)");
  check_module_depth("forward", *this);
  if (hooked_) return detail::call_with_hooks(*this, call_, std::move(arguments));
  return call_(*this, arguments);
}

}  // namespace cresset::nn
