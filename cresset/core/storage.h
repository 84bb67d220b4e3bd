// StorageImpl: the memory under one or more tensors, with the version that in-place ops advance. Small CPU storages
// hold header and data in one block; larger ones keep the header apart, so that big data blocks stay within their size
// class. Storage is the handle on it that Tensor::storage() gives.
#pragma once

#include <cstddef>
#include <functional>

#include "cresset/core/device.h"
#include "cresset/core/ref.h"

namespace cresset {

// Counts in-place changes. A storage has one; a tensor made by `.data` owns another.
struct VersionCounter : Counted {
  std::atomic<uint32_t> value{0};
  static void destroy(VersionCounter* counter) { delete counter; }
};

struct CRESSET_API StorageImpl : Counted {
  std::atomic<uint32_t> version{0};
  Device device;
  bool with_header = false;  // data stands behind this header in one block
  bool resizable = true;
  void* data = nullptr;
  size_t bytes = 0;
  std::function<void(void*)>* deleter = nullptr;  // memory of somebody else's

  static Ref<StorageImpl> make(size_t bytes, Device device);
  static Ref<StorageImpl> borrow(void* data, size_t bytes, Device device, std::function<void(void*)> deleter);
  static void destroy(StorageImpl* storage);
};

// What Storage::data_ptr() gives: where the memory is, and what belongs to whoever frees it (nothing for memory that
// is only borrowed). It owns nothing.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, void* context, Device device) : data_(data), context_(context), device_(device) {}
  void* get() const { return data_; }
  const void* const_get() const { return data_; }
  void* mutable_get() const { return data_; }
  void* get_context() const { return context_; }
  Device device() const { return device_; }
  explicit operator bool() const { return data_ || context_; }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  Device device_;
};

class Storage {
 public:
  Storage() = default;
  explicit Storage(Ref<StorageImpl> impl) : impl_(std::move(impl)) {}
  void* data() const { return impl_->data; }
  void* mutable_data() const { return impl_->data; }
  template <class T>
  T* data() const {
    return static_cast<T*>(impl_->data);
  }
  CRESSET_API DataPtr data_ptr() const;
  size_t nbytes() const { return impl_->bytes; }
  Device device() const { return impl_->device; }
  DeviceType device_type() const { return impl_->device.type(); }
  size_t use_count() const { return impl_.use_count(); }
  bool unique() const { return impl_.unique(); }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  explicit operator bool() const { return static_cast<bool>(impl_); }
  StorageImpl* unsafeGetStorageImpl() const { return impl_.get(); }

 private:
  Ref<StorageImpl> impl_;
};

// How a device type gets its memory; a backend fills its slot. The CPU's is the caching allocator.
struct DeviceMemory {
  void* (*allocate)(size_t bytes, Device device) = nullptr;
  void (*deallocate)(void* data, size_t bytes, Device device) = nullptr;
};
CRESSET_API DeviceMemory& device_memory(DeviceType type);

}  // namespace cresset
