// Transport: carries bytes between the ranks of a group. A message moves when both sides have named the same slot, and
// never before: ranks that disagree wait, and are told why. Every wait can be cut off by another thread, for good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cresset/core/error.h"
#include "cresset/core/export.h"

namespace cresset::distributed {

// Thrown by a wait that interrupt() cut off; the group knows why.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

// Thrown when a connection broke; the group asks who is gone.
class BrokenConnection : public Error {
 public:
  BrokenConnection(int peer_, const std::string& why) : Error(why), peer(peer_) {}
  int peer;  // -1: not known
};

// Memory that messages leave from or arrive in. Several may be under way; waits count them, in the order posted per
// peer. It must outlive none of them: whoever gives it up early gives up the group.
class TransportBuffer {
 public:
  virtual ~TransportBuffer() = default;
  virtual void send(int peer, uint64_t slot, size_t offset, size_t bytes) = 0;
  virtual void recv(int peer, uint64_t slot, size_t offset, size_t bytes) = 0;
  virtual void recv_any(const std::vector<int>& peers, uint64_t slot, size_t offset, size_t bytes) = 0;
  virtual void wait_send() = 0;
  virtual int wait_recv() = 0;  // who sent
  // Ends the next wait, or the one under way, with Interrupted.
  virtual void cut_off() = 0;
};

class DirectMemory;

class Transport {
 public:
  virtual ~Transport() = default;
  // What is known about reaching the other ranks' memory without it; null until somebody asked.
  std::shared_ptr<DirectMemory> direct_memory;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const char* name() const = 0;
  // Whether a slot takes a whole 64-bit hash. If not, ranks must compare what they mean before they post.
  virtual bool names_messages() const = 0;
  virtual std::unique_ptr<TransportBuffer> buffer(void* data, size_t bytes) = 0;
  // Ends every wait, now and later. May be called again: a wait that was about to begin may have missed it.
  virtual void interrupt() = 0;
  virtual void close() = 0;
};

}  // namespace cresset::distributed
