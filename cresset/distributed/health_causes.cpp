// What was heard becomes a cause in the order in which the store saw it: the first death is the one to name.
#include <algorithm>

#include "cresset/distributed/health.h"
#include "cresset/distributed/health_keys.h"

namespace cresset::distributed {
namespace {

// A death is told by the store at once; the launcher's word on how it died follows. So long it is waited for.
constexpr Milliseconds kSettling{300};
constexpr Milliseconds kCauseTick{20};

}  // namespace

std::string ranks_in_words(const std::vector<int>& ranks) {
  std::string out = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); i++) out += message_of(i ? ", " : "", ranks[i]);
  return out;
}

std::string Health::who(int rank) const {
  const std::lock_guard lock(mutex_);
  return named(rank);
}

std::string Health::named(int rank) const {
  const auto member = table_.find(of("member", rank));
  if (member == table_.end()) return message_of("rank ", rank);
  const auto parts = split(member->second.value, '\t');
  return message_of("rank ", rank, " (host ", parts[0], ", pid ", parts.size() > 1 ? parts[1] : "?", ")");
}

std::string Health::last_seen(int rank) const {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(of("beat", rank));
  if (found == table_.end()) return "not heard of";
  const auto age = std::chrono::duration_cast<Milliseconds>(Clock::now() - found->second.when);
  const auto parts = split(found->second.value, '\t');
  const std::string last = parts.size() > 1 && !parts[1].empty() ? parts[1] : "none";
  const bool silent = age > beat_interval() * 5 / 2;
  return message_of(silent ? message_of("silent for ", age.count() / 1000, " s") : "alive", "; last operation: ", last);
}

bool Health::left_before(const Departure& departure, const std::string& group, const Fingerprint* in_flight) const {
  if (!in_flight) return false;
  // Sends and receives are counted apart: whoever has left is waited for in vain.
  if (in_flight->op == OpKind::send || in_flight->op == OpKind::recv)
    return in_flight->root < 0 || in_flight->root == departure.rank;
  const auto note = split(table_.at(of("left", departure.rank)).value, '\t');
  for (size_t i = 1; i < note.size(); i++) {
    const size_t equals = note[i].rfind('=');
    if (equals == std::string::npos || note[i].substr(0, equals) != group) continue;
    return std::stoull(note[i].substr(equals + 1)) < in_flight->sequence;
  }
  return true;
}

std::string Health::words_of(const Departure& departure, const Fingerprint* in_flight) const {
  const std::string name = named(departure.rank);
  const auto exit = table_.find(of("exit", departure.rank));
  if (departure.died) {
    if (exit == table_.end()) return name + " lost its connection (the process is gone or its machine is)";
    return message_of(name, exit->second.value.starts_with("killed") ? " was " : " ", exit->second.value);
  }
  const std::string how = split(table_.at(of("left", departure.rank)).value, '\t')[0];
  if (how == "left")
    return message_of(name, " left the group (destroy_process_group)",
                      in_flight ? message_of(" while others were in ", in_flight->title()) : "");
  return message_of(name, " ", how, " before the others were done");
}

bool Health::failed(const Departure& departure) const {
  if (departure.died) return true;
  const std::string& note = table_.at(of("left", departure.rank)).value;
  return note.starts_with("exited") && !note.starts_with("exited with status 0");
}

Health::Cause Health::cause(const std::vector<int>& ranks, const std::string& group,
                            const Fingerprint* in_flight) const {
  const std::lock_guard lock(mutex_);
  // Whoever failed first, member or not: those who went after it may have gone because of it.
  const Departure* first = nullptr;
  for (const Departure& departure : departures_) {
    if (departure.rank == options_.rank) continue;
    if (departure.died && table_.contains(of("left", departure.rank))) continue;  // it said goodbye first
    if (!first && failed(departure)) first = &departure;
    if (std::find(ranks.begin(), ranks.end(), departure.rank) == ranks.end()) continue;
    if (!departure.died && !left_before(departure, group, in_flight)) continue;
    const Departure& culprit = first ? *first : departure;
    const bool told = !culprit.died || table_.contains(of("exit", culprit.rank));
    if (!told && Clock::now() - culprit.when < kSettling) return {"", true};
    return {words_of(culprit, in_flight), false};
  }
  if (!lost_store_) return {};
  // Whoever kept the table has left in good order: what is under way may still end well.
  if (!options_.launcher_store && table_.contains("left/0")) return {};
  return {message_of("lost the store at ", options_.store->name(), ": ",
                     options_.launcher_store ? "the launcher" : named(0), " is gone"),
          false};
}

std::optional<Health::Gone> Health::departure_of(int rank) const {
  const std::lock_guard lock(mutex_);
  for (const Departure& departure : departures_)
    if (departure.rank == rank && !departure.died) return Gone{words_of(departure, nullptr), departure.when};
  return {};
}

std::string Health::wait_for_cause(const std::vector<int>& ranks, const std::string& group,
                                   const Fingerprint& in_flight, Milliseconds at_most,
                                   const std::function<bool()>& known) const {
  const auto deadline = Clock::now() + at_most;
  while (true) {
    if (known()) return {};
    const Cause found = cause(ranks, group, &in_flight);
    if (!found.words.empty()) return found.words;
    if (!found.settling && Clock::now() >= deadline) return {};
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kCauseTick);
  }
}

std::string Health::disagreement_of_members() const {
  const std::lock_guard lock(mutex_);
  std::string words, first;
  bool same = true;
  for (const auto& [name, entry] : table_) {
    const auto rank = rank_in(name, "member/");
    if (!rank) continue;
    const auto parts = split(entry.value, '\t');
    const std::string size = parts.size() > 2 ? parts[2] : "?";
    words += message_of(words.empty() ? "" : ", ", named(*rank), " has ", size);
    if (first.empty()) first = size;
    same = same && size == first;
  }
  return same ? "" : "ranks disagree about the world size: " + words;
}

}  // namespace cresset::distributed
