// Socket: a TCP socket that never blocks and never raises SIGPIPE. What waits has a deadline, and errors name the peer.
#pragma once

#include <string>

#include "cresset/distributed/owned_fd.h"
#include "cresset/distributed/store_table.h"

namespace cresset::distributed {

class CRESSET_API SocketError : public DistributedError {
 public:
  enum class Kind { kTimeout, kClosed, kFailed };
  SocketError(Kind kind, std::string message) : DistributedError(std::move(message)), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

class CRESSET_API Socket {
 public:
  Socket() = default;
  // Takes the descriptor over. `peer` stands in the messages: "127.0.0.1:4242".
  Socket(int fd, std::string peer);

  explicit operator bool() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  const std::string& peer() const { return peer_; }
  void close() { fd_.close(); }
  // For whoever takes the connection over.
  int release() { return fd_.release(); }

  // All bytes by the deadline, or a SocketError that names the peer.
  void read_exactly(void* data, size_t bytes, TimePoint deadline);
  void write_exactly(const void* data, size_t bytes, TimePoint deadline);
  // What goes without waiting; 0: nothing now. A closed or broken connection is a SocketError.
  size_t read_some(void* data, size_t bytes);
  size_t write_some(const void* data, size_t bytes);

  // The next connection, or an empty socket when none waits (or no descriptor is left for it).
  Socket accept();
  // Notices within half a minute that the other machine is gone, and sends small messages at once.
  void watch_peer();
  std::string local_host() const;
  uint16_t local_port() const;

 private:
  OwnedFd fd_;
  std::string peer_;
};

// "127.0.0.1:4242", "[::1]:4242"
CRESSET_API std::string host_and_port(const std::string& host, uint16_t port);

// One attempt; throws SocketError ("connection refused", ...).
CRESSET_API Socket connect_to(const std::string& host, uint16_t port, TimePoint deadline);
// Only begins it, at a numeric address: when the socket can be written to, check_connected says how it went.
CRESSET_API Socket begin_connecting(const std::string& host, uint16_t port);
CRESSET_API void check_connected(const Socket& socket);
// Port 0 takes a free one.
CRESSET_API Socket listen_on(const std::string& host, uint16_t port);

}  // namespace cresset::distributed
