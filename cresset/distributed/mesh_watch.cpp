// Why an operation does not end: the group's part of the watchdog. It only reads what the listener has heard.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cresset/distributed/health_keys.h"
#include "cresset/distributed/mesh_group.h"

namespace cresset::distributed {
namespace {

constexpr Milliseconds kSlow{50};            // from here on the others are told what is meant
constexpr Milliseconds kAllSides{1000};      // how long to collect all sides of a disagreement
constexpr Milliseconds kStoreAnswers{1000};  // after this a sentence is used without the store's agreement

// What stands in at/GROUP/RANK, the newest operation first: sequence, hash, words, detail.
struct Standing {
  uint64_t sequence = 0;
  std::string hash, words, detail;
};

constexpr char kNextStanding = '\x1e';

std::string in_store(const Fingerprint& what, const std::string& detail) {
  return message_of(what.sequence, "\t", what.hash(), "\t", what.text(), "\t", detail);
}

// Empty if that operation is too old or has not begun.
std::optional<Standing> standing_in(const std::string& text, uint64_t sequence) {
  for (const std::string& entry : split(text, kNextStanding)) {
    if (std::strtoull(entry.c_str(), nullptr, 10) != sequence) continue;
    const auto parts = split(entry, '\t');
    if (parts.size() == 4) return Standing{sequence, parts[1], parts[2], parts[3]};
  }
  return {};
}

std::string standing_key(const std::string& group, int rank) { return "at/" + group + "/" + std::to_string(rank); }

// "3,4,5|2,2,2": how many elements go to each rank, and how many are expected from each.
std::vector<int64_t> numbers(const std::string& text, size_t from, size_t to) {
  std::vector<int64_t> out;
  const char* at = text.c_str() + from;
  const char* end = text.c_str() + to;
  while (at < end) {
    char* next = nullptr;
    out.push_back(std::strtoll(at, &next, 10));
    if (next == at) break;
    at = next + 1;
  }
  return out;
}

}  // namespace

void MeshGroup::die(const std::string& words, Words kind) {
  {
    const std::lock_guard lock(death_mutex_);
    if (dead_) return;
    death_ = words;
    death_kind_ = kind;
    died_ = Clock::now();
    dead_ = true;
  }
  transport_->interrupt();
  const char* folder = std::getenv("CRESSET_FLIGHT_RECORDER_DIR");
  if (!folder || !*folder) return;
  try {
    recorder_.dump_into(folder);
  } catch (const std::exception&) {
    // The cause of death is what the caller must hear of, not that the disk is full.
  }
}

std::exception_ptr MeshGroup::death_of(const std::string& title) const {
  const std::lock_guard lock(death_mutex_);
  return std::make_exception_ptr(
      DistributedError(death_kind_ == Words::sentence ? death_ : title + " failed: " + death_));
}

std::exception_ptr MeshGroup::told_death_of(const std::string& title) const {
  health_->wait_heard([&] { return others_have_heard(); }, Clock::now() + Milliseconds(1500));
  return death_of(title);
}

bool MeshGroup::others_have_heard() const {
  const std::lock_guard lock(death_mutex_);
  return death_kind_ == Words::cause || health_->others_have_heard("error/" + name(), died_);
}

std::exception_ptr MeshGroup::error() const {
  if (!dead_) return nullptr;
  const std::lock_guard lock(death_mutex_);
  return std::make_exception_ptr(DistributedError(death_));
}

void MeshGroup::check_alive(const char* op) const {
  CRESSET_CHECK_AS(DistributedError, !forked(), op, ": this process was forked from process ", owner_,
                   ", whose groups stay there (call init_process_group here)");
  if (dead_) std::rethrow_exception(told_death_of(op));
}

void MeshGroup::watch() {
  if (dead_) {
    // A wait that was about to begin when the group died has missed the call.
    bool flying;
    {
      const std::lock_guard lock(flights_mutex_);
      flying = !flights_.empty();
    }
    if (flying) transport_->interrupt();
    if (flying && others_have_heard()) fail_transfers();
    return;
  }
  if (const auto sentence = health_->heard("error/" + name())) return die(*sentence, Words::sentence);

  hear_what_was_taken();
  const auto now = Clock::now();
  std::optional<Fingerprint> in_flight;
  std::optional<std::string> unanswered;
  std::string nobody;
  {
    const std::lock_guard lock(flights_mutex_);
    for (Flight& flight : flights_) {
      if (flight.is_collective()) in_flight = flight.what;
      if (flight.transfer && nobody.empty()) nobody = nobody_left(flight);
      if (!gave_up_) watch_collective(flight, now);
    }
    publish_unmet(now);
    warn_of_circles(now);
    if (gave_up_ && now - *gave_up_ > kStoreAnswers) unanswered = last_words_;
  }
  const Health::Cause cause = health_->cause(options_.ranks, name(), in_flight ? &*in_flight : nullptr);
  if (!cause.words.empty()) {
    // Perhaps heard since the first look: then whoever left has left because of it.
    if (const auto sentence = health_->heard("error/" + name())) return die(*sentence, Words::sentence);
    // Nobody waits whom an error could reach, and before the next operation a launcher may have stopped this process.
    if (calls_ == 0 && name() == "default")
      std::fprintf(stderr, "cresset: %s (rank %d heard of it between two operations)\n", cause.words.c_str(), rank());
    return die(cause.words, Words::cause);
  }
  if (!nobody.empty()) return die(nobody, Words::cause);
  if (unanswered) die(*unanswered, Words::sentence);
}

void MeshGroup::give_up(const std::string& sentence) {
  gave_up_ = Clock::now();
  last_words_ = sentence;
  health_->propose("error/" + name(), sentence);
}

// With the lock of the flights held.
void MeshGroup::publish(const Flight* flight) {
  auto operations = last_operations_;
  std::sort(operations.begin(), operations.end(), [](const auto& a, const auto& b) { return a.sequence > b.sequence; });
  std::string text;
  for (const Fingerprint& what : operations) {
    if (what.sequence == 0) break;
    if (!text.empty()) text += kNextStanding;
    text += in_store(what, flight && flight->what.sequence == what.sequence ? flight->detail : "");
  }
  if (!text.empty()) health_->post(standing_key(name(), global_rank(rank())), text);
}

void MeshGroup::watch_collective(Flight& flight, Clock::time_point now) {
  const auto age = now - flight.started;
  if (age > timeout()) return give_up(too_late(flight));
  if (!flight.is_collective() || age < kSlow) return;
  if (!flight.published) {
    flight.published = true;
    publish(&flight);
  }
  bool complete = false;
  const std::string sentence = disagreement(flight, complete);
  if (sentence.empty()) return;
  if (!flight.disagreed) flight.disagreed = now;
  if (complete || now - *flight.disagreed > kAllSides) give_up(sentence);
}

// Empty while those who have spoken agree.
std::string MeshGroup::disagreement(const Flight& flight, bool& complete) const {
  struct Side {
    std::string hash, words;
    std::vector<int> ranks;
  };
  std::vector<Side> sides;
  std::vector<Standing> standings(static_cast<size_t>(size()));
  int spoke = 0;
  bool same_op = true;
  for (int r = 0; r < size(); r++) {
    const int global = global_rank(r);
    const auto text = health_->heard(standing_key(name(), global));
    if (!text) continue;
    const auto found = standing_in(*text, flight.what.sequence);
    if (!found) continue;
    const Standing& standing = standings[static_cast<size_t>(r)] = *found;
    spoke++;
    auto side = std::find_if(sides.begin(), sides.end(), [&](const Side& s) { return s.hash == standing.hash; });
    if (side == sides.end()) side = sides.insert(side, {standing.hash, standing.words, {}});
    side->ranks.push_back(global);
  }
  complete = spoke == size();
  const std::string op = flight.what.name();
  const std::string number = " #" + std::to_string(flight.what.sequence) + " (" + in_words(name()) + "): ";
  if (sides.size() > 1) {
    std::string out;
    for (const Side& side : sides) {
      const std::string called = side.words.substr(0, side.words.find_first_of(" ("));
      same_op = same_op && called == op;
      out += (out.empty() ? "" : ", ") + ranks_in_words(side.ranks) + " called " + side.words;
    }
    return (same_op ? op : "operation") + number + "ranks disagree: " + out;
  }
  if (flight.what.op != OpKind::all_to_all) return {};
  std::vector<std::vector<int64_t>> gives(static_cast<size_t>(size())), takes(static_cast<size_t>(size()));
  for (size_t r = 0; r < standings.size(); r++) {
    const std::string& detail = standings[r].detail;
    const size_t bar = detail.find('|');
    if (bar == std::string::npos) continue;
    gives[r] = numbers(detail, 0, bar);
    takes[r] = numbers(detail, bar + 1, detail.size());
  }
  for (size_t from = 0; from < gives.size(); from++)
    for (size_t to = 0; to < takes.size(); to++)
      if (to < gives[from].size() && from < takes[to].size() && gives[from][to] != takes[to][from])
        return op + number + "rank " + std::to_string(options_.ranks[from]) + " sends " +
               std::to_string(gives[from][to]) + " elements to rank " + std::to_string(options_.ranks[to]) +
               ", which expects " + std::to_string(takes[to][from]);
  return {};
}

std::string MeshGroup::too_late(const Flight& flight) const {
  const std::string limit = " did not finish within " + std::to_string(timeout().count()) + " ms";
  if (flight.transfer) return transfer_too_late(flight);
  if (!flight.is_collective()) return flight.title + limit;
  std::vector<int> arrived;
  std::string missing;
  for (int r = 0; r < size(); r++) {
    const int global = global_rank(r);
    const auto text = health_->heard(standing_key(name(), global));
    if (r == rank() || (text && std::strtoull(text->c_str(), nullptr, 10) >= flight.what.sequence)) {
      arrived.push_back(global);
      continue;
    }
    std::string who = health_->who(global);
    const std::string seen = health_->last_seen(global);
    if (who.ends_with(")"))
      who.replace(who.size() - 1, 1, ", " + seen + ")");
    else
      who += " (" + seen + ")";
    missing += (missing.empty() ? "" : ", ") + who;
  }
  return flight.what.title_in(name()) + limit + ": " + ranks_in_words(arrived) + " arrived; " +
         (missing.empty() ? "all ranks are in it: the network is slow or stuck" : "missing: " + missing);
}

}  // namespace cresset::distributed
