// new_group: all processes say whom they mean, members or not, and all wait until all have said it. So those who differ
// are told, and so is everybody else, in one sentence.
#include <algorithm>
#include <numeric>

#include "cresset/distributed/outside_group.h"
#include "cresset/distributed/world.h"

namespace cresset::distributed {
namespace {

constexpr Milliseconds kAllSides{1000};  // how long to collect all sides of a disagreement

// The ranks in ascending order; all of them when none is given.
std::vector<int> checked_members(std::vector<int> ranks, int size) {
  if (ranks.empty()) {
    ranks.resize(static_cast<size_t>(size));
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  std::sort(ranks.begin(), ranks.end());
  for (size_t i = 0; i < ranks.size(); i++) {
    CRESSET_CHECK_AS(ValueError, ranks[i] >= 0 && ranks[i] < size, "new_group: found rank ", ranks[i],
                     " (expected 0 to ", size - 1, ")");
    CRESSET_CHECK_AS(ValueError, i == 0 || ranks[i] != ranks[i - 1], "new_group: found rank ", ranks[i], " twice");
  }
  return ranks;
}

// What the ranks have said so far.
struct Sides {
  std::vector<std::pair<std::string, std::vector<int>>> given;  // members in words, and who gave them
  std::vector<int> missing;
  std::string gone;  // a member that has left and will not say anything

  void add(const std::string& members, int rank) {
    const auto side = std::find_if(given.begin(), given.end(), [&](const auto& s) { return s.first == members; });
    side == given.end() ? given.push_back({members, {rank}}) : side->second.push_back(rank);
  }
  std::string words(const std::string& name) const {
    std::string out;
    for (const auto& [members, ranks] : given)
      out += (out.empty() ? "" : "; ") + ranks_in_words(ranks) + " gave " + members;
    return message_of("new_group: ranks disagree about ", name, ": ", out);
  }
};

void agree(Health& health, int size, int self, const std::vector<int>& ranks, const std::string& over,
           const std::string& name, Milliseconds limit) {
  using Clock = Health::Clock;
  const auto key = [&](int rank) { return message_of("group/", name, "/", rank); };
  const std::string error = "error/new " + name;
  health.post(key(self), ranks_in_words(ranks) + over);
  std::vector<int> everyone(static_cast<size_t>(size));
  std::iota(everyone.begin(), everyone.end(), 0);

  Sides sides;
  Health::Cause failed;
  std::optional<Clock::time_point> differ;
  bool told = false;
  const bool complete = health.wait_heard(
      [&] {
        if (health.heard(error)) return true;
        sides = {};
        for (const int rank : everyone) {
          const auto theirs = health.heard(key(rank));
          if (theirs) {
            sides.add(*theirs, rank);
            continue;
          }
          const auto gone = health.departure_of(rank);
          const bool is_member = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
          if (!gone) sides.missing.push_back(rank);
          if (gone && is_member) sides.gone = gone->words;
        }
        if (sides.given.size() > 1) {
          if (!differ) differ = Clock::now();
          const bool ready = sides.missing.empty() || Clock::now() - *differ > kAllSides;
          if (ready && !told) health.propose(error, sides.words(name));
          told = ready;
          return false;
        }
        failed = health.cause(everyone, name, nullptr);
        return sides.missing.empty() || !failed.words.empty() || !sides.gone.empty();
      },
      Clock::now() + limit);
  if (const auto sentence = health.heard(error)) {
    health.let_others_hear(error);
    throw DistributedError(*sentence);
  }
  CRESSET_CHECK_AS(DistributedError, failed.words.empty(), "new_group failed: ", failed.words);
  CRESSET_CHECK_AS(DistributedError, sides.gone.empty(), "new_group failed: ", sides.gone);
  if (complete) return;
  std::string late;
  for (const int rank : sides.missing)
    late += message_of(late.empty() ? "" : ", ", health.who(rank), " (", health.last_seen(rank), ")");
  throw DistributedError(message_of("new_group: ", late, " did not call it for ", name, " (", ranks_in_words(ranks),
                                    ") within ", limit.count(), " ms"));
}

}  // namespace

Group new_group(std::vector<int> given, std::optional<Milliseconds> timeout, const std::string& backend) {
  const auto world = world_for("new_group");
  const int self = world->options.rank;
  const std::vector<int> ranks = checked_members(std::move(given), world->options.world_size);
  const std::string& usual = world->options.backend;
  const std::string& used = backend.empty() ? usual : backend;
  check_backend("new_group", used);
  const int number = ++world->made;
  const std::string name = message_of("group ", number);
  const Milliseconds limit = timeout.value_or(world->all->timeout());
  const bool is_member = std::find(ranks.begin(), ranks.end(), self) != ranks.end();
  if (is_member) world->health->open_group(name);
  agree(*world->health, world->options.world_size, self, ranks, used == usual ? "" : " over " + used, name, limit);
  // All have called it, so all are done with the one before.
  world->health->forget(message_of("group/group ", number - 1, "/"));
  if (!is_member) return std::make_shared<OutsideGroup>(self, name, ranks, used, limit);
  auto group = make_group(*world, number, ranks, limit, used);
  keep_group(*world, group);
  return group;
}

}  // namespace cresset::distributed
