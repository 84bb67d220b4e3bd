// A port for a server that a test starts later. It lies below those that the kernel gives out by itself: between the
// look and the use, no connection of another program may get it by chance.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>

namespace cresset::testing {

inline uint16_t free_port() {
  constexpr uint16_t kFirst = 20'000, kEnd = 32'000;
  std::random_device random;
  while (true) {
    const auto port = static_cast<uint16_t>(kFirst + random() % (kEnd - kFirst));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (is_free) return port;
  }
}

}  // namespace cresset::testing
