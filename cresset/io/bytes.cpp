// Reading and mapping files.
#include "cresset/io/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace cresset::io {

std::string system_reason(int error) { return std::generic_category().message(error); }

ReadFile::ReadFile(const std::string& path, const char* function) : function_(function), name_(path) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe would wait for its writer
  if (file_ < 0) fault(function, path, system_reason(errno));
  struct stat status {};
  const bool known = ::fstat(file_, &status) == 0, plain = known && S_ISREG(status.st_mode);
  if (!plain) {
    const int error = errno;
    ::close(file_);
    fault(function, path, known ? "not a plain file" : system_reason(error));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

ReadFile::~ReadFile() { ::close(file_); }

void ReadFile::read(uint64_t offset, void* out, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file_, static_cast<char*>(out) + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fault(function_, name_, "cannot be read at byte ", offset + done, ": ", system_reason(errno));
    if (got == 0)
      fault(function_, name_, "ends at byte ", offset + done, " (expected ", size_,
            " bytes: it was cut off while it was read)");
    done += static_cast<size_t>(got);
  }
}

Source Source::map(const std::string& path, const char* function) {
  const ReadFile file(path, function);
  Source source;
  source.name_ = path;
  source.size_ = static_cast<size_t>(file.size());
  source.writable_ = true;
  if (source.size_ == 0) return source;  // an empty mapping is an error of its own
  void* memory =
      ::mmap(nullptr, source.size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.descriptor(), 0);
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
