// Making and freeing storages.
#include "cresset/core/storage.h"

#include <new>

#include "cresset/core/allocator.h"
#include "cresset/core/backend_loader.h"
#include "cresset/core/error.h"

namespace cresset {
namespace {
constexpr size_t kHeader = (sizeof(StorageImpl) + 63) / 64 * 64;
constexpr size_t kTogether = 4096;  // larger data gets a block of its own

[[noreturn]] void refuse_device(Device device) {
  std::string why = backend_load_error(device.type());
  throw DeviceError(message_of("empty: device ", device.str(), " is not in this build: no ", name_of(device.type()),
                               " backend is loaded", why.empty() ? "" : " (" + why + ")"));
}
}  // namespace

DeviceMemory& device_memory(DeviceType type) {
  static constinit DeviceMemory memories[kDeviceTypes];
  return memories[static_cast<int>(type)];
}

Ref<StorageImpl> StorageImpl::make(size_t bytes, Device device) {
  if (CRESSET_LIKELY(device.is_cpu() && bytes <= kTogether)) {
    auto* storage = new (allocate(kHeader + bytes)) StorageImpl;
    storage->with_header = true;
    storage->data = reinterpret_cast<char*>(storage) + kHeader;
    storage->bytes = bytes;
    return Ref<StorageImpl>::adopt(storage);
  }
  auto* storage = new (allocate(kHeader)) StorageImpl;
  auto owned = Ref<StorageImpl>::adopt(storage);
  storage->device = device;
  if (device.is_cpu()) {
    storage->data = allocate(bytes);
  } else if (!device.is_meta()) {
    auto& memory = device_memory(device.type());
    if (CRESSET_UNLIKELY(!memory.allocate)) load_backend(device.type());
    if (CRESSET_UNLIKELY(!memory.allocate)) refuse_device(device);
    if (bytes) storage->data = memory.allocate(bytes, device);
  }
  storage->bytes = bytes;
  return owned;
}

Ref<StorageImpl> StorageImpl::borrow(void* data, size_t bytes, Device device, std::function<void(void*)> deleter) {
  auto* storage = new (allocate(kHeader)) StorageImpl;
  auto owned = Ref<StorageImpl>::adopt(storage);
  storage->device = device;
  storage->data = data;
  storage->resizable = false;
  storage->deleter = new std::function<void(void*)>(std::move(deleter));
  storage->bytes = bytes;
  return owned;
}

DataPtr Storage::data_ptr() const {
  if (!impl_) return {};
  void* context = impl_->data;
  if (impl_->deleter) context = *impl_->deleter ? impl_->deleter : nullptr;
  return {impl_->data, context, impl_->device};
}

void StorageImpl::destroy(StorageImpl* storage) {
  if (storage->with_header) {
    deallocate(storage, kHeader + storage->bytes);
    return;
  }
  if (storage->deleter) {
    if (*storage->deleter) (*storage->deleter)(storage->data);
    delete storage->deleter;
  } else if (storage->data) {
    if (storage->device.is_cpu())
      deallocate(storage->data, storage->bytes);
    else
      device_memory(storage->device.type()).deallocate(storage->data, storage->bytes, storage->device);
  }
  deallocate(storage, kHeader);
}

}  // namespace cresset
