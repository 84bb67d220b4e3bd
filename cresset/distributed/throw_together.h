// Errors that every rank finds out in the same place. The first to throw may end its process, and with it the group and
// perhaps the store; so all wait until all know.
#pragma once

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

CRESSET_API void wait_until_all_know(ProcessGroup& group);

template <class E = DistributedError>
[[noreturn]] void throw_together(ProcessGroup& group, const std::string& message) {
  wait_until_all_know(group);
  throw E(message);
}

}  // namespace cresset::distributed
