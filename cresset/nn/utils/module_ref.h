// ModuleRef: a module however it is held, as an argument.
#pragma once

#include "cresset/nn/module.h"

namespace cresset::nn::utils {

class ModuleRef {
 public:
  ModuleRef(Module& module) : module_(&module) {}
  template <class M>
  ModuleRef(const std::shared_ptr<M>& module) : module_(module.get()) {
    CRESSET_CHECK_AS(ValueError, module_, "found a null pointer (expected a module)");
  }
  template <class M>
  ModuleRef(const ModuleHolder<M>& holder) : module_(holder.ptr().get()) {}
  Module& operator*() const { return *module_; }
  Module* operator->() const { return module_; }

 private:
  Module* module_;
};

}  // namespace cresset::nn::utils
