// Rings, trees and exchanges over a Transport. Each element is reduced in one order, by one rank or by all alike, so
// that the result is the same to the last bit everywhere.
#pragma once

#include <vector>

#include "cresset/distributed/reduce.h"
#include "cresset/distributed/transport.h"

namespace cresset::distributed {

// One operation's use of a transport: its slots begin at `slot`, and both sides count them alike.
struct Exchange {
  Transport& transport;
  uint64_t slot;
  std::vector<char>& scratch;  // kept from one operation to the next

  int rank() const { return transport.rank(); }
  int size() const { return transport.size(); }
  int next() const { return (rank() + 1) % size(); }
  int previous() const { return (rank() + size() - 1) % size(); }
  char* room(size_t bytes) const {
    if (scratch.size() < bytes) scratch.resize(bytes);
    return scratch.data();
  }
};

struct Elements {
  DType dtype;
  Reduction reduction = nullptr;
  bool average = false;
  size_t size() const { return element_size(dtype); }
};

void ring_or_direct_all_reduce(const Exchange& exchange, char* data, size_t count, const Elements& of);
void tree_broadcast(const Exchange& exchange, char* data, size_t bytes, int root);
void reduce_to(const Exchange& exchange, char* data, size_t count, const Elements& of, int root);
// outputs[rank] holds this rank's own part already.
void all_gather_parts(const Exchange& exchange, const std::vector<char*>& outputs, size_t bytes);
// At the root, outputs[root] is left alone; elsewhere outputs is empty.
void gather_parts(const Exchange& exchange, const std::vector<char*>& outputs, const char* input, size_t bytes,
                  int root);
void scatter_parts(const Exchange& exchange, char* output, const std::vector<const char*>& inputs, size_t bytes,
                   int root);
void ring_reduce_scatter(const Exchange& exchange, char* output, const std::vector<const char*>& inputs, size_t count,
                         const Elements& of);

struct Part {
  char* data = nullptr;
  size_t bytes = 0;
};
// The rank's own part is left alone. The length belongs to the name of the message: parts that differ never meet.
void all_to_all_parts(const Exchange& exchange, const std::vector<Part>& outputs, const std::vector<Part>& inputs);
void dissemination_barrier(const Exchange& exchange);

}  // namespace cresset::distributed
