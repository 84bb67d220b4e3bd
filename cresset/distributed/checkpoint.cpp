#include "cresset/distributed/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

namespace cresset::distributed {

std::optional<int64_t> load_newest(io::Checkpoint& checkpoint, const Group& group) {
  std::map<int64_t, std::string> whole;
  std::string mine;
  for (const std::string& path : checkpoint.files()) {
    try {
      const int64_t step = io::read_checkpoint(path).toDict().at("step").toInt();
      whole[step] = path;
      mine += std::to_string(step) + " ";
    } catch (const Error& error) {
      std::fprintf(stderr, "%s; passed over\n", error.what());
    }
  }
  std::map<int64_t, int> holders;
  for (const std::string& theirs : all_gather_object(mine, group)) {
    std::istringstream steps(theirs);
    for (int64_t step = 0; steps >> step;) holders[step]++;
  }
  const int everyone = get_world_size(group);
  const auto newest =
      std::find_if(holders.rbegin(), holders.rend(), [&](const auto& held) { return held.second == everyone; });
  if (newest == holders.rend()) {
    if (!holders.empty() && get_rank(group) == 0)
      std::fprintf(
          stderr,
          "load_newest: no step is there on all %d ranks (the newest on any is %lld), so nothing was loaded; when "
          "the number of processes changes, they need one folder for all\n",
          everyone, static_cast<long long>(holders.rbegin()->first));
    return std::nullopt;
  }
  return checkpoint.load(whole.at(newest->first));
}

}  // namespace cresset::distributed
