#include "cresset/nn/any_module.h"

#include "cresset/nn/module_hooks.h"

namespace cresset::nn {

void AnyModule::check_callable() {
  CRESSET_CHECK_AS(ValueError, module_, "AnyModule: found a null pointer (expected a module)");
  if (*type_ == typeid(Module)) {
    Module& module = *module_;
    type_ = &typeid(module);
    call_ = module.call_;
  }
  CRESSET_CHECK_AS(NotImplementedError, call_, "AnyModule: ", short_name(*module_),
                   " has no forward, or an overloaded one or a template (expected one forward, or a member "
                   "`AnyValue any_forward(AnyValues& arguments)`)");
  detail::learn_call(*module_, call_);
}

void AnyModule::check_holds(const std::type_info& wanted, const char* method) const {
  CRESSET_CHECK_AS(ValueError, module_, "Cannot call ", method, "() on an empty AnyModule");
  CRESSET_CHECK_AS(TypeError, *type_ == wanted, "Attempted to cast module of type ", detail::demangled(*type_),
                   " to type ", detail::demangled(wanted));
}

AnyModule AnyModule::clone(std::optional<Device> device) const {
  if (module_) check_module_depth("Module.clone", *module_);
  AnyModule copy = *this;
  if (module_) copy.module_ = module_->clone(device);
  return copy;
}

AnyValue AnyModule::call(AnyValues& arguments) {
  CRESSET_CHECK_AS(ValueError, module_, "Cannot call forward() on an empty AnyModule");
  check_module_depth("forward", *module_);
  if (CRESSET_UNLIKELY(module_->has_hooks())) return detail::call_with_hooks(*module_, call_, std::move(arguments));
  return call_(*module_, arguments);
}

std::shared_ptr<Module> AnyModule::ptr() const {
  CRESSET_CHECK_AS(ValueError, module_, "Cannot call ptr() on an empty AnyModule");
  return module_;
}

const std::type_info& AnyModule::type_info() const {
  CRESSET_CHECK_AS(ValueError, module_, "Cannot call type_info() on an empty AnyModule");
  return *type_;
}

}  // namespace cresset::nn
