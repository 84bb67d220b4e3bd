// Storage: the memory under one or more tensors, with the version that in-place ops advance. Small CPU storages hold
// header and data in one block; larger ones keep the header apart, so that big data blocks stay within their size
// class.
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

struct CRESSET_API Storage : Counted {
  std::atomic<uint32_t> version{0};
  Device device;
  bool with_header = false;  // data stands behind this header in one block
  bool resizable = true;
  void* data = nullptr;
  size_t bytes = 0;
  std::function<void(void*)>* deleter = nullptr;  // memory of somebody else's

  static Ref<Storage> make(size_t bytes, Device device);
  static Ref<Storage> borrow(void* data, size_t bytes, Device device, std::function<void(void*)> deleter);
  static void destroy(Storage* storage);
};

// How a device type gets its memory; a backend fills its slot. The CPU's is the caching allocator.
struct DeviceMemory {
  void* (*allocate)(size_t bytes, Device device) = nullptr;
  void (*deallocate)(void* data, size_t bytes, Device device) = nullptr;
};
CRESSET_API DeviceMemory& device_memory(DeviceType type);

}  // namespace cresset
