#include "cresset/distributed/messages.h"

#include <cstring>
#include <numeric>

#include "cresset/ops/creation.h"

namespace cresset::distributed {

std::vector<Work> batch_isend_irecv(const std::vector<P2POp>& operations) {
  CRESSET_CHECK_AS(ValueError, !operations.empty(), "batch_isend_irecv: found no operations (expected one or more)");
  for (size_t i = 0; i < operations.size(); i++)
    CRESSET_CHECK_AS(ValueError, operations[i].tensor.defined(), "batch_isend_irecv: operation ", i,
                     " has an undefined tensor");
  std::vector<Work> started;
  started.reserve(operations.size());
  for (const P2POp& one : operations)
    started.push_back(one.kind == P2POp::Kind::send ? isend(one.tensor, one.peer, one.tag, one.group)
                                                    : irecv(one.tensor, one.peer, one.tag, one.group));
  return started;
}

// First the lengths, then all bytes as one message: both of tag 0, which keeps their order.
void send_object_list(const std::vector<std::string>& objects, int dst, const Group& group) {
  CRESSET_CHECK_AS(ValueError, !objects.empty(), "send_object_list: found an empty list (expected one object or more)");
  const Tensor lengths = empty({static_cast<int64_t>(objects.size())}, kInt64);
  std::string all;
  for (size_t i = 0; i < objects.size(); i++) {
    lengths.data_ptr<int64_t>()[i] = static_cast<int64_t>(objects[i].size());
    all += objects[i];
  }
  const Tensor bytes = empty({static_cast<int64_t>(all.size())}, kUInt8);
  if (!all.empty()) std::memcpy(bytes.data_ptr(), all.data(), all.size());
  send(lengths, dst, 0, group);
  send(bytes, dst, 0, group);
}

int recv_object_list(std::vector<std::string>& objects, std::optional<int> src, const Group& group) {
  CRESSET_CHECK_AS(ValueError, !objects.empty(),
                   "recv_object_list: found an empty list (expected as many objects as were sent)");
  const Tensor lengths = empty({static_cast<int64_t>(objects.size())}, kInt64);
  const int sender = recv(lengths, src, 0, group);
  const int64_t* length = lengths.data_ptr<int64_t>();
  const Tensor bytes = empty({std::accumulate(length, length + objects.size(), int64_t{0})}, kUInt8);
  recv(bytes, sender, 0, group);
  const char* next = static_cast<const char*>(bytes.data_ptr());
  for (std::string& object : objects) {
    object.assign(next, next + *length);
    next += *length++;
  }
  return sender;
}

}  // namespace cresset::distributed
