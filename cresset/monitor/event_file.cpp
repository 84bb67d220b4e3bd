// Frames for records; io::AppendFile writes them. A reader may look at the file at any time, and ignores a last record
// that is not whole.
#include "cresset/monitor/event_file.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "cresset/core/error.h"
#include "cresset/io/atomic_file.h"
#include "cresset/io/checksum.h"

namespace cresset::monitor {
namespace {

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

std::string path_in(const std::string& folder, const std::string& suffix) {
  static std::atomic<unsigned> count{0};
  io::make_folders(folder);
  char time[16];
  std::snprintf(time, sizeof time, "%010lld", static_cast<long long>(wall_time()));
  return folder + "/events.out.tfevents." + time + "." + host_name() + "." + std::to_string(::getpid()) + "." +
         std::to_string(count++) + suffix;
}

std::chrono::milliseconds patience_of(double seconds) {
  CRESSET_CHECK_AS(ValueError, seconds >= 0 && seconds <= 86400, "SummaryWriter: found flush_secs ", seconds,
                   " (expected 0 to 86400)");
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

}  // namespace

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(const std::string& folder, const EventFileOptions& options)
    : file_("SummaryWriter", path_in(folder, options.suffix), patience_of(options.flush_secs)) {
  record(Message().real(1, wall_time()).text(3, "brain.Event:2").bytes());
  // A session that starts at a step: TensorBoard hides what earlier files of the folder hold from that step on.
  if (options.purge_step) {
    constexpr int64_t kStart = 1;
    add(Message().message(7, Message().integer(1, kStart)), *options.purge_step, wall_time());
  }
  flush();
}

void EventFile::record(const std::string& data) {
  const std::string length = raw(uint64_t{data.size()});
  file_.add(length + raw(masked_crc(length)) + data + raw(masked_crc(data)));
}

void EventFile::add(const Message& event, int64_t step, double time) {
  Message whole;
  whole.real(1, time).integer(2, step);
  record(whole.bytes() + event.bytes());
}

}  // namespace cresset::monitor
