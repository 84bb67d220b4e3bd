#include "cresset/core/cuda.h"

#include <atomic>

#include "cresset/core/backend_loader.h"
#include "cresset/core/error.h"
#include "cresset/core/generator.h"

namespace cresset::cuda {

static std::atomic<const DeviceFunctions*> announced{nullptr};

void announce(const DeviceFunctions* functions) { announced.store(functions, std::memory_order_release); }

static const DeviceFunctions* device_functions() {
  if (const DeviceFunctions* known = announced.load(std::memory_order_acquire)) return known;
  load_backend(kCUDA);
  return announced.load(std::memory_order_acquire);
}

size_t device_count() {
  const DeviceFunctions* functions = device_functions();
  return functions ? functions->device_count() : 0;
}

void manual_seed(uint64_t seed) { default_generator().set_current_seed(seed); }
void manual_seed_all(uint64_t seed) { manual_seed(seed); }

void synchronize(int64_t device_index) {
  const auto count = static_cast<int64_t>(device_count());
  const std::string why = backend_load_error(kCUDA);
  CRESSET_CHECK_AS(DeviceError, count > 0, "cuda::synchronize: no CUDA device is available",
                   why.empty() ? "" : " (" + why + ")");
  CRESSET_CHECK_AS(DeviceError, device_index >= -1 && device_index < count, "cuda::synchronize: there is no device ",
                   device_index, "; devices are 0 to ", count - 1);
  device_functions()->synchronize(device_index);
}

}  // namespace cresset::cuda
