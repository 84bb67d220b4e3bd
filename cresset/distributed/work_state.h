// What a Work handle points to, for those who carry the operation out.
#pragma once

#include <condition_variable>
#include <mutex>

#include "cresset/distributed/work.h"

namespace cresset::distributed {

struct CRESSET_API WorkState {
  mutable std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
  int source = -1;
  std::vector<Tensor> result;
  std::vector<std::function<void(std::exception_ptr)>> callbacks;

  void finish(const std::exception_ptr& failed);
};

}  // namespace cresset::distributed
