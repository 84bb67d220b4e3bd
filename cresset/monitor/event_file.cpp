// Buffered appending: a reader may look at the file at any time, and ignores a last record that is not whole.
#include "cresset/monitor/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "cresset/io/atomic_file.h"
#include "cresset/io/checksum.h"

namespace cresset::monitor {
namespace {

constexpr size_t kBuffer = size_t{1} << 16;

uint32_t masked_crc(const std::string& data) {
  const uint32_t crc = io::crc32c(data.data(), data.size());
  return (crc >> 15 | crc << 17) + 0xA282EAD8;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

template <class Integer>
std::string raw(Integer value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(const std::string& folder, const std::string& suffix) {
  static std::atomic<unsigned> count{0};
  io::make_folders(folder);
  char time[16];
  std::snprintf(time, sizeof time, "%010lld", static_cast<long long>(wall_time()));
  path_ = folder + "/events.out.tfevents." + time + "." + host_name() + "." + std::to_string(::getpid()) + "." +
          std::to_string(count++) + suffix;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) io::fault("SummaryWriter", path_, "cannot be written: ", io::system_reason(errno));
  record(Message().real(1, wall_time()).text(3, "brain.Event:2").bytes());
  flush();
}

EventFile::~EventFile() {
  try {
    close();
  } catch (...) {  // a destructor has nobody to tell; flush() and close() do
  }
}

void EventFile::record(const std::string& data) {
  if (file_ < 0) io::fault("SummaryWriter", path_, "written to after it was closed");
  const std::string length = raw(uint64_t{data.size()});
  buffer_ += length;
  buffer_ += raw(masked_crc(length));
  buffer_ += data;
  buffer_ += raw(masked_crc(data));
  if (buffer_.size() >= kBuffer) flush();
}

void EventFile::add(const Message& event, int64_t step, double time) {
  Message whole;
  whole.real(1, time).integer(2, step);
  record(whole.bytes() + event.bytes());
}

void EventFile::flush() {
  size_t at = 0;
  while (file_ >= 0 && at < buffer_.size()) {
    const ssize_t written = ::write(file_, buffer_.data() + at, buffer_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      buffer_.clear();  // half a record is in the file; more of it would not help
      io::fault("SummaryWriter", path_, "writing failed: ", io::system_reason(error));
    }
    at += static_cast<size_t>(written);
  }
  buffer_.clear();
}

void EventFile::close() {
  if (file_ < 0) return;
  struct Closer {
    int& file;
    ~Closer() {
      ::close(file);
      file = -1;
    }
  } closer{file_};
  flush();
}

}  // namespace cresset::monitor
