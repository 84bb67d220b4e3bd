// Finds a backend library beside this one (or on the loader's path) and loads it once.
#include "cresset/core/backend_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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

// The environment with more variables, for libraries that read it while they are loaded. The old one stays as it is:
// setenv would move it under the feet of a thread that reads it.
class LongerEnvironment {
 public:
  explicit LongerEnvironment(std::initializer_list<const char*> added) : before_(environ) {
    for (char** variable = before_; variable != nullptr && *variable != nullptr; ++variable) list_.push_back(*variable);
    for (const char* variable : added)
      if (variable != nullptr) list_.push_back(const_cast<char*>(variable));
    list_.push_back(nullptr);
    environ = list_.data();
  }
  ~LongerEnvironment() {
    if (environ == list_.data()) environ = before_;           // else another thread has made one of its own meanwhile
    static auto* kept = new std::vector<std::vector<char*>>;  // a thread may still be reading it
    kept->push_back(std::move(list_));
  }
  LongerEnvironment(const LongerEnvironment&) = delete;
  LongerEnvironment& operator=(const LongerEnvironment&) = delete;

 private:
  char** before_;
  std::vector<char*> list_;
};

// OpenBLAS 0.3.21 takes Intel CPUs newer than itself for a Prescott, which costs a factor of 4 to 9: the core that
// fits, unless the user names one.
const char* openblas_core() {
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") || !__builtin_cpu_is("intel") || !__builtin_cpu_supports("avx2")) return nullptr;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return wide ? "OPENBLAS_CORETYPE=SKYLAKEX" : "OPENBLAS_CORETYPE=HASWELL";
#else
  return nullptr;
#endif
}

// libgomp's threads wait for their next region by spinning for milliseconds, on the cores that Cresset's own threads
// want. Some microseconds serve as well. Nothing can be done where the program has loaded it already.
const char* openmp_waiting() {
  return std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT") ? nullptr : "GOMP_SPINCOUNT=1000";
}

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
    const LongerEnvironment longer{openblas_core(), openmp_waiting()};
    b.loaded = load_library(b.library, b.error);
    if (!b.loaded && device == kCUDA && access(beside_this_library(b.library).c_str(), F_OK) != 0)
      b.error = "Cresset was built without CUDA; configure it with -DCRESSET_CUDA=ON: " + b.error;
  });
  return b.loaded;
}

const char* backend_load_error(DeviceType device) { return backend(device).error.c_str(); }

}  // namespace cresset
