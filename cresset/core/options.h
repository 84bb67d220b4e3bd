// TensorOptions: dtype, device, requires_grad and memory format of a tensor to be made, each set or left open.
#pragma once

#include <optional>

#include "cresset/core/device.h"
#include "cresset/core/dtype.h"
#include "cresset/core/shape.h"

namespace cresset {

enum class Layout : int8_t { Strided };
inline constexpr Layout kStrided = Layout::Strided;

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType type) : device_(Device(type)) {}
  TensorOptions(MemoryFormat format) : format_(format) {}
  TensorOptions(Layout) {}

  TensorOptions dtype(std::optional<DType> value) const { return with(&TensorOptions::dtype_, value); }
  TensorOptions device(std::optional<Device> value) const { return with(&TensorOptions::device_, value); }
  TensorOptions device(DeviceType type, int index = -1) const { return device(Device(type, index)); }
  TensorOptions device_index(int index) const { return device(Device(kCUDA, index)); }
  TensorOptions requires_grad(std::optional<bool> value) const { return with(&TensorOptions::requires_grad_, value); }
  TensorOptions memory_format(std::optional<MemoryFormat> value) const { return with(&TensorOptions::format_, value); }
  TensorOptions pinned_memory(std::optional<bool> value) const { return with(&TensorOptions::pinned_, value); }
  TensorOptions layout(std::optional<Layout>) const { return *this; }

  DType dtype() const { return dtype_.value_or(default_dtype()); }
  Device device() const { return device_.value_or(Device()); }
  Layout layout() const { return kStrided; }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_.value_or(false); }
  std::optional<DType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<MemoryFormat> memory_format_opt() const { return format_; }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }

  // What `later` sets wins.
  TensorOptions merge_in(const TensorOptions& later) const {
    TensorOptions merged = *this;
    if (later.dtype_) merged.dtype_ = later.dtype_;
    if (later.device_) merged.device_ = later.device_;
    if (later.requires_grad_) merged.requires_grad_ = later.requires_grad_;
    if (later.format_) merged.format_ = later.format_;
    if (later.pinned_) merged.pinned_ = later.pinned_;
    return merged;
  }

 private:
  template <class Field>
  TensorOptions with(std::optional<Field> TensorOptions::*field, std::optional<Field> value) const {
    TensorOptions changed = *this;
    changed.*field = value;
    return changed;
  }

  std::optional<DType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_;
  std::optional<bool> pinned_;
  std::optional<MemoryFormat> format_;
};

inline TensorOptions dtype(DType value) { return TensorOptions(value); }
inline TensorOptions device(Device value) { return TensorOptions(value); }
inline TensorOptions device(DeviceType value) { return TensorOptions(value); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
inline TensorOptions layout(Layout value) { return TensorOptions(value); }

}  // namespace cresset
