// Ranks on one host read each other's memory (process_vm_readv) instead of sending it through the kernel's sockets.
// Nobody writes to another's: a rank that was stopped, and goes on when the others have given up and freed their
// tensors, reads what is no longer meant for it and fails at the next meeting, but harms nobody. They meet at flags in
// a shared page, which hold the name of the operation: a rank that means another one is never met. Whoever waits longer
// than a moment goes on waiting in the transport, where every wait can be cut off and is explained.
#pragma once

#include "cresset/distributed/algorithms.h"

namespace cresset::distributed {

class DirectMemory {
 public:
  // Finds out whether every rank can reach every other's memory; all ranks call it in the same operation. Not so across
  // hosts, containers or network namespaces, without the permission, or where CRESSET_DIRECT_MEMORY=0 on any rank.
  static std::shared_ptr<DirectMemory> probe(const Exchange& exchange);
  static constexpr uint64_t kProbeSlots = 3;
  ~DirectMemory();
  DirectMemory(const DirectMemory&) = delete;
  DirectMemory& operator=(const DirectMemory&) = delete;

  bool reaches_all() const { return reaches_all_; }
  // Each rank adds up its part of everybody's data, in the order of the ranks; then all fetch the others' parts.
  void all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of) const;

 private:
  struct Flag;
  enum Round { kReady, kReduced, kDone, kRounds };
  DirectMemory() = default;
  bool open_peer(int64_t pid, uint64_t address, uint64_t secret);
  bool open_page(int owner_pid, int fd, size_t size);
  Flag& flag(Round round, size_t from, size_t to) const;
  // Tells all that this rank is there, and returns when all are; `value` is what it tells them besides.
  std::vector<uint64_t> meet(const Exchange& exchange, Round round, uint64_t value) const;

  bool reaches_all_ = false;
  struct Peer {
    int pid = -1;
    int handle = -1;  // says whether the pid is still that process's
  };
  std::vector<Peer> peers_;
  void* page_ = nullptr;
  size_t page_bytes_ = 0;
  size_t ranks_ = 0;
};

}  // namespace cresset::distributed
