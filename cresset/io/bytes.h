// Where readers take bytes from and where writers put them. A Source is a whole file or buffer, with the name that
// errors give it; tensors made over its memory keep it alive through `owner`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cresset/core/error.h"

namespace cresset::io {

class CRESSET_API Source {
 public:
  // A private mapping: writing to the memory changes no file. A file that is truncated while it is mapped is a SIGBUS
  // at the next look at what is gone, which no error can be made of. Errors name the function that wants it.
  static Source map(const std::string& path, const char* function = "load");
  static Source own(std::vector<char> bytes, std::string name);
  static Source borrow(const void* data, size_t size, std::string name);

  const char* data() const { return data_; }
  // For tensors that share a mapping; a borrowed source has none.
  char* shared_data() const { return writable_ ? data_ : nullptr; }
  size_t size() const { return size_; }
  const std::string& name() const { return name_; }
  const std::shared_ptr<void>& owner() const { return owner_; }
  std::string_view text() const { return {data_, size_}; }

  // True if [offset, offset + length) lies inside; never overflows.
  bool holds(uint64_t offset, uint64_t length) const { return offset <= size_ && length <= size_ - offset; }
  // A little-endian integer; the caller has asked holds().
  template <class Integer>
  Integer at(uint64_t offset) const {
    Integer value;
    std::memcpy(&value, data_ + offset, sizeof value);
    return value;
  }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
  bool writable_ = false;
  std::string name_;
  std::shared_ptr<void> owner_;
};

// A file that is read piece by piece. It may change meanwhile: what is missing is an error.
class CRESSET_API ReadFile {
 public:
  explicit ReadFile(const std::string& path, const char* function = "load");
  ~ReadFile();
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  uint64_t size() const { return size_; }  // when it was opened
  const std::string& name() const { return name_; }
  void read(uint64_t offset, void* out, size_t size) const;
  int descriptor() const { return file_; }

 private:
  const char* function_;
  std::string name_;
  int file_ = -1;
  uint64_t size_ = 0;
};

class CRESSET_API Sink {
 public:
  virtual ~Sink() = default;
  void write(const void* data, size_t size) {
    put(static_cast<const char*>(data), size);
    position_ += size;
  }
  void write(std::string_view text) { write(text.data(), text.size()); }
  uint64_t position() const { return position_; }

 protected:
  virtual void put(const char* data, size_t size) = 0;

 private:
  uint64_t position_ = 0;
};

class CRESSET_API MemorySink : public Sink {
 public:
  explicit MemorySink(std::vector<char>& out) : out_(out) {}

 private:
  void put(const char* data, size_t size) override { out_.insert(out_.end(), data, data + size); }
  std::vector<char>& out_;
};

// Every fault of a file reads the same: "load_pt: model.pt: what was found".
template <class... Args>
[[noreturn, gnu::noinline, gnu::cold]] void fault(const char* function, const std::string& file, const Args&... what) {
  throw IoError(message_of(function, ": ", file, ": ", what...));
}

// The reason of a failed system call, as in "No space left on device".
CRESSET_API std::string system_reason(int error);

}  // namespace cresset::io
