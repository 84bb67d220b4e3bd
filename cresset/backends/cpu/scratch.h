// Memory for one call of a kernel, from the allocator's cache, given back at the end. Its numbers are not set.
#pragma once

#include <cstdint>
#include <cstring>

#include "cresset/core/allocator.h"

namespace cresset::cpu {

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(T)), data_(bytes_ ? static_cast<T*>(allocate(bytes_)) : nullptr) {}
  ~Scratch() {
    if (data_) deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() const { return data_; }
  void zero() const {
    if (data_) std::memset(data_, 0, bytes_);
  }

 private:
  size_t bytes_;
  T* data_;
};

}  // namespace cresset::cpu
