// What new_group gives to a process that is no member: a group that answers who it is and refuses everything else by
// name. Null would stand for the default group, and meet operations that were meant for others.
#pragma once

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

class OutsideGroup final : public ProcessGroup {
 public:
  OutsideGroup(int self, std::string name, std::vector<int> members, std::string backend, Milliseconds timeout);

  int rank() const override { return -1; }
  int size() const override { return -1; }
  int global_rank(int rank) const override;
  int rank_of(int global_rank) const override;
  const std::string& name() const override { return name_; }
  const char* backend() const override { return backend_.c_str(); }
  Milliseconds timeout() const override { return timeout_; }
  void set_timeout(Milliseconds timeout) override { timeout_ = timeout; }
  std::exception_ptr error() const override { return nullptr; }
  FlightRecorder& recorder() override { refuse("recorder"); }

  Work all_reduce(std::vector<Tensor>, ReduceOp) override { refuse("all_reduce"); }
  Work broadcast(std::vector<Tensor>, int) override { refuse("broadcast"); }
  Work reduce(Tensor, int, ReduceOp) override { refuse("reduce"); }
  Work all_gather(std::vector<Tensor>, Tensor) override { refuse("all_gather"); }
  Work gather(std::vector<Tensor>, Tensor, int) override { refuse("gather"); }
  Work scatter(Tensor, std::vector<Tensor>, int) override { refuse("scatter"); }
  Work reduce_scatter(Tensor, std::vector<Tensor>, ReduceOp) override { refuse("reduce_scatter"); }
  Work all_to_all(std::vector<Tensor>, std::vector<Tensor>) override { refuse("all_to_all"); }
  Work barrier() override { refuse("barrier"); }
  Work send(Tensor, int, int) override { refuse("send"); }
  Work recv(Tensor, int, int) override { refuse("recv"); }
  void follow_plan(uint64_t) override { refuse("follow_plan"); }
  void shutdown() override {}

  [[noreturn]] void refuse(const char* op) const;

 private:
  int self_;
  std::string name_;
  std::vector<int> members_;
  std::string backend_;
  Milliseconds timeout_;
};

}  // namespace cresset::distributed
