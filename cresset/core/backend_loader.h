// Backends that come as libraries of their own and are loaded when a kernel is first missed: the heavy CPU libraries,
// CUDA.
#pragma once

#include <string>

#include "cresset/core/device.h"

namespace cresset {

// True if a library was loaded by this call or before, so that slots may be filled now.
CRESSET_API bool load_backend(DeviceType device);
// Why the last attempt for this device failed, empty if it did not.
CRESSET_API const char* backend_load_error(DeviceType device);

// Loads a library that lies beside this one, or on the loader's path; what it has registers itself. False, and why.
CRESSET_API bool load_library(const char* file, std::string& error);

}  // namespace cresset
