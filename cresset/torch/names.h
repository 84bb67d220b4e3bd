// Names that libtorch has for what Cresset calls otherwise, or does without asking.
#pragma once

#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cresset/autograd/autograd.h"
#include "cresset/core/cuda.h"
#include "cresset/core/determinism.h"
#include "cresset/core/generator.h"
#include "cresset/core/launch.h"
#include "cresset/core/parallel.h"
#include "cresset/core/print.h"
#include "cresset/core/version.h"
#include "cresset/nn/enums.h"
#include "cresset/ops/all.h"
#include "cresset/ops/shape_rule.h"

namespace cresset {

using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;

template <class... Args>
std::string str(const Args&... args) {
  return message_of(args...);
}

// Including torch.h anywhere in a program makes the whole program print as libtorch does.
namespace detail {
inline const PrintStyle style_before_torch = set_print_style(PrintStyle::libtorch);
}

using TensorBase = Tensor;

// ---- generators
// at::make_generator<at::CPUGeneratorImpl>(seed)
struct CPUGeneratorImpl {};
template <class Impl>
requires std::is_same_v<Impl, CPUGeneratorImpl> Generator make_generator(uint64_t seed = default_rng_seed_val) {
  return Generator(seed);
}
namespace detail {
inline Generator& getDefaultCPUGenerator() { return default_generator(); }
inline Generator createCPUGenerator(uint64_t seed = default_rng_seed_val) { return Generator(seed); }
}  // namespace detail

// ---- what the build has, and what it is to do
// at::globalContext(), as far as programs ask it.
class Context {
 public:
  void setDeterministicAlgorithms(bool mode, bool warn_only) { use_deterministic_algorithms(mode, warn_only); }
  bool deterministicAlgorithms() const { return are_deterministic_algorithms_enabled(); }
  bool deterministicAlgorithmsWarnOnly() const { return is_deterministic_algorithms_warn_only_enabled(); }
  void alertNotDeterministic(const char* caller) const { alert_not_deterministic(caller); }
  bool hasCUDA() const { return cuda::is_available(); }
  const Generator& defaultGenerator(Device) const { return default_generator(); }
  // cuDNN is not used: there is nothing to choose.
  void setUserEnabledCuDNN(bool) {}
  void setBenchmarkCuDNN(bool) {}
  void setDeterministicCuDNN(bool) {}
  void setAllowTF32CuDNN(bool) {}
  void setAllowTF32CuBLAS(bool) {}
};
inline Context& globalContext() {
  static Context context;
  return context;
}
inline bool hasCUDA() { return cuda::is_available(); }
inline bool hasMKL() { return false; }
inline bool hasMKLDNN() { return true; }
inline bool hasLAPACK() { return true; }
inline bool hasOpenMP() { return true; }
inline std::string show_config() { return message_of("Cresset ", version()); }
inline std::string get_parallel_info() { return message_of("at::get_num_threads() : ", get_num_threads()); }
namespace cuda {
inline bool cudnn_is_available() { return false; }
}  // namespace cuda

// There is one current device of each kind, so a guard has only the CPU to choose.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) { set_device(device); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  void reset_device(Device device) { set_device(device); }
  void set_index(int8_t index) { set_device(Device(device_.type(), index)); }
  Device original_device() const { return kCPU; }
  Device current_device() const { return device_; }

 private:
  void set_device(Device device) {
    CRESSET_CHECK_AS(NotImplementedError, device.is_cpu(), "DeviceGuard: found ", device, " (expected cpu)");
    device_ = device;
  }
  Device device_;
};
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(std::optional<Device> device) {
    if (device) reset_device(*device);
  }
  void reset_device(Device device) { guard_.emplace(device); }
  std::optional<Device> original_device() const { return guard_ ? std::optional(guard_->original_device()) : nullopt; }
  std::optional<Device> current_device() const { return guard_ ? std::optional(guard_->current_device()) : nullopt; }

 private:
  std::optional<DeviceGuard> guard_;
};
using DeviceIndex = int8_t;

// ---- threads: ops of one program run one after the other
inline void init_num_threads() {}
inline int get_num_interop_threads() { return 1; }
inline void set_num_interop_threads(int) {}
// Folds f(first, last, identity) of parts of [begin, end), in their order.
template <class T, class F, class Combine>
T parallel_reduce(int64_t begin, int64_t end, int64_t grain, T identity, const F& f, const Combine& combine) {
  std::map<int64_t, T> parts;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](int64_t first, int64_t last) {
    T part = f(first, last, identity);
    const std::lock_guard lock(mutex);
    parts.emplace(first, std::move(part));
  });
  T result = identity;
  for (auto& [first, part] : parts) result = combine(result, part);
  return result;
}
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

// ---- names of element types
inline DType typeMetaToScalarType(TypeMeta meta) { return meta.toScalarType(); }
inline TypeMeta scalarTypeToTypeMeta(DType dtype) { return TypeMeta(dtype); }
// libtorch's form, which takes any type, integers too.
inline void set_default_dtype(TypeMeta dtype) { detail::set_any_default_dtype(dtype); }
inline DType get_default_dtype_as_scalartype() { return default_dtype(); }
inline DType promoteTypes(DType a, DType b) { return promote_types(a, b); }
inline bool canCast(DType from, DType to) { return can_cast(from, to); }
inline constexpr DType kU8 = kByte, kI8 = kChar, kI16 = kShort, kI32 = kInt, kI64 = kLong;
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, dtype_of<T>> {};

// ---- shapes
using IntList = IntArrayRef;
template <class T>
ArrayRef<T> makeArrayRef(const std::vector<T>& items) {
  return items;
}
template <class T>
ArrayRef<T> makeArrayRef(const T* data, size_t size) {
  return {data, size};
}
inline int64_t maybe_wrap_dim(int64_t dim, int64_t rank) { return wrap_dim("maybe_wrap_dim", dim, rank); }
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  return IntArrayRef(broadcast_shapes("infer_size", a, b)).vec();
}

// ---- methods as functions
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
inline int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline Tensor detach_(Tensor& self) { return self.detach_(); }
inline bool is_nonzero(const Tensor& self) { return self.is_nonzero(); }
inline bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }
inline Tensor fill(const Tensor& self, const Scalar& value) { return full_like(self, value); }
inline Tensor zero(const Tensor& self) { return zeros_like(self); }

// Guards of kernels and of old inference code: nothing inside is recorded.
class AutoDispatchBelowAutograd {
 private:
  NoGradGuard no_grad_;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;
class AutoNonVariableTypeMode {
 public:
  explicit AutoNonVariableTypeMode(bool enabled = true) {
    CRESSET_WARN_ONCE(
        "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. For kernel implementations please "
        "use AutoDispatchBelowADInplaceOrView instead, If you are looking for a user facing API to enable running your "
        "inference-only workload, please use c10::InferenceMode.");
    CRESSET_CHECK_AS(ValueError, enabled, "AutoNonVariableTypeMode: found false (expected true)");
  }

 private:
  NoGradGuard no_grad_;
};

// What std::cout << tensor does.
inline void print(const Tensor& tensor) { std::cout << tensor; }

namespace autograd {
using ::cresset::GradMode;
}
namespace enumtype {
template <class... Tags>
std::string get_enum_name(const std::variant<Tags...>& choice) {
  return std::visit([](auto tag) { return name_of(tag.tag); }, choice);
}
template <class... Tags>
int64_t reduction_get_enum(const std::variant<Tags...>& choice) {
  return std::visit([](auto tag) { return reduction_get_enum(tag.tag); }, choice);
}
}  // namespace enumtype

}  // namespace cresset
