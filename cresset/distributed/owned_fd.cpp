#include "cresset/distributed/owned_fd.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace cresset::distributed {

namespace {

// Never destroyed: descriptors in static objects are closed after it would be.
struct OwnedFds {
  std::mutex mutex;
  std::set<int> fds;

  static OwnedFds& instance() {
    static OwnedFds* const all = [] {
      pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                     [] {
                       instance().replace();
                       instance().mutex.unlock();
                     });
      return new OwnedFds;
    }();
    return *all;
  }

  // In the child. The numbers stay taken, so that closing them later closes nobody else's file.
  void replace() const {
    if (fds.empty()) return;
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : fds) {
      if (nothing < 0 || ::dup3(nothing, fd, O_CLOEXEC) < 0) ::close(fd);
    }
    if (nothing >= 0) ::close(nothing);
  }
};

}  // namespace

OwnedFd::OwnedFd(int fd) : fd_(fd) {
  if (fd < 0) return;
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  auto& all = OwnedFds::instance();
  const std::lock_guard lock(all.mutex);
  all.fds.insert(fd);
}

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  return *this;
}

void OwnedFd::close() {
  if (fd_ < 0) return;
  auto& all = OwnedFds::instance();
  const std::lock_guard lock(all.mutex);
  all.fds.erase(fd_);
  ::close(fd_);
  fd_ = -1;
}

int OwnedFd::release() {
  auto& all = OwnedFds::instance();
  const std::lock_guard lock(all.mutex);
  all.fds.erase(fd_);
  return std::exchange(fd_, -1);
}

}  // namespace cresset::distributed
