// OwnedFd: a descriptor that belongs to this process alone. It closes itself, is not passed on to programs, and in a
// forked child it is replaced by /dev/null: a connection or a lock must end when its owner does, not when the last of
// the owner's children has gone.
#pragma once

#include <utility>

#include "cresset/core/export.h"

namespace cresset::distributed {

class CRESSET_API OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd);
  ~OwnedFd() { close(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void close();
  // The caller's from now on; it stays with this process when programs are started, but not when it forks.
  int release();

 private:
  int fd_ = -1;
};

}  // namespace cresset::distributed
