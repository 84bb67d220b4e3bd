// The three threads of Health, how a rank joins and leaves, and how long whoever keeps the table stays for the others.
#include "cresset/distributed/health.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "cresset/core/error.h"
#include "cresset/core/warning.h"
#include "cresset/distributed/health_keys.h"

namespace cresset::distributed {
namespace {

constexpr Milliseconds kTick{20};
// How long whoever keeps the table waits for the others to read of an error.
constexpr Milliseconds kLingers{1000};
constexpr const char* kInitError = "error/init";
constexpr const char* kTurnedAway = "turned away";

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Health::Health(HealthOptions options) : options_(std::move(options)) {}

Health::~Health() = default;

std::shared_ptr<Health> Health::start(HealthOptions options) {
  std::shared_ptr<Health> health(new Health(std::move(options)));
  // Connections of their own: the listener's waits long, and the writer must not wait for the caller.
  auto listening = health->options_.store->clone(), writing = health->options_.store->clone();
  health->threads_ = 3;
  const auto run = [health](auto body) {
    std::thread([health, body] {
      body();
      const std::lock_guard lock(health->mutex_);
      health->threads_--;
      health->changed_.notify_all();
    }).detach();
  };
  run([health, listening] { health->listen(listening); });
  run([health, writing] { health->write(writing); });
  run([health] { health->look_after(); });
  return health;
}

void Health::listen(const std::shared_ptr<Store>& store) {
  uint64_t version = 0;
  try {
    // Before this rank has joined, nobody says goodbye in its name: the listener looks itself whether it may go.
    for (bool joined = false;;) {
      Changes changes = store->changes("", version, joined ? Milliseconds(2000) : kTick);
      version = changes.version;
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      joined = joined_;
      for (const auto& [key, value] : changes.entries) hear(key, value);
      if (!changes.entries.empty()) changed_.notify_all();
    }
  } catch (const std::exception&) {
    lost_store();
  }
}

void Health::hear(const std::string& key, const std::string& value) {
  // The launcher knows nothing of scopes; all other keys of ours stand under it.
  std::string name = key;
  if (!options_.scope.empty()) {
    if (key.starts_with(options_.scope))
      name = key.substr(options_.scope.size());
    else if (!key.starts_with("exit/"))
      return;
  }
  const auto group = members_only(name);
  if (group && !open_groups_.contains(*group)) return;
  if (name.starts_with("closed/")) return;  // between the writers of a group's members
  const bool news = !table_.contains(name);
  table_[name] = {value, Clock::now()};
  if (!news) return;
  const bool is_error = name.starts_with("error/") || (name.ends_with("/outcome") && value != "passed");
  if (is_error && joined_ && !stopping_ && !lost_store_) {
    tasks_.push_back({Task::set, of(("knows/" + name).c_str(), options_.rank), ""});
    posted_.insert(tasks_.back().key);
  }
  if (const auto rank = rank_in(name, "death/")) departures_.push_back({*rank, true, Clock::now()});
  if (const auto rank = rank_in(name, "left/")) departures_.push_back({*rank, false, Clock::now()});
  // Of one that died before it had left its will, only the launcher can tell.
  if (const auto rank = rank_in(name, "exit/"))
    if (!table_.contains(of("left", *rank))) departures_.push_back({*rank, true, Clock::now()});
}

void Health::write(const std::shared_ptr<Store>& store) {
  uint64_t beats = 0, told = 0, seen = 0;
  auto next_beat = Clock::now(), next_look = next_beat;
  try {
    while (true) {
      std::unique_lock lock(mutex_);
      writing_ = false;
      changed_.notify_all();
      const auto has_work = [&] { return stopping_ || !tasks_.empty(); };
      if (joined_)
        changed_.wait_until(lock, next_look, has_work);
      else
        changed_.wait(lock, [&] { return has_work() || joined_; });
      if (tasks_.empty() && stopping_) return;
      const bool joined = joined_;
      if (!tasks_.empty()) {
        const Task task = std::move(tasks_.front());
        tasks_.pop_front();
        writing_ = true;
        lock.unlock();
        carry_out(*store, task);
      }
      if (lock.owns_lock()) lock.unlock();
      if (!joined || Clock::now() < next_look) continue;
      next_look = Clock::now() + beat_interval() / 5;
      // Whoever stays in one operation says so at once: it may be the one that others will ask about.
      const uint64_t begun = begun_.load(std::memory_order_relaxed);
      const bool stays = begun == seen && begun != told;
      seen = begun;
      if (stays || Clock::now() >= next_beat) {
        std::string beat = std::to_string(beats++) + "\t";
        told = begun;
        if (told > 0) {
          beat += message_of(last_op_.load(std::memory_order_relaxed), " #",
                             last_sequence_.load(std::memory_order_relaxed));
          if (const int group = last_group_.load(std::memory_order_relaxed)) beat += message_of(" of group ", group);
        }
        store->set(key(of("beat", options_.rank)), beat);
        next_beat = Clock::now() + beat_interval();
      }
    }
  } catch (const std::exception&) {
    lost_store();
  }
}

void Health::carry_out(Store& store, const Task& task) {
  const std::string name = key(task.key);
  switch (task.kind) {
    case Task::set:
      store.set(name, task.value);
      break;
    case Task::propose:
      store.compare_set(name, "", task.value);
      break;
    case Task::will:
      store.last_will(name, task.value);
      break;
    case Task::withdraw:
      store.withdraw_will(name);
      break;
    case Task::erase:
      store.delete_key(name);
      break;
    case Task::close:
      store.set(name, task.value);
      close_in_store(store, task);
      break;
  }
}

// With very many ranks the beats of all to all would be a load of their own.
Milliseconds Health::beat_interval() const { return Milliseconds(1000) * std::max(1, options_.world_size / 64); }

void Health::lost_store() {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  tasks_.clear();
  if (!stopping_ && !lost_store_) lost_store_ = Clock::now();
  changed_.notify_all();
}

void Health::look_after() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kTick);
    std::vector<std::shared_ptr<Watched>> groups;
    std::erase_if(groups_, [](const auto& group) { return group.expired(); });
    for (const auto& group : groups_)
      if (auto alive = group.lock()) groups.push_back(std::move(alive));
    lock.unlock();
    for (const auto& group : groups) group->watch();
    groups.clear();
    lock.lock();
  }
}

void Health::add(const std::shared_ptr<Watched>& group) {
  const std::lock_guard lock(mutex_);
  groups_.push_back(group);
}

void Health::join(Milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  Store& store = *options_.store;
  const std::string self = std::to_string(options_.rank);
  const std::string mine = message_of(host_name(), "\t", getpid(), "\t", options_.world_size);
  const std::string standing = store.compare_set(key(of("member", options_.rank)), "", mine);
  if (standing != mine) {
    const auto parts = split(standing, '\t');
    throw DistributedError(
        message_of("init_process_group: rank ", self, " is taken by another process (host ", parts[0], ", pid ",
                   parts.size() > 1 ? parts[1] : "?", "): two processes have the same rank, or the store ",
                   store.name(), " was used before", store.name().starts_with("file:") ? " (remove the file)" : ""));
  }
  {
    const std::lock_guard lock(mutex_);
    joined_ = true;
  }
  ask_writer({Task::will, of("death", options_.rank), "lost"});
  // What a killed run left in a file looks like members that have died, or of another world.
  const bool is_file = store.name().starts_with("file:");
  const std::string stale =
      is_file ? message_of(" (", store.name(), "; remove the file if an earlier run left it)") : "";
  std::vector<int> everyone, missing;
  for (int rank = 0; rank < options_.world_size; rank++) everyone.push_back(rank);
  Cause failed;
  std::optional<std::string> error;
  bool told = false;
  const bool complete = wait_heard(
      [&] {
        error = heard(kInitError);
        if (error) return true;
        tell_who_was_turned_away();
        const std::string words = disagreement_of_members();
        if (!words.empty()) {
          if (!told) propose(kInitError, "init_process_group: " + words + stale);
          told = true;
          return false;
        }
        failed = cause(everyone, "", nullptr);
        if (!failed.words.empty()) return true;
        missing.clear();
        for (const int rank : everyone)
          if (!heard(of("member", rank))) missing.push_back(rank);
        return missing.empty();
      },
      deadline);
  check_meeting();
  CRESSET_CHECK_AS(DistributedError, failed.words.empty(), "init_process_group failed: ", failed.words, stale);
  CRESSET_CHECK_AS(DistributedError, complete, "init_process_group: ", ranks_in_words(missing), " did not join within ",
                   timeout.count(), " ms (world size ", options_.world_size, ")",
                   heard(kTurnedAway) ? "; " + *heard(kTurnedAway) : "");
}

// Perhaps a rank with another secret, for which all others will wait in vain; perhaps a stranger who says that it is
// one. So it ends nothing, but whoever waits may read of it.
void Health::tell_who_was_turned_away() {
  if (!options_.turned_away || told_turned_away_) return;
  const std::string words = options_.turned_away();
  if (words.empty()) return;
  told_turned_away_ = true;
  CRESSET_WARN("init_process_group: ", words);
  post(kTurnedAway, words);
}

void Health::check_meeting() const {
  const auto error = heard(kInitError);
  if (!error) return;
  let_others_hear(kInitError);
  throw DistributedError(*error);
}

void Health::let_others_hear(const std::string& key) const {
  const auto since = Clock::now();
  wait_heard([&] { return others_have_heard(key, since); }, since + kLingers);
}

bool Health::others_have_heard(const std::string& key, Clock::time_point since) const {
  const std::lock_guard lock(mutex_);
  if (!options_.keeps_store || lost_store_ || stopping_) return true;
  const auto error = table_.find(key);
  if (error != table_.end()) since = error->second.when;
  if (Clock::now() - since > kLingers) return true;
  if (error == table_.end()) return false;
  // Who comes late to a meeting that has failed finds no store where it could read so.
  for (int rank = 0; key == kInitError && rank < options_.world_size; rank++)
    if (!table_.contains(of("member", rank))) return false;
  for (const auto& [name, entry] : table_) {
    const auto rank = rank_in(name, "member/");
    if (!rank || *rank == options_.rank || table_.contains(of(("knows/" + key).c_str(), *rank))) continue;
    if (table_.contains(of("left", *rank)) || table_.contains(of("death", *rank))) continue;
    // One that is stopped reads nothing.
    const auto beat = table_.find(of("beat", *rank));
    if (beat == table_.end() || Clock::now() - beat->second.when < beat_interval() * 5 / 2) return false;
  }
  return true;
}

std::optional<std::string> Health::heard(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find(key);
  if (found == table_.end()) return {};
  return found->second.value;
}

bool Health::wait_heard(const std::function<bool()>& enough, Clock::time_point deadline) const {
  while (!enough()) {
    std::unique_lock lock(mutex_);
    if (Clock::now() >= deadline) return false;
    // Not for the whole time: a cause that settles makes no noise.
    changed_.wait_until(lock, std::min(deadline, Clock::now() + kTick));
  }
  return true;
}

void Health::ask_writer(Task task) {
  const std::lock_guard lock(mutex_);
  if (lost_store_) return;
  if (task.kind == Task::set || task.kind == Task::propose) posted_.insert(task.key);
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Health::post(const std::string& key, const std::string& value) { ask_writer({Task::set, key, value}); }

void Health::propose(const std::string& key, const std::string& value) { ask_writer({Task::propose, key, value}); }

bool Health::flush(Milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return (tasks_.empty() && !writing_) || lost_store_; });
}

void Health::wait_for_others(Milliseconds at_most) {
  wait_heard(
      [&] {
        const std::lock_guard lock(mutex_);
        if (lost_store_) return true;
        for (int rank = 0; rank < options_.world_size; rank++) {
          if (rank != options_.rank && !table_.contains(of("left", rank)) && !table_.contains(of("death", rank)))
            return false;
        }
        return true;
      },
      Clock::now() + at_most);
}

void Health::leave_note(const std::string& how) {
  std::string note = how;
  std::vector<std::shared_ptr<Watched>> groups;
  {
    const std::lock_guard lock(mutex_);
    if (!joined_) return;  // the rank is another process's, which has not left
    for (const auto& group : groups_)
      if (auto alive = group.lock()) groups.push_back(std::move(alive));
  }
  for (const auto& group : groups) note += message_of("\t", group->progress());
  post(of("left", options_.rank), note);
  flush(Milliseconds(1000));
}

void Health::leave() {
  std::unique_lock lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  if (joined_ && !lost_store_) {
    tasks_.push_back({Task::withdraw, of("death", options_.rank), ""});
    // The listener waits for changes: here is one.
    tasks_.push_back({Task::set, of("goodbye", options_.rank), ""});
  }
  changed_.notify_all();
  // A store that is stuck keeps its threads; they hold what they need.
  changed_.wait_for(lock, Milliseconds(1000), [&] { return threads_ == 0; });
}

}  // namespace cresset::distributed
