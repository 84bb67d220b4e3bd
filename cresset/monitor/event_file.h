// TensorBoard's event files: Event messages in TFRecord frames, each with masked CRC-32Cs.
#pragma once

#include <optional>
#include <string>

#include "cresset/io/append_file.h"
#include "cresset/monitor/proto.h"

namespace cresset::monitor {

double wall_time();  // seconds since 1970

struct EventFileOptions {
  std::string suffix;
  double flush_secs = 2;
  std::optional<int64_t> purge_step;
};

// May be used from several threads.
class EventFile {
 public:
  explicit EventFile(const std::string& folder, const EventFileOptions& options = {});

  // `event` lacks its time and step.
  void add(const Message& event, int64_t step, double time);
  void flush() { file_.flush(); }
  void close() { file_.close(); }
  const std::string& path() const { return file_.path(); }

 private:
  void record(const std::string& data);

  io::AppendFile file_;
};

}  // namespace cresset::monitor
