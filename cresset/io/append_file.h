// AppendFile: a log that grows while others read it. Records are gathered in memory and written together, at the latest
// `patience` after the first of them: a program that is killed loses what it wrote in that time, no more.
//
// One thread for all files of the process sleeps until the next one is due; it exists only once something was gathered.
// What is left is written when the program ends by exit() or by returning from main, and before it forks. A forked
// child goes on with the same file.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "cresset/core/export.h"

namespace cresset::io {

class CRESSET_API AppendFile {
 public:
  // `function` stands in front of errors. With no patience every record is written at once.
  AppendFile(const char* function, std::string path, std::chrono::milliseconds patience);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  // From any thread. A record is in the file as a whole, beside those of other threads and of forked processes. Throws
  // what went wrong in the background, once.
  void add(std::string_view record);
  void flush();
  void close();  // flushes; throws what went wrong, and is closed all the same
  const std::string& path() const;

  // Everything that any file has gathered. Errors stay with their file.
  static void flush_all() noexcept;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace cresset::io
