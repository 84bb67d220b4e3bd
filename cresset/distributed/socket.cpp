#include "cresset/distributed/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <system_error>

namespace cresset::distributed {

namespace {

using Kind = SocketError::Kind;

std::string reason(int error) {
  std::string text = std::generic_category().message(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

[[noreturn]] void fail(const std::string& peer, const char* what, int error) {
  const bool is_closed = error == ECONNRESET || error == EPIPE;
  throw SocketError(is_closed ? Kind::kClosed : Kind::kFailed, message_of(peer, ": ", what, ": ", reason(error)));
}

// Waits until the socket can be read or written.
void wait_ready(const Socket& socket, short events, TimePoint deadline) {
  for (;;) {
    pollfd entry{socket.fd(), events, 0};
    const auto left = std::min(left_until(deadline), Milliseconds(std::chrono::hours(24)));
    const int count = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (count > 0) return;
    if (count < 0 && errno != EINTR) fail(socket.peer(), "poll", errno);
    if (left_until(deadline) == Milliseconds(0)) {
      throw SocketError(Kind::kTimeout, message_of(socket.peer(), ": no answer in time"));
    }
  }
}

struct Addresses {
  Addresses(const std::string& host, uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
    if (error != 0) {
      throw SocketError(Kind::kFailed, message_of(host_and_port(host, port),
                                                  ": the host's address was not found: ", ::gai_strerror(error)));
    }
  }
  ~Addresses() { ::freeaddrinfo(first); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  addrinfo* first = nullptr;
};

Socket open_socket(const addrinfo& address, const std::string& peer) {
  const int fd = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (fd < 0) fail(peer, "socket", errno);
  return {fd, peer};
}

void set_option(int fd, int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof value); }

// A client that tries a free port again and again may at last be given the same port for itself, and hear its own
// voice.
bool is_connected_to_itself(int fd) {
  sockaddr_storage here{}, there{};
  socklen_t here_bytes = sizeof here, there_bytes = sizeof there;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_bytes) != 0) return false;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_bytes) != 0) return false;
  const auto* a = reinterpret_cast<const char*>(&here);
  const auto* b = reinterpret_cast<const char*>(&there);
  return here_bytes == there_bytes && std::equal(a, a + here_bytes, b);
}

// True when it is made already.
bool begin(const Socket& socket, const addrinfo& address) {
  if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS && errno != EINTR) fail(socket.peer(), "connect", errno);
  return false;
}

void finish_connecting(const Socket& socket, const addrinfo& address, TimePoint deadline) {
  if (!begin(socket, address)) wait_ready(socket, POLLOUT, deadline);
  check_connected(socket);
}

}  // namespace

std::string host_and_port(const std::string& host, uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Socket::Socket(int fd, std::string peer) : fd_(fd), peer_(std::move(peer)) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

size_t Socket::read_some(void* data, size_t bytes) {
  const ssize_t count = ::recv(fd(), data, bytes, 0);
  if (count > 0) return static_cast<size_t>(count);
  if (count == 0) throw SocketError(Kind::kClosed, message_of(peer_, ": the connection was closed"));
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) fail(peer_, "receive", errno);
  return 0;
}

size_t Socket::write_some(const void* data, size_t bytes) {
  const ssize_t count = ::send(fd(), data, bytes, MSG_NOSIGNAL);
  if (count >= 0) return static_cast<size_t>(count);
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) fail(peer_, "send", errno);
  return 0;
}

void Socket::read_exactly(void* data, size_t bytes, TimePoint deadline) {
  for (auto* at = static_cast<char*>(data); bytes > 0;) {
    const size_t count = read_some(at, bytes);
    at += count, bytes -= count;
    if (count == 0) wait_ready(*this, POLLIN, deadline);
  }
}

void Socket::write_exactly(const void* data, size_t bytes, TimePoint deadline) {
  for (const auto* at = static_cast<const char*>(data); bytes > 0;) {
    const size_t count = write_some(at, bytes);
    at += count, bytes -= count;
    if (count == 0) wait_ready(*this, POLLOUT, deadline);
  }
}

Socket Socket::accept() {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  const int accepted = ::accept4(fd(), reinterpret_cast<sockaddr*>(&address), &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) return {};
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), bytes, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return {accepted, message_of(host, ":", port)};
}

void Socket::watch_peer() {
  set_option(fd(), IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd(), IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd(), IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd(), IPPROTO_TCP, TCP_KEEPCNT, 3);
  // Keepalive rests while data is on its way, and that alone would be repeated for a quarter of an hour.
  set_option(fd(), IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

std::string Socket::local_host() const {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  char host[NI_MAXHOST] = "";
  if (::getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) fail(peer_, "getsockname", errno);
  ::getnameinfo(reinterpret_cast<sockaddr*>(&address), bytes, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

uint16_t Socket::local_port() const {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (::getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) fail(peer_, "getsockname", errno);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Socket connect_to(const std::string& host, uint16_t port, TimePoint deadline) {
  const std::string peer = host_and_port(host, port);
  const Addresses addresses(host, port, 0);
  for (const addrinfo* address = addresses.first;; address = address->ai_next) {
    try {
      Socket socket = open_socket(*address, peer);
      finish_connecting(socket, *address, deadline);
      socket.watch_peer();
      return socket;
    } catch (const SocketError&) {
      if (!address->ai_next) throw;
    }
  }
}

Socket begin_connecting(const std::string& host, uint16_t port) {
  const Addresses addresses(host, port, AI_NUMERICHOST);
  Socket socket = open_socket(*addresses.first, host_and_port(host, port));
  begin(socket, *addresses.first);
  return socket;
}

void check_connected(const Socket& socket) {
  int error = 0;
  socklen_t bytes = sizeof error;
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &bytes);
  if (error != 0) fail(socket.peer(), "connect", error);
  if (is_connected_to_itself(socket.fd())) fail(socket.peer(), "connect", ECONNREFUSED);
}

Socket listen_on(const std::string& host, uint16_t port) {
  const std::string here = host_and_port(host, port);
  const Addresses addresses(host, port, AI_PASSIVE);
  for (const addrinfo* address = addresses.first;; address = address->ai_next) {
    try {
      Socket socket = open_socket(*address, here);
      set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
      if (::bind(socket.fd(), address->ai_addr, address->ai_addrlen) != 0 || ::listen(socket.fd(), SOMAXCONN) != 0) {
        if (errno == EADDRINUSE) {
          throw SocketError(Kind::kFailed, message_of("port ", port, " of ", host, " is in use already"));
        }
        fail(here, "listen", errno);
      }
      return socket;
    } catch (const SocketError&) {
      if (!address->ai_next) throw;
    }
  }
}

}  // namespace cresset::distributed
