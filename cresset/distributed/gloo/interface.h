// Which of this machine's addresses to use for talking to the others.
#pragma once

#include <string>

namespace cresset::distributed {

// The numeric address of the interface that CRESSET_SOCKET_IFNAME (or GLOO_SOCKET_IFNAME) names; otherwise of the one
// by which packets to `host` leave: loopback's for a loopback address.
std::string outgoing_address(const std::string& host);

}  // namespace cresset::distributed
