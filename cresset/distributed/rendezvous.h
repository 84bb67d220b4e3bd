// How the processes find their store.
#pragma once

#include <functional>

#include "cresset/distributed/collectives.h"

namespace cresset::distributed {

struct Rendezvous {
  std::shared_ptr<Store> store;
  std::string master = "127.0.0.1";  // where the traffic goes: decides the interface
  int rank = -1;
  int world_size = -1;
  bool keeps_store = false;     // this process runs the server
  bool launcher_store = false;  // the launcher does
  // Who has come since with another token than this process, which keeps the store; empty: nobody.
  std::function<std::string()> turned_away;
};

// Reads what the options leave open from the environment and opens the store.
Rendezvous open_rendezvous(const InitOptions& options);

}  // namespace cresset::distributed
