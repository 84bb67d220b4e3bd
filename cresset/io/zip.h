// Zip archives, as far as .pt and .npz files use them: stored entries written, stored and deflated ones read, zip64
// where sizes need it.
#pragma once

#include <unordered_map>

#include "cresset/io/bytes.h"
#include "cresset/io/unpack_limits.h"

namespace cresset::io {

class CRESSET_API ZipReader {
 public:
  struct Entry {
    std::string name;
    uint64_t offset = 0;  // of the data
    uint64_t stored_size = 0, size = 0;
    uint32_t crc = 0;
    bool deflated = false;
  };
  // `function` names the reader in errors. Checks the whole directory, no data. `limits` is what all deflated entries
  // may grow to together.
  ZipReader(const char* function, Source source, const UnpackLimits& limits = {});

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  const Entry& at(const std::string& name) const;
  // Into memory of entry.size bytes; checks the entry's CRC.
  void read(const Entry& entry, char* out);
  std::vector<char> read(const Entry& entry);
  const Source& source() const { return source_; }

 private:
  struct Directory {
    uint64_t offset, size, count;
  };
  Directory find_directory() const;
  void read_directory(const Directory& directory);
  void place_data(Entry& entry, uint64_t header, uint64_t directory);
  void check_overlap() const;
  void check_growth(const Entry& entry) const;
  [[noreturn]] void broken(const std::string& what) const;

  const char* function_;
  Source source_;
  UnpackLimits limits_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;
  uint64_t inflated_ = 0;
};

class CRESSET_API ZipWriter {
 public:
  // Sizes and counts of more than `limit` are written as zip64; tests lower it.
  explicit ZipWriter(Sink& sink, uint64_t limit = 0xFFFFFFFE);

  // Data begins at a multiple of `alignment`, padded the way PyTorch pads.
  void add(const std::string& name, const void* data, size_t size, size_t alignment = 1);
  void add_text(const std::string& name, std::string_view text, size_t alignment = 1) {
    add(name, text.data(), text.size(), alignment);
  }
  // The directory. `comment_size` bytes of a comment are announced, for the caller to write.
  void finish(uint16_t comment_size = 0);

 private:
  struct Written {
    std::string name;
    uint64_t header, size;
    uint32_t crc;
  };
  Sink& sink_;
  uint64_t limit_;
  std::vector<Written> written_;
};

}  // namespace cresset::io
