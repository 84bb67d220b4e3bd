#include "endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "coordinator.h"
#include "process.h"

namespace cresset::run {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Addresses look_up(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) throw std::runtime_error("the address of '" + host + "' was not found: " + gai_strerror(error));
  return {found, freeaddrinfo};
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

// Debian gives a machine's own name the address 127.0.1.1, at which no other machine can reach it.
bool own_name_on_loopback(const std::string& host, const sockaddr* address) {
  in_addr v4{};
  in6_addr v6{};
  const bool literal = inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1;
  return !literal && host != "localhost" && is_loopback(address);
}

uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

const char* who_may_be_there(bool several) {
  if (several) return " (another node has --node-rank 0, or an earlier run is still there)";
  return " (perhaps another cresset-run is there: one run over several nodes needs --nnodes N on each of them, a "
         "second "
         "run a port of its own)";
}

// 0, or the errno of one attempt that takes a second at most.
int try_to_connect(const addrinfo& address, int stop) {
  const Descriptor socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.open()) return errno;
  if (connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd polled[] = {{socket.get(), POLLOUT, 0}, {stop, POLLIN, 0}};
  if (poll(polled, 2, 1000) <= 0 || polled[0].revents == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

bool wait_for_store(const Options& options, int stop) {
  const Addresses addresses = look_up(options.host, options.port);
  const Time deadline = Clock::now() + from_seconds(options.rendezvous_timeout);
  for (pollfd polled{stop, POLLIN, 0}; poll(&polled, 1, 0) == 0;) {
    int error = 0;
    for (const addrinfo* entry = addresses.get(); entry != nullptr; entry = entry->ai_next)
      if ((error = try_to_connect(*entry, stop)) == 0) return true;
    if (Clock::now() >= deadline)
      throw std::runtime_error("the first node keeps no store at " + options.host + ":" + std::to_string(options.port) +
                               " after " + std::to_string(static_cast<int>(options.rendezvous_timeout)) +
                               " s: " + std::strerror(error));
    poll(&polled, 1, 100);
  }
  return false;
}

Listening listen_for_store(const Options& options) {
  const bool several = options.max_nodes > 1;
  if (several && options.node_rank > 0) return {-1, options.port, ""};
  const std::string host = options.host.empty() ? "127.0.0.1" : options.host;
  const Addresses addresses = look_up(host, options.port);
  Listening listening;
  listening.port = options.port;
  int error = 0;
  for (addrinfo* entry = addresses.get(); entry != nullptr; entry = entry->ai_next) {
    if (several && own_name_on_loopback(host, entry->ai_addr)) {
      if (entry->ai_family != AF_INET) continue;
      reinterpret_cast<sockaddr_in*>(entry->ai_addr)->sin_addr.s_addr = htonl(INADDR_ANY);
      listening.note = "'" + host + "' is a loopback address here: the store listens on all addresses of this machine";
    }
    Descriptor socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (socket.open() && bind(socket.get(), entry->ai_addr, entry->ai_addrlen) == 0 &&
        listen(socket.get(), 1024) == 0) {
      listening.port = port_of(socket.get());
      listening.fd = socket.release();
      return listening;
    }
    error = errno;
  }
  // Not this machine's address, or taken: by the first node's launcher, one hopes.
  const bool may_join = several && options.node_rank < 0 && (error == EADDRNOTAVAIL || error == EADDRINUSE);
  if (may_join) return {-1, options.port, ""};
  throw std::runtime_error("the store cannot listen on " + host + ":" + std::to_string(options.port) + ": " +
                           std::strerror(error) + (error == EADDRINUSE ? who_may_be_there(several) : ""));
}

}  // namespace cresset::run
