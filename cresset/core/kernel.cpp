// What happens when a kernel's slot is empty: the device's fallback, nothing for meta tensors, a backend loaded
// on demand, or one clear error.
#include "cresset/core/kernel.h"

#include <string>

#include "cresset/core/backend_loader.h"

namespace cresset {

static constinit KernelBase::Fallback fallbacks[kDeviceTypes] = {};

void KernelBase::set_fallback(DeviceType device, Fallback fallback) { fallbacks[static_cast<int>(device)] = fallback; }
KernelBase::Fallback KernelBase::fallback(DeviceType device) { return fallbacks[static_cast<int>(device)]; }

bool KernelBase::load_or_throw(DeviceType device, bool tried) const {
  if (device == DeviceType::Meta) return false;
  if (!tried && load_backend(device)) return true;
  std::string why = backend_load_error(device);
  throw DeviceError(
      message_of(name_, ": no ", name_of(device), " kernel in this build", why.empty() ? "" : " (" + why + ")"));
}

}  // namespace cresset
