// Writing beside, flushing, renaming.
#include "cresset/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace cresset::io {
namespace {

constexpr size_t kBuffer = size_t{1} << 16;

// A link stays a link: what it points to is replaced.
std::string target_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved) return path;
  std::string target = resolved;
  std::free(resolved);
  return target;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(target_of(path)) {
  static std::atomic<unsigned> count{0};
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    fault("save", path_, S_ISDIR(status.st_mode) ? "is a folder" : "is not a plain file", " (expected a file's name)");
  temporary_ = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fault("save", path_, "cannot be written: ", system_reason(errno));
  buffer_.reserve(kBuffer);
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::failed(const char* doing, int error) {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  ::unlink(temporary_.c_str());
  fault("save", path_, doing, " failed: ", system_reason(error));
}

static int write_all(int file, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    data += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

void AtomicFile::flush() {
  if (const int error = write_all(file_, buffer_.data(), buffer_.size())) failed("writing", error);
  buffer_.clear();
}

void AtomicFile::put(const char* data, size_t size) {
  if (file_ < 0) fault("save", path_, "written to after it was closed");
  if (buffer_.size() + size > kBuffer) flush();
  if (size < kBuffer)
    buffer_.insert(buffer_.end(), data, data + size);
  else if (const int error = write_all(file_, data, size))
    failed("writing", error);
}

void AtomicFile::commit() {
  if (file_ < 0) fault("save", path_, "committed twice, or after it failed");
  flush();
  if (::fsync(file_) != 0) failed("flushing to the disk", errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) failed("closing", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) failed("renaming", errno);
  // The name itself must reach the disk. Some file systems cannot flush a folder, which is no fault of the file's.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (!part.empty() && ::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      fault("save", part, "no folder can be made: ", system_reason(errno));
    if (end == std::string::npos) return;
  }
}

void write_text_file(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace cresset::io
