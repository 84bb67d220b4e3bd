// Whether there are CUDA devices. The CUDA library announces itself here when it can run whole models; a program that
// asks without it gets an honest no.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cresset/core/export.h"

namespace cresset::cuda {

struct DeviceFunctions {
  size_t (*device_count)();
  void (*synchronize)(int64_t device_index);  // -1: the current one
};
CRESSET_API void announce(const DeviceFunctions* functions);

CRESSET_API size_t device_count();
inline bool is_available() { return device_count() > 0; }
// The CUDA devices draw from the default generator: to seed them is to seed it.
CRESSET_API void manual_seed(uint64_t seed);
CRESSET_API void manual_seed_all(uint64_t seed);
// Waits until all work given to the device is done.
CRESSET_API void synchronize(int64_t device_index = -1);

}  // namespace cresset::cuda
