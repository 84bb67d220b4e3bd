// Cloneable: gives a module its deep copy. The copy is made by the copy constructor and then reset(), in which the type
// registers everything anew; values are copied over afterwards. What reset() shares stays shared in the copy. Plain
// members of submodules are copied, too, unless something outside a submodule holds a part of it.
#pragma once

#include "cresset/nn/module.h"

// Before a layer's constructor that only makes the options: the body of a template is compiled where it is called, not
// by every program that includes the layer. (It would need the layer's destructor, and that everything it owns.)
#define CRESSET_IF_CALLED template <class = void>

namespace cresset::nn {

template <class Derived>
class Cloneable : public Module {
 public:
  using Module::Module;

  // Registers parameters, buffers and submodules, with fresh initial values.
  virtual void reset() = 0;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    return copy_of(static_cast<const Derived&>(*this), device);
  }

  // The same for a module whose base is Cloneable by another name (lazy layers).
  static std::shared_ptr<Module> copy_of(const Derived& from, const std::optional<Device>& device) {
    auto* copy = new Derived(from);
    std::shared_ptr<Module> held = detail::held(copy);
    Module& registered = *copy;
    registered.clear_registered();
    copy->reset();
    static_cast<const Module&>(from).finish_clone(*copy, device);
    return held;
  }

 protected:
  bool can_become() const override { return std::is_move_assignable_v<Derived> && typeid(*this) == typeid(Derived); }
  bool become(Module& clone) override {
    if constexpr (std::is_move_assignable_v<Derived>) {
      if (!can_become() || typeid(clone) != typeid(Derived)) return false;
      static_cast<Derived&>(*this) = std::move(static_cast<Derived&>(clone));
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace cresset::nn
