// A module's hooks, apart from it since few modules have any.
#pragma once

#include <utility>

#include "cresset/nn/module.h"

namespace cresset::nn {

struct ModuleHooks {
  // Shared, so that the lists can be copied before they are called: a hook may remove itself.
  template <class Hook>
  using List = std::vector<std::pair<unsigned, std::shared_ptr<Hook>>>;

  Module* owner = nullptr;  // null once it has gone
  unsigned next_id = 0;
  List<ForwardPreHook> before_forward;
  List<ForwardHook> after_forward;
  List<BackwardPreHook> before_backward;
  List<BackwardHook> after_backward;

  bool any() const {
    return !before_forward.empty() || !after_forward.empty() || !before_backward.empty() || !after_backward.empty();
  }
  void remove(unsigned id);
};

// Before a call goes one module deeper: a ValueError that begins with `what` where the stack runs short.
void check_module_depth(const char* what, const Module& module);

}  // namespace cresset::nn
