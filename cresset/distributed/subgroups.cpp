#include "cresset/distributed/subgroups.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "cresset/distributed/environment.h"

namespace cresset::distributed {

static std::string text_of(const std::vector<int>& ranks) {
  return cresset::text_of(std::vector<int64_t>(ranks.begin(), ranks.end()));
}

std::vector<int> get_process_group_ranks(const Group& group) {
  const Group asked = group ? group : default_group();
  const int world = get_world_size();
  std::vector<int> members;
  // A process outside the group knows its members, but not by its size.
  for (int rank = 0; rank < world; rank++)
    if (asked->rank_of(rank) >= 0) members.push_back(rank);
  std::sort(members.begin(), members.end(), [&](int a, int b) { return asked->rank_of(a) < asked->rank_of(b); });
  return members;
}

int get_global_rank(const Group& group, int group_rank) {
  const std::vector<int> members = get_process_group_ranks(group);
  CRESSET_CHECK_AS(ValueError, group_rank >= 0 && group_rank < static_cast<int>(members.size()),
                   "get_global_rank: found group rank ", group_rank, " (expected 0 to ", members.size() - 1, ")");
  return members[static_cast<size_t>(group_rank)];
}

int get_group_rank(const Group& group, int global_rank) {
  const int rank = (group ? group : default_group())->rank_of(global_rank);
  CRESSET_CHECK_AS(ValueError, rank >= 0, "get_group_rank: rank ", global_rank,
                   " is not in the group, whose ranks are ", text_of(get_process_group_ranks(group)));
  return rank;
}

Subgroups new_subgroups(std::optional<int> group_size, std::optional<Milliseconds> timeout) {
  const int world = get_world_size(),
            size = group_size ? *group_size : local_world_size_in_environment().value_or(world);
  CRESSET_CHECK_AS(ValueError, size > 0 && world % size == 0, "new_subgroups: found groups of ", size,
                   " (expected a size that divides the world's ", world, ")");
  std::vector<std::vector<int>> groups;
  for (int first = 0; first < world; first += size) {
    groups.emplace_back(static_cast<size_t>(size));
    std::iota(groups.back().begin(), groups.back().end(), first);
  }
  return new_subgroups_by_enumeration(groups, timeout);
}

Subgroups new_subgroups_by_enumeration(const std::vector<std::vector<int>>& ranks_of_groups,
                                       std::optional<Milliseconds> timeout) {
  CRESSET_CHECK_AS(ValueError, !ranks_of_groups.empty(),
                   "new_subgroups_by_enumeration: found no groups (expected one or more)");
  std::set<int> seen;
  for (const auto& ranks : ranks_of_groups) {
    CRESSET_CHECK_AS(ValueError, !ranks.empty(), "new_subgroups_by_enumeration: found a group without ranks");
    for (const int rank : ranks)
      CRESSET_CHECK_AS(ValueError, seen.insert(rank).second, "new_subgroups_by_enumeration: rank ", rank,
                       " is in two groups (expected one at most)");
  }
  Subgroups made;
  for (const auto& ranks : ranks_of_groups) {
    made.all.push_back(new_group(ranks, timeout));
    if (get_rank(made.all.back()) >= 0) made.own = made.all.back();
  }
  return made;
}

}  // namespace cresset::distributed
