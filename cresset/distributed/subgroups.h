// Who is in a group, and many groups at once: the ranks of one machine, of one pipeline stage, of one copy of the
// model.
#pragma once

#include "cresset/distributed/collectives.h"

namespace cresset::distributed {

// The members by their ranks in the world, in the group's order. A process outside the group may ask, too.
CRESSET_API std::vector<int> get_process_group_ranks(const Group& group = nullptr);
// The rank in the world of the group's rank, and the other way round; ValueError when there is none.
CRESSET_API int get_global_rank(const Group& group, int group_rank);
CRESSET_API int get_group_rank(const Group& group, int global_rank);

struct Subgroups {
  Group own;               // the one that this process is in; null: none
  std::vector<Group> all;  // on those of others get_rank is -1
};
// Ranks 0 to size - 1, then the next ones, ...; without a size one group for each machine (LOCAL_WORLD_SIZE). Every
// process calls it alike; the world must be a multiple of the size.
CRESSET_API Subgroups new_subgroups(std::optional<int> group_size = {}, std::optional<Milliseconds> timeout = {});
// These groups; no rank may be in two of them.
CRESSET_API Subgroups new_subgroups_by_enumeration(const std::vector<std::vector<int>>& ranks_of_groups,
                                                   std::optional<Milliseconds> timeout = {});

}  // namespace cresset::distributed
