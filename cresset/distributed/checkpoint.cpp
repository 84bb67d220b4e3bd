#include "cresset/distributed/checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "cresset/core/generator.h"
#include "cresset/distributed/called_as.h"
#include "cresset/distributed/fingerprint.h"

namespace cresset::distributed {
namespace {

constexpr const char* kWorldSize = "world_size";  // among the checkpoint's own values

struct Held {
  int64_t world_size = 0;  // of the run that wrote it; 0: not known
  int64_t rank = -1;       // that wrote it; -1: not known
  std::string path;
};
using Steps = std::map<int64_t, Held>;

Steps whole_files(const io::Checkpoint& checkpoint) {
  Steps whole;
  for (const std::string& path : checkpoint.files()) {
    try {
      const IValue held = io::read_checkpoint(path, Device(kMeta));
      const IValue::Dict values = held.toDict().at("values").toDict();
      const IValue* world_size = values.find(kWorldSize);
      whole[held.toDict().at("step").toInt()] = {world_size && world_size->isInt() ? world_size->toInt() : 0,
                                                 io::rank_in_checkpoint(held).value_or(-1), path};
    } catch (const Error& error) {
      std::fprintf(stderr, "%s; passed over\n", error.what());
    }
  }
  return whole;
}

// One line per step: "300 4 0 runs/mnist/0/step-00000300.ckpt".
std::string written(const Steps& steps) {
  std::string out;
  for (const auto& [step, held] : steps)
    out += message_of(step, " ", held.world_size, " ", held.rank, " ", held.path, "\n");
  return out;
}

Steps parsed(std::istream& lines) {
  Steps steps;
  int64_t step = 0;
  for (Held held; lines >> step >> held.world_size >> held.rank && lines.get() && std::getline(lines, held.path);)
    steps[step] = held;
  return steps;
}

// What every rank has, the same on all of them.
struct Everybodys {
  std::vector<Steps> steps;
  bool one_folder = true;  // for several ranks: what is in it belongs to no rank
  std::string foreign;     // the newest file that lies in another rank's folder

  Everybodys(const io::Checkpoint& checkpoint, const Group& group) {
    std::vector<std::string> folders;
    const std::string mine = checkpoint.folder() + "\n" + written(whole_files(checkpoint));
    for (const std::string& theirs : all_gather_object(mine, group)) {
      std::istringstream lines(theirs);
      std::getline(lines, folders.emplace_back());
      steps.push_back(parsed(lines));
    }
    one_folder = folders.size() > 1 && std::set(folders.begin(), folders.end()).size() == 1;
    if (!one_folder)
      for (size_t rank = 0; rank < steps.size(); rank++)
        leave_foreign(static_cast<int64_t>(rank), static_cast<int64_t>(rank) == get_rank(group));
  }

 private:
  // A copy of another rank's file would let two ranks draw the same numbers and see the same data.
  void leave_foreign(int64_t rank, bool is_mine) {
    Steps& theirs = steps[static_cast<size_t>(rank)];
    for (auto at = theirs.begin(); at != theirs.end();) {
      const Held& held = at->second;
      if (held.rank < 0 || held.rank == rank) {
        ++at;
        continue;
      }
      foreign = message_of(held.path, ": found the checkpoint of rank ", held.rank, " (expected rank ", rank, "'s)");
      if (is_mine) std::fprintf(stderr, "load_newest: %s; passed over\n", foreign.c_str());
      at = theirs.erase(at);
    }
  }
};

// How many ranks wrote this step, if all of those that are here still have it; 0: somebody lacks it.
int64_t writers_of(int64_t step, const std::vector<Steps>& all) {
  const auto ranks = static_cast<int64_t>(all.size());
  int64_t world_size = 0, first_without = 0;
  for (const Steps& theirs : all)
    if (const auto held = theirs.find(step); held != theirs.end())
      world_size = std::max(world_size, held->second.world_size);
  while (first_without < ranks && all[static_cast<size_t>(first_without)].contains(step)) first_without++;
  if (world_size > 0) return first_without >= std::min(world_size, ranks) ? world_size : 0;
  // Nothing says how many there were: those behind the last writer must be new.
  const bool rest_is_new =
      std::all_of(all.begin() + first_without, all.end(), [](const Steps& theirs) { return theirs.empty(); });
  return rest_is_new ? first_without : 0;
}

// A new rank goes on where one of the old ones was, and all hear of it when it cannot.
std::string check_reachable(const std::string& path, bool borrows, const Group& group) {
  std::string problem;
  try {
    if (borrows) io::read_checkpoint(path, Device(kMeta));
  } catch (const Error& error) {
    problem = message_of("rank ", get_rank(), " is new and cannot read another rank's file: ", error.what());
  }
  for (const std::string& theirs : all_gather_object(problem, group))
    if (!theirs.empty()) return theirs;
  return {};
}

}  // namespace

std::optional<int64_t> load_newest(io::Checkpoint& checkpoint, const Group& group) {
  const CalledAs called("load_newest");
  const Everybodys held(checkpoint, group);
  const std::vector<Steps>& all = held.steps;
  std::map<int64_t, int> holders;
  for (const Steps& theirs : all)
    for (const auto& file : theirs) holders[file.first]++;
  const auto ranks = static_cast<int64_t>(all.size());
  const int64_t self = get_rank(group);
  // What is saved from now on says whose it is, and how many ranks belong together.
  const auto remember = [&] {
    checkpoint.set(kWorldSize, ranks);
    if (!held.one_folder) checkpoint.set_rank(self);
  };
  const auto newest =
      std::find_if(holders.rbegin(), holders.rend(), [&](const auto& file) { return writers_of(file.first, all) > 0; });
  if (newest == holders.rend()) {
    CRESSET_CHECK_AS(DistributedError, held.foreign.empty(), "load_newest: ", held.foreign,
                     ", and no other step is there on all ", ranks, " ranks");
    if (!holders.empty() && self == 0)
      std::fprintf(
          stderr,
          "load_newest: no step is there on all %lld ranks (the newest on any is %lld), so nothing was loaded\n",
          static_cast<long long>(ranks), static_cast<long long>(holders.rbegin()->first));
    remember();
    return std::nullopt;
  }
  const int64_t step = newest->first, writers = writers_of(step, all);
  const bool borrows = self >= writers;
  const std::string path = all[static_cast<size_t>(self % writers)].at(step).path;
  if (writers < ranks) {
    const std::string problem = check_reachable(path, borrows, group);
    CRESSET_CHECK_AS(DistributedError, problem.empty(), "load_newest: ", problem);
    if (self == 0)
      std::fprintf(stderr,
                   "load_newest: step %lld was saved by %lld of the now %lld ranks; the new begin with their files\n",
                   static_cast<long long>(step), static_cast<long long>(writers), static_cast<long long>(ranks));
  }
  if (!held.one_folder) checkpoint.set_rank(std::nullopt);  // compared above; a new rank's is another's
  const int64_t found = checkpoint.load(path);
  remember();
  // Two ranks that draw the same numbers would drop the same units.
  if (borrows) {
    Generator& generator = default_generator();
    const uint64_t offset = generator.get_offset();
    generator.set_current_seed(mix(generator.current_seed(), static_cast<uint64_t>(self)));
    generator.set_offset(offset);
  }
  return found;
}

}  // namespace cresset::distributed
