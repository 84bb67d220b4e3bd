// Mapping files.
#include "cresset/io/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cresset::io {

std::string system_reason(int error) { return std::generic_category().message(error); }

Source Source::map(const std::string& path, const char* function) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
  if (file < 0) fault(function, path, system_reason(errno));
  struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  struct stat status {};
  if (::fstat(file, &status) != 0) fault(function, path, system_reason(errno));
  if (!S_ISREG(status.st_mode)) fault(function, path, "not a plain file");
  Source source;
  source.name_ = path;
  source.size_ = static_cast<size_t>(status.st_size);
  source.writable_ = true;
  if (source.size_ == 0) return source;  // an empty mapping is an error of its own
  void* memory = ::mmap(nullptr, source.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) fault(function, path, "cannot be mapped: ", system_reason(errno));
  source.data_ = static_cast<char*>(memory);
  source.owner_ = std::shared_ptr<void>(memory, [size = source.size_](void* mapped) { ::munmap(mapped, size); });
  return source;
}

Source Source::own(std::vector<char> bytes, std::string name) {
  Source source;
  auto held = std::make_shared<std::vector<char>>(std::move(bytes));
  source.data_ = held->data();
  source.size_ = held->size();
  source.writable_ = true;
  source.name_ = std::move(name);
  source.owner_ = std::move(held);
  return source;
}

Source Source::borrow(const void* data, size_t size, std::string name) {
  Source source;
  source.data_ = const_cast<char*>(static_cast<const char*>(data));  // only ever read: shared_data() is null
  source.size_ = size;
  source.name_ = std::move(name);
  return source;
}

}  // namespace cresset::io
