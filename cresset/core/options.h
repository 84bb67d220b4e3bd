// TensorOptions: dtype, device, requires_grad and memory format of a tensor to be made, each set or left open.
#pragma once

#include <optional>

#include "cresset/core/device.h"
#include "cresset/core/dtype.h"
#include "cresset/core/shape.h"

namespace cresset {

// Sparse can be named and asked for, as programs do before they decide; no tensor is.
enum class Layout : int8_t { Strided, Sparse };
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;

// Eight plain bytes, so that passing it costs a register.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(DType dtype) : dtype_(dtype), set_(kDtype) {}
  TensorOptions(TypeMeta dtype) : TensorOptions(dtype.toScalarType()) {}
  TensorOptions(Device device) : device_(device), set_(kDevice) {}
  TensorOptions(DeviceType type) : TensorOptions(Device(type)) {}
  TensorOptions(MemoryFormat format) : format_(format), set_(kFormat) {}
  TensorOptions(Layout layout) : set_(layout == kStrided ? kLayout : kLayout | kSparseLayout) {}

  TensorOptions dtype(std::optional<DType> value) const { return with(&TensorOptions::dtype_, kDtype, value); }
  template <class T>
  TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  TensorOptions device(std::optional<Device> value) const { return with(&TensorOptions::device_, kDevice, value); }
  TensorOptions device(DeviceType type, int index = -1) const { return device(Device(type, index)); }
  TensorOptions device_index(int index) const { return device(Device(kCUDA, index)); }
  TensorOptions requires_grad(std::optional<bool> value) const {
    return with(&TensorOptions::requires_grad_, kRequiresGrad, value);
  }
  TensorOptions memory_format(std::optional<MemoryFormat> value) const {
    return with(&TensorOptions::format_, kFormat, value);
  }
  TensorOptions pinned_memory(std::optional<bool> value) const { return with(&TensorOptions::pinned_, kPinned, value); }
  TensorOptions layout(std::optional<Layout> value) const {
    TensorOptions changed = *this;
    changed.set_ = static_cast<uint8_t>(set_ & ~(kLayout | kSparseLayout));
    if (value) changed.set_ = static_cast<uint8_t>(changed.set_ | TensorOptions(*value).set_);
    return changed;
  }

  TypeMeta dtype() const { return TypeMeta(has_dtype() ? dtype_ : default_dtype()); }
  Device device() const { return device_; }
  Layout layout() const { return set_ & kSparseLayout ? kSparse : kStrided; }
  bool requires_grad() const { return requires_grad_; }
  bool pinned_memory() const { return pinned_; }
  std::optional<DType> dtype_opt() const { return get(dtype_, kDtype); }
  std::optional<Device> device_opt() const { return get(device_, kDevice); }
  std::optional<Layout> layout_opt() const { return get(layout(), kLayout); }
  std::optional<bool> requires_grad_opt() const { return get(requires_grad_, kRequiresGrad); }
  std::optional<bool> pinned_memory_opt() const { return get(pinned_, kPinned); }
  std::optional<MemoryFormat> memory_format_opt() const { return get(format_, kFormat); }
  bool has_dtype() const { return set_ & kDtype; }
  bool has_device() const { return set_ & kDevice; }
  bool has_layout() const { return set_ & kLayout; }
  bool has_requires_grad() const { return set_ & kRequiresGrad; }
  bool has_memory_format() const { return set_ & kFormat; }
  bool has_pinned_memory() const { return set_ & kPinned; }

  // What `later` sets wins.
  TensorOptions merge_in(const TensorOptions& later) const {
    TensorOptions merged = *this;
    if (later.set_ & kDtype) merged.dtype_ = later.dtype_;
    if (later.set_ & kDevice) merged.device_ = later.device_;
    if (later.set_ & kRequiresGrad) merged.requires_grad_ = later.requires_grad_;
    if (later.set_ & kFormat) merged.format_ = later.format_;
    if (later.set_ & kPinned) merged.pinned_ = later.pinned_;
    if (later.set_ & kLayout) merged.set_ = static_cast<uint8_t>(merged.set_ & ~kSparseLayout);
    merged.set_ |= later.set_;
    return merged;
  }

 private:
  enum Field : uint8_t {
    kDtype = 1,
    kDevice = 2,
    kRequiresGrad = 4,
    kFormat = 8,
    kPinned = 16,
    kLayout = 32,
    kSparseLayout = 64
  };

  template <class T>
  TensorOptions with(T TensorOptions::*field, Field bit, std::optional<T> value) const {
    TensorOptions changed = *this;
    changed.*field = value ? *value : TensorOptions().*field;
    changed.set_ = static_cast<uint8_t>(value ? set_ | bit : set_ & ~bit);
    return changed;
  }
  template <class T>
  std::optional<T> get(T value, Field bit) const {
    return set_ & bit ? std::optional<T>(value) : std::nullopt;
  }

  DType dtype_ = kFloat;
  Device device_;
  bool requires_grad_ = false;
  bool pinned_ = false;
  MemoryFormat format_ = MemoryFormat::Contiguous;
  uint8_t set_ = 0;  // which fields were given, and whether the layout is the other one
};

inline TensorOptions dtype(DType value) { return TensorOptions(value); }
inline TensorOptions device(Device value) { return TensorOptions(value); }
inline TensorOptions device(DeviceType value) { return TensorOptions(value); }
inline TensorOptions device_index(int index) { return TensorOptions().device_index(index); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }
inline TensorOptions layout(Layout value) { return TensorOptions(value); }

}  // namespace cresset
