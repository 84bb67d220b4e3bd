// Kernel<void(Args...)>: one function per device type, in a table that is constant-initialised, so that a backend may
// fill its slot before or after anything else runs. The first Tensor argument (the output) decides the device. Meta
// tensors run no kernel. Below autograd, this is where modes (capture) listen.
//
// The headers of ops declare their kernels by CRESSET_KERNEL (core/kernel_table.h). A library of its own may write
// `CRESSET_API inline constinit Kernel<…> name{"name"}` in a header instead: hidden, each library would fill a table of
// its own.
#pragma once

#include <array>

#include "cresset/core/modes.h"
#include "cresset/core/tensor.h"

namespace cresset {

class CRESSET_API KernelBase {
 public:
  constexpr explicit KernelBase(const char* name, int outputs = 1) : name_(name), outputs_(outputs) {}
  const char* name() const { return name_; }
  int outputs() const { return outputs_; }  // how many of the first arguments it writes to

  // What a device does about kernels it has no slot for: gets the arguments packed (the tests' mock device).
  using Fallback = void (*)(const KernelBase& kernel, modes::Replay replay, const Values& arguments);
  static void set_fallback(DeviceType device, Fallback fallback);

 protected:
  static Fallback fallback(DeviceType device);
  // For an empty slot: false for meta tensors; loads a backend that comes on demand and returns true if the slot may be
  // filled now; otherwise throws.
  bool load_or_throw(DeviceType device, bool tried) const;

  const char* name_;
  int outputs_;
};

template <class Signature>
class Kernel;

template <class... Args>
class Kernel<void(Args...)> : public KernelBase {
 public:
  using Function = void (*)(Args...);
  constexpr explicit Kernel(const char* name, int outputs = 1) : KernelBase(name, outputs) {}

  // Called by backends; returns true so that it can initialise a static.
  bool set(DeviceType device, Function function) const {
    slots_[static_cast<size_t>(device)] = function;
    return true;
  }
  Function get(DeviceType device) const { return slots_[static_cast<size_t>(device)]; }

  void operator()(Args... args) const {
    if (CRESSET_UNLIKELY(thread_state.modes_below != 0))
      modes::kernel_called(*this, &replay, Values{Boxing<Bare<Args>>::pack(args)...});
    run(args...);
  }

 private:
  void run(Args... args) const {
    DeviceType device = device_of(args...);
    Function function = slots_[static_cast<size_t>(device)];
    if (CRESSET_UNLIKELY(!function)) {
      if (Fallback instead = fallback(device)) {
        instead(*this, &replay, Values{Boxing<Bare<Args>>::pack(args)...});
        return;
      }
      if (!load_or_throw(device, false)) return;
      function = slots_[static_cast<size_t>(device)];
      if (!function) load_or_throw(device, true);
    }
    function(args...);
  }
  static DeviceType device_of(const Tensor& first, const auto&...) { return first.impl()->device.type(); }

  static void replay(const KernelBase& self, const Values& values) {
    [&]<size_t... I>(std::index_sequence<I...>) {
      auto held =
          std::tuple<decltype(Boxing<Bare<Args>>::unpack(values[I]))...>(Boxing<Bare<Args>>::unpack(values[I])...);
      static_cast<const Kernel&>(self).run(std::get<I>(held)...);
    }
    (std::index_sequence_for<Args...>());
  }

  mutable std::array<Function, kDeviceTypes> slots_{};
};

}  // namespace cresset
