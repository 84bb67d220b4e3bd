// Bytes over Gloo's TCP connections: a full mesh of unbound buffers. Gloo's own timeouts break a context, so its waits
// have no limit here and are cut off by interrupt(). The connections are made and proved by Meeting.
#pragma once

#include <functional>

#include "cresset/distributed/store.h"
#include "cresset/distributed/transport.h"

namespace cresset::distributed {

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::vector<int> ranks;        // in the world, for messages
  std::shared_ptr<Store> store;  // where the ranks leave their addresses, under names of this group's own
  std::string token;             // a secret that the ranks share; may be empty
  std::string group;             // generation and name: what proves a rank here is of no use elsewhere
  std::string master;            // the traffic leaves by the interface that leads to this host
  Milliseconds timeout = kDefaultTimeout;
  std::function<void()> check;  // called while waiting for the others; throws when it is in vain
};

std::shared_ptr<Transport> connect_gloo(const GlooOptions& options);

}  // namespace cresset::distributed
