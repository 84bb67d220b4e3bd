// Gloo's TCP context over connections that were made and proved elsewhere (meeting.h). Left to itself, a pair of Gloo's
// listens on a port of its own and takes whoever comes first for its peer.
#pragma once

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>

#include <vector>

#include "cresset/distributed/socket.h"

namespace cresset::distributed {

class PeerContext final : public ::gloo::transport::tcp::Context {
 public:
  PeerContext(std::shared_ptr<::gloo::transport::tcp::Device> device, int rank, int size, Milliseconds timeout);

  // One socket for each rank; the own place is empty. They are Gloo's from then on.
  void adopt(std::vector<Socket> sockets);
  std::unique_ptr<::gloo::transport::Pair>& createPair(int rank) override;
  void close();
};

}  // namespace cresset::distributed
