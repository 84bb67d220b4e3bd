#include "cresset/distributed/outside_group.h"

#include <algorithm>

#include "cresset/distributed/world.h"

namespace cresset::distributed {

OutsideGroup::OutsideGroup(int self, std::string name, std::vector<int> members, std::string backend,
                           Milliseconds timeout)
    : self_(self),
      name_(std::move(name)),
      members_(std::move(members)),
      backend_(std::move(backend)),
      timeout_(timeout) {}

int OutsideGroup::global_rank(int rank) const {
  CRESSET_CHECK_AS(ValueError, rank >= 0 && static_cast<size_t>(rank) < members_.size(), "global_rank: found rank ",
                   rank, " of ", name_, " (expected 0 to ", members_.size() - 1, ")");
  return members_[static_cast<size_t>(rank)];
}

int OutsideGroup::rank_of(int global_rank) const {
  const auto found = std::find(members_.begin(), members_.end(), global_rank);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

void OutsideGroup::refuse(const char* op) const {
  throw DistributedError(
      message_of(op, ": this process (rank ", self_, ") is no member of ", name_, " (", ranks_in_words(members_), ")"));
}

}  // namespace cresset::distributed
