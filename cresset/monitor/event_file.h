// TensorBoard's event files: Event messages in TFRecord frames, each with masked CRC-32Cs.
#pragma once

#include <memory>
#include <string>

#include "cresset/monitor/proto.h"

namespace cresset::monitor {

double wall_time();  // seconds since 1970

class EventFile {
 public:
  explicit EventFile(const std::string& folder, const std::string& suffix = "");
  ~EventFile();
  EventFile(const EventFile&) = delete;

  // `event` lacks its time and step.
  void add(const Message& event, int64_t step, double time);
  void flush();
  void close();
  const std::string& path() const { return path_; }

 private:
  void record(const std::string& data);

  std::string path_, buffer_;
  int file_ = -1;
};

}  // namespace cresset::monitor
