// What workers print, line by line under their prefix. A Console is one stream of the launcher, written by a thread of
// its own: a reader that pauses (a pager) holds back the workers, never the supervision. A LineStream is one stream of
// one worker.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "process.h"

namespace cresset::run {

class Console {
 public:
  // `wake` (an eventfd) is written to when a full console has room again, and when it has become empty.
  Console(int fd, int wake);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void write(std::string text);  // whole lines
  bool full() const;             // read no more from the workers until the wake
  bool empty() const;
  bool coloured() const { return coloured_; }

 private:
  void run();

  const int fd_, wake_;
  bool coloured_ = false;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> waiting_;
  size_t bytes_ = 0;  // waiting or being written
  bool was_full_ = false, closing_ = false, gone_ = false;
  std::thread thread_;
};

class LineStream {
 public:
  // Null console: not shown. Negative log: not logged.
  LineStream(Descriptor source, Console* console, std::string prefix, Descriptor log);

  int fd() const { return source_.get(); }
  bool open() const { return source_.open(); }
  bool held_back() const { return console_ != nullptr && console_->full(); }

  void read_some();  // one read; closes at the end of the stream
  // Reads what the pipe still holds, hands on a last line without its newline, and closes.
  void finish();
  // The end of what was read.
  std::string last_lines(size_t count) const;

 private:
  bool read_once();
  void take(std::string_view data);
  void hand_on(std::string_view lines);

  Descriptor source_;
  Console* console_;
  std::string prefix_;
  Descriptor log_;
  std::string partial_;  // of a line that has not ended
  std::string tail_;
};

}  // namespace cresset::run
