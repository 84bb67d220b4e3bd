// Finds a backend library beside this one (or on the loader's path) and loads it once.
#include "cresset/core/backend_loader.h"

#include <dlfcn.h>

#include <mutex>
#include <string>

namespace cresset {
namespace {

struct Backend {
  const char* library = nullptr;
  std::once_flag once;
  bool loaded = false;
  std::string error;
};

Backend& backend(DeviceType device) {
  static auto* backends = [] {
    auto* list = new Backend[kDeviceTypes];
    list[static_cast<int>(kCPU)].library = "libcresset_dnn.so";
    list[static_cast<int>(kCUDA)].library = "libcresset_cuda.so";
    return list;
  }();
  return backends[static_cast<int>(device)];
}

std::string beside_this_library(const char* file) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&load_backend), &info) || !info.dli_fname) return file;
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? file : path.substr(0, slash + 1) + file;
}

}  // namespace

bool load_backend(DeviceType device) {
  Backend& b = backend(device);
  if (!b.library) return false;
#ifdef CRESSET_DNN_STATIC
  if (device == kCPU) return false;  // its kernels are linked in
#endif
  std::call_once(b.once, [&] {
    void* handle = dlopen(beside_this_library(b.library).c_str(), RTLD_NOW | RTLD_LOCAL);
    std::string first = handle ? "" : dlerror();
    if (!handle) handle = dlopen(b.library, RTLD_NOW | RTLD_LOCAL);
    b.loaded = handle != nullptr;
    if (!handle) b.error = first;
  });
  return b.loaded;
}

const char* backend_load_error(DeviceType device) { return backend(device).error.c_str(); }

}  // namespace cresset
