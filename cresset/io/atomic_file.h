// A file that appears whole or not at all: it is written beside its name, flushed to the disk, and renamed. Whatever
// goes wrong on the way (a full disk, an exception, a crash) leaves the file that was there before.
#pragma once

#include "cresset/io/bytes.h"

namespace cresset::io {

class CRESSET_API AtomicFile : public Sink {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;  // without commit(): the temporary file is removed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void commit();
  const std::string& temporary_path() const { return temporary_; }

 private:
  void put(const char* data, size_t size) override;
  void flush();
  [[noreturn]] void failed(const char* doing, int error);

  std::string path_, temporary_;
  int file_ = -1;
  std::vector<char> buffer_;
};

// A folder and those above it; one that is there already is fine.
CRESSET_API void make_folders(const std::string& path);

// The whole of a small file at once.
CRESSET_API void write_text_file(const std::string& path, std::string_view content);

}  // namespace cresset::io
