// A connected UDP socket sends nothing, but the kernel chooses its route and with it the address.
#include "cresset/distributed/gloo/interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "cresset/core/error.h"

namespace cresset::distributed {
namespace {

std::string numeric(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST];
  if (getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text;
}

std::string address_of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  CRESSET_CHECK_AS(DistributedError, getifaddrs(&list) == 0, "init_process_group: cannot list the network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(list, freeifaddrs);
  std::string seen, ipv6;
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    if (name == entry->ifa_name) {
      if (family == AF_INET) return numeric(entry->ifa_addr, sizeof(sockaddr_in));
      if (ipv6.empty()) ipv6 = numeric(entry->ifa_addr, sizeof(sockaddr_in6));
    } else if (family == AF_INET) {
      seen += (seen.empty() ? "" : ", ") + std::string(entry->ifa_name);
    }
  }
  CRESSET_CHECK_AS(DistributedError, !ipv6.empty(), "init_process_group: there is no network interface ", name,
                   " with an address (CRESSET_SOCKET_IFNAME; others: ", seen, ")");
  return ipv6;
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == 127;
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

bool is_literal(const std::string& host) {
  in6_addr bytes{};
  return inet_pton(AF_INET, host.c_str(), &bytes) == 1 || inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

}  // namespace

std::optional<std::string> address_behind_own_name(const std::string& host) {
  if (host.empty() || host == "localhost" || is_literal(host)) return {};
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return {};  // whoever needs it says so
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  for (const addrinfo* entry = found; entry; entry = entry->ai_next)
    if (!is_loopback(entry->ai_addr)) return {};
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces(list, freeifaddrs);
  for (const ifaddrs* entry = list; entry; entry = entry->ifa_next)
    if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET && (entry->ifa_flags & IFF_RUNNING) != 0 &&
        !is_loopback(entry->ifa_addr))
      return numeric(entry->ifa_addr, sizeof(sockaddr_in));
  return {};
}

std::string outgoing_address(const std::string& host) {
  for (const char* variable : {"CRESSET_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
    const char* name = std::getenv(variable);
    if (name && *name) return address_of_interface(name);
  }
  if (host.empty()) return "127.0.0.1";
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_DGRAM;
  const int status = getaddrinfo(host.c_str(), "9", &wanted, &found);
  CRESSET_CHECK_AS(DistributedError, status == 0, "init_process_group: cannot resolve the host ", host, ": ",
                   gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, freeaddrinfo);
  for (const addrinfo* entry = found; entry; entry = entry->ai_next) {
    const int fd = socket(entry->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    sockaddr_storage self{};
    socklen_t length = sizeof self;
    const bool routed = connect(fd, entry->ai_addr, entry->ai_addrlen) == 0 &&
                        getsockname(fd, reinterpret_cast<sockaddr*>(&self), &length) == 0;
    close(fd);
    if (routed) return numeric(reinterpret_cast<sockaddr*>(&self), length);
  }
  throw DistributedError("init_process_group: there is no route to the host " + host);
}

}  // namespace cresset::distributed
