// Messages between two ranks beyond send and recv: several started together, and byte strings.
#pragma once

#include "cresset/distributed/collectives.h"

namespace cresset::distributed {

// One message of a batch.
struct P2POp {
  enum class Kind : uint8_t { send, recv };
  Kind kind;
  Tensor tensor;
  int peer;  // the rank in the world
  int tag = 0;
  Group group = nullptr;
};
// Starts them all; with every rank's in flight nobody waits for the order in which others listed theirs.
CRESSET_API std::vector<Work> batch_isend_irecv(const std::vector<P2POp>& operations);

// Objects are byte strings; the receiver gives as many as were sent.
CRESSET_API void send_object_list(const std::vector<std::string>& objects, int dst, const Group& group = nullptr);
// Returns the rank that sent them.
CRESSET_API int recv_object_list(std::vector<std::string>& objects, std::optional<int> src = {},
                                 const Group& group = nullptr);

}  // namespace cresset::distributed
