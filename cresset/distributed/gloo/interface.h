// Which of this machine's addresses to use for talking to the others.
#pragma once

#include <optional>
#include <string>

namespace cresset::distributed {

// The numeric address of the interface that CRESSET_SOCKET_IFNAME (or GLOO_SOCKET_IFNAME) names; otherwise of the one
// by which packets to `host` leave: loopback's for a loopback address.
std::string outgoing_address(const std::string& host);

// Debian gives a machine's own name the address 127.0.1.1, at which no other machine finds it. For such a name, which
// is then this machine's: an address of it that others may know. Nothing for every other host.
std::optional<std::string> address_behind_own_name(const std::string& host);

}  // namespace cresset::distributed
