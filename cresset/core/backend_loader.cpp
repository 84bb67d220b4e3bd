// Finds a backend library beside this one (or on the loader's path) and loads it once.
#include "cresset/core/backend_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

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

// OpenBLAS 0.3.21 takes Intel CPUs newer than itself for a Prescott, which costs a factor of 4 to 9. While it loads,
// the environment names a core that fits; a setting of the user's stays.
class OpenblasCore {
 public:
  OpenblasCore() {
#if defined(__x86_64__)
    if (std::getenv(kName) || !__builtin_cpu_is("intel") || !__builtin_cpu_supports("avx2")) return;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    set_ = setenv(kName, wide ? "SKYLAKEX" : "HASWELL", 0) == 0;
#endif
  }
  ~OpenblasCore() {
    if (set_) unsetenv(kName);
  }
  OpenblasCore(const OpenblasCore&) = delete;
  OpenblasCore& operator=(const OpenblasCore&) = delete;

 private:
  static constexpr const char* kName = "OPENBLAS_CORETYPE";
  bool set_ = false;
};

}  // namespace

bool load_library(const char* file, std::string& error) {
  if (dlopen(beside_this_library(file).c_str(), RTLD_NOW | RTLD_LOCAL)) return true;
  std::string first = dlerror();
  if (dlopen(file, RTLD_NOW | RTLD_LOCAL)) return true;
  error = std::move(first);
  return false;
}

bool load_backend(DeviceType device) {
  Backend& b = backend(device);
  if (!b.library) return false;
#ifdef CRESSET_DNN_STATIC
  if (device == kCPU) return false;  // its kernels are linked in
#endif
  std::call_once(b.once, [&] {
    const OpenblasCore core;
    b.loaded = load_library(b.library, b.error);
    if (!b.loaded && device == kCUDA && access(beside_this_library(b.library).c_str(), F_OK) != 0)
      b.error = "Cresset was built without CUDA; configure it with -DCRESSET_CUDA=ON: " + b.error;
  });
  return b.loaded;
}

const char* backend_load_error(DeviceType device) { return backend(device).error.c_str(); }

}  // namespace cresset
