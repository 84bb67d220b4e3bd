// All mock memory is taken from one reserved range, so that a fault can be told from any other by its address. Blocks
// are never used twice: memory that was freed faults as well. Every kernel runs as the CPU's, over the same memory made
// accessible for that long.
#include "tests/support/mock_device.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "cresset/core/kernel.h"
#include "cresset/ops/copy.h"

namespace cresset::test {
namespace {

constexpr size_t kRange = size_t{64} << 30;
constexpr size_t kPage = 4096;
std::atomic<size_t> used{0};
std::atomic<int64_t> kernel_calls{0};

char* range() {
  static char* start =
      static_cast<char*>(mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return start;
}
size_t in_pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void* allocate_mock(size_t bytes, Device) {
  size_t at = used.fetch_add(in_pages(bytes) + kPage);  // an empty page between blocks: overruns fault too
  CRESSET_CHECK_AS(OutOfMemoryError, at + in_pages(bytes) <= kRange, "mock device: out of memory");
  return range() + at;
}
void deallocate_mock(void* data, size_t bytes, Device) { madvise(data, in_pages(bytes), MADV_DONTNEED); }

// Makes the memory of tensors accessible while it lives.
class Opened {
 public:
  Opened() = default;
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    for (const auto& storage : storages_) protect(*storage, PROT_NONE);
  }
  // The tensor as the CPU sees it.
  Tensor operator()(const Tensor& tensor) {
    if (!tensor.defined() || tensor.device().type() != kMock) return tensor;
    storages_.push_back(tensor.impl()->storage);
    protect(*storages_.back(), PROT_READ | PROT_WRITE);
    Tensor here = alias(tensor);
    here.impl()->device = Device(kCPU);
    return here;
  }

 private:
  static void protect(const StorageImpl& storage, int access) {
    if (storage.bytes) mprotect(storage.data, in_pages(storage.bytes), access);
  }
  std::vector<Ref<StorageImpl>> storages_;
};

void run_on_cpu(const KernelBase& kernel, modes::Replay replay, const Values& arguments) {
  kernel_calls++;
  Opened opened;
  Values here = arguments;
  for (Value& value : here) {
    if (auto* tensor = std::get_if<Tensor>(&value)) *tensor = opened(*tensor);
    if (auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (Tensor& tensor : *list) tensor = opened(tensor);
  }
  replay(kernel, here);
}

void upload(const Tensor& on_device, const Tensor& on_cpu) {
  Opened opened;
  if (on_cpu.numel()) std::memcpy(opened(on_device).impl()->data(), on_cpu.impl()->data(), on_cpu.nbytes());
}
void download(const Tensor& on_device, const Tensor& on_cpu) {
  Opened opened;
  if (on_cpu.numel()) std::memcpy(on_cpu.impl()->data(), opened(on_device).impl()->data(), on_cpu.nbytes());
}

[[maybe_unused]] const bool registered = [] {
  device_memory(kMock) = {allocate_mock, deallocate_mock};
  KernelBase::set_fallback(kMock, run_on_cpu);
  return upload_kernel.set(kMock, upload) && download_kernel.set(kMock, download);
}();

// The same geometry over a copy of the whole storage.
Tensor moved(const Tensor& tensor, Device device) {
  TensorImpl* impl = tensor.impl();
  Tensor copy = alias(tensor);
  copy.impl()->storage = StorageImpl::make(impl->storage->bytes, device);
  copy.impl()->device = device;
  copy.impl()->own_version = nullptr;
  if (impl->storage->bytes && !device.is_meta()) {
    Opened opened;
    std::memcpy(opened(copy).impl()->storage->data, opened(tensor).impl()->storage->data, impl->storage->bytes);
  }
  return copy;
}

thread_local sigjmp_buf* return_point = nullptr;

void on_fault(int signal, siginfo_t* info, void*) {
  auto* address = static_cast<char*>(info->si_addr);
  bool ours = address >= range() && address < range() + kRange;
  if (ours && return_point) siglongjmp(*return_point, 1);
  if (ours) {
    constexpr char text[] = "mock device: memory was touched outside a kernel, on a thread that nobody guards\n";
    [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
  ::signal(signal, SIG_DFL);  // the access is tried again and ends the program
}

}  // namespace

Tensor on_mock(const Tensor& tensor) { return moved(tensor, Device(kMock)); }
Tensor off_mock(const Tensor& tensor) { return moved(tensor, Device(kCPU)); }
Tensor twin(const Tensor& tensor) { return moved(tensor, tensor.device()); }
int64_t mock_kernel_calls() { return kernel_calls; }

bool touches_mock_memory(const std::function<void()>& f) {
  struct sigaction before {};
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &ours, &before);
  sigjmp_buf here;
  volatile bool touched = true;
  if (sigsetjmp(here, 1) == 0) {
    return_point = &here;
    try {
      f();
    } catch (...) {
      return_point = nullptr;
      sigaction(SIGSEGV, &before, nullptr);
      throw;
    }
    touched = false;
  }
  return_point = nullptr;
  sigaction(SIGSEGV, &before, nullptr);
  return touched;
}

}  // namespace cresset::test
