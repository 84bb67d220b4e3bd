// Work: a collective that was started. The handle is cheap to copy; dropping it does not cancel the operation.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "cresset/core/tensor.h"
#include "cresset/distributed/store.h"

namespace cresset::distributed {

struct WorkState;

class CRESSET_API Work {
 public:
  Work() = default;  // done already
  explicit Work(std::shared_ptr<WorkState> state) : state_(std::move(state)) {}

  // Until it is done, for as long as the group's timeout; throws what went wrong. With a time of its own, false means
  // that the operation still runs.
  void wait();
  bool wait(Milliseconds at_most);
  bool is_completed() const;
  bool is_success() const;
  std::exception_ptr exception() const;
  // Runs when the operation is done, with its error or null, on the communication thread (or at once if it is done);
  // it must not wait for other operations.
  void then(std::function<void(std::exception_ptr)> callback) const;
  // result() when the operation is done, or its error; for those who hand futures on. Dropping it does not wait.
  std::shared_future<std::vector<Tensor>> get_future() const;
  // Of a receive from any source: who sent. Of others: -1.
  int source_rank() const;
  std::vector<Tensor> result() const;

 private:
  std::shared_ptr<WorkState> state_;
};

}  // namespace cresset::distributed
