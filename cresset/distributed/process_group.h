// ProcessGroup: some processes that exchange tensors in one order. Operations queue up and run on the group's own
// thread, small ones at once on the caller's when nothing waits. After an error a group is dead: every later call
// repeats the cause, and only a new group helps.
#pragma once

#include "cresset/distributed/work.h"

namespace cresset::distributed {

enum class ReduceOp : uint8_t { SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR };
CRESSET_API const char* name_of(ReduceOp op);

class ProcessGroup;
using Group = std::shared_ptr<ProcessGroup>;

class FlightRecorder;

class CRESSET_API ProcessGroup : public std::enable_shared_from_this<ProcessGroup> {
 public:
  virtual ~ProcessGroup();

  // Ranks are the group's own, 0 to size() - 1; global_rank gives the one in the world.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int global_rank(int rank) const = 0;
  virtual int rank_of(int global_rank) const = 0;  // -1: not a member
  virtual const std::string& name() const = 0;     // "default", "group 1"
  virtual const char* backend() const = 0;         // "gloo", "mpi"
  virtual Milliseconds timeout() const = 0;
  virtual void set_timeout(Milliseconds timeout) = 0;
  // Why the group is dead; null while it lives.
  virtual std::exception_ptr error() const = 0;
  virtual FlightRecorder& recorder() = 0;

  // Every operation starts and returns at once. Tensors must stay unchanged until it is done; their memory is kept.
  virtual Work all_reduce(std::vector<Tensor> tensors, ReduceOp op) = 0;  // several: as if they were one
  virtual Work broadcast(std::vector<Tensor> tensors, int root) = 0;
  virtual Work reduce(Tensor tensor, int root, ReduceOp op) = 0;
  virtual Work all_gather(std::vector<Tensor> outputs, Tensor input) = 0;
  virtual Work gather(std::vector<Tensor> outputs, Tensor input, int root) = 0;
  virtual Work scatter(Tensor output, std::vector<Tensor> inputs, int root) = 0;
  virtual Work reduce_scatter(Tensor output, std::vector<Tensor> inputs, ReduceOp op) = 0;
  virtual Work all_to_all(std::vector<Tensor> outputs, std::vector<Tensor> inputs) = 0;
  virtual Work barrier() = 0;
  virtual Work send(Tensor tensor, int destination, int tag) = 0;
  virtual Work recv(Tensor tensor, int source, int tag) = 0;  // source -1: whoever comes first

  // Declares that the next operations follow a plan on which all ranks agreed (their digest is compared once), so that
  // they need no check of their own. Zero ends it.
  virtual void follow_plan(uint64_t digest) = 0;
  // Waits for what is queued, leaves in good order, and frees the connections.
  virtual void shutdown() = 0;
};

}  // namespace cresset::distributed
