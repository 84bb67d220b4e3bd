#include "cresset/distributed/gloo/peer_context.h"

#include <gloo/transport/tcp/pair.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace cresset::distributed {
namespace {

namespace tcp = ::gloo::transport::tcp;

// Holds the device's thread while it lives. A pair begins to listen in its base's constructor, before it is one of
// ours: no event may reach it until its listener is closed.
class HeldDevice final : public tcp::Handler {
 public:
  explicit HeldDevice(tcp::Device& device) : device_(device), event_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CRESSET_CHECK_AS(DistributedError, event_, "init_process_group: no descriptor is free");
    device_.registerDescriptor(event_.get(), EPOLLIN, this);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_; });
  }
  ~HeldDevice() override {
    {
      const std::lock_guard lock(mutex_);
      released_ = true;
      changed_.notify_all();
    }
    device_.unregisterDescriptor(event_.get(), this);
  }
  HeldDevice(const HeldDevice&) = delete;
  HeldDevice& operator=(const HeldDevice&) = delete;

  void handleEvents(int) override {
    std::unique_lock lock(mutex_);
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_; });
  }

 private:
  tcp::Device& device_;
  OwnedFd event_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false, released_ = false;
};

// To be made, and given its connection, while the device is held.
class PeerPair final : public tcp::Pair {
 public:
  PeerPair(tcp::Context* context, tcp::Device* device, int rank, std::chrono::milliseconds timeout)
      : Pair(context, device, rank, timeout) {
    const std::lock_guard lock(m_);
    // What was compiled from Gloo's headers is about to be used on what its library made.
    int is_listening = 0;
    socklen_t bytes = sizeof is_listening;
    CRESSET_CHECK_AS(DistributedError,
                     context_ == context && device_ == device && rank_ == rank && state_ == LISTENING &&
                         ::getsockopt(fd_, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &bytes) == 0 && is_listening,
                     "init_process_group: the library of Gloo is not of its headers' version");
    ::close(fd_);  // which ends the device's interest in it, too
    fd_ = -1;
    state_ = INITIALIZING;
  }
  ~PeerPair() override {
    // Before this class is gone, so that no event finds half of it.
    const std::lock_guard lock(m_);
    if (state_ != CLOSED) Pair::changeState(CLOSED);
  }
  PeerPair(const PeerPair&) = delete;
  PeerPair& operator=(const PeerPair&) = delete;

  void adopt(int fd) {
    const std::lock_guard lock(m_);
    fd_ = fd;
    handleConnected();
    is_adopted_ = true;
  }

  // Somebody may have knocked at the listener while it was open.
  void handleEvents(int events) override {
    if (is_adopted_) Pair::handleEvents(events);
  }

 private:
  [[maybe_unused]] char room_[256];  // in case the library's pair is larger than its headers say (missing/)
  std::atomic<bool> is_adopted_{false};
};

}  // namespace

PeerContext::PeerContext(std::shared_ptr<tcp::Device> device, int rank, int size, Milliseconds timeout)
    : Context(std::move(device), rank, size) {
  setTimeout(timeout);
}

std::unique_ptr<::gloo::transport::Pair>& PeerContext::createPair(int rank) {
  auto& place = pairs_[static_cast<size_t>(rank)];
  place = std::make_unique<PeerPair>(this, device_.get(), rank, getTimeout());
  return place;
}

void PeerContext::adopt(std::vector<Socket> sockets) {
  if (sockets.size() < 2) return;
  const HeldDevice held(*device_);
  for (size_t peer = 0; peer < sockets.size(); peer++) {
    if (!sockets[peer]) continue;
    auto& pair = static_cast<PeerPair&>(*createPair(static_cast<int>(peer)));
    pair.adopt(sockets[peer].release());
  }
}

void PeerContext::close() {
  for (const auto& pair : pairs_)
    if (pair) pair->close();
}

}  // namespace cresset::distributed
