// Where the store listens: a free port of loopback for one node, the endpoint for several. Who can bind it is the first
// node.
#pragma once

#include <cstdint>
#include <string>

#include "options.h"

namespace cresset::run {

struct Listening {
  int fd = -1;  // a socket that listens; -1: the store is another launcher's
  uint16_t port = 0;
  std::string note;
};

// Throws std::runtime_error when this node must keep the store and cannot.
Listening listen_for_store(const Options& options);

// Waits until somebody listens at the endpoint; false: `stop` became readable first. Throws std::runtime_error after
// the --rdzv-timeout.
bool wait_for_store(const Options& options, int stop);

}  // namespace cresset::run
