// Hooks of a module, and handles that take them away again.
#pragma once

#include <functional>
#include <memory>

#include "cresset/nn/any_value.h"

namespace cresset::nn {

class Module;

// Before forward; may change the arguments.
using ForwardPreHook = std::function<void(Module& module, AnyValues& arguments)>;
// After forward; may change the result.
using ForwardHook = std::function<void(Module& module, const AnyValues& arguments, AnyValue& result)>;
// When the gradients of the module's tensor arguments are known. What it returns replaces grad_input; empty: nothing.
using BackwardHook = std::function<std::vector<Tensor>(Module& module, const std::vector<Tensor>& grad_input,
                                                       const std::vector<Tensor>& grad_output)>;
// Before the module's own backward runs. What it returns replaces grad_output; empty: nothing.
using BackwardPreHook = std::function<std::vector<Tensor>(Module& module, const std::vector<Tensor>& grad_output)>;

struct ModuleHooks;

// Removes its hook when told to, not when it goes. Harmless after the module has gone.
class CRESSET_API RemovableHandle {
 public:
  RemovableHandle() = default;
  RemovableHandle(std::weak_ptr<ModuleHooks> hooks, unsigned id) : hooks_(std::move(hooks)), id_(id) {}
  void remove();
  unsigned id() const { return id_; }

 private:
  std::weak_ptr<ModuleHooks> hooks_;
  unsigned id_ = 0;
};

}  // namespace cresset::nn
