// Health: who is there, who is gone and why, as the store knows it. One per process and generation. Three threads: a
// listener that keeps a copy of the shared table, a writer that beats and reports, and a watchdog that never waits for
// the store, so that a deadline holds even when the store's host is stopped.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "cresset/distributed/fingerprint.h"
#include "cresset/distributed/store.h"

namespace cresset::distributed {

// A group as the watchdog sees it. Called often: it must be quick and must not use the store.
class Watched {
 public:
  virtual ~Watched() = default;
  virtual void watch() = 0;
  // "NAME=SEQUENCE": how far this rank has come, for the note that it leaves.
  virtual std::string progress() const = 0;
};

struct HealthOptions {
  int rank = 0;
  int world_size = 1;
  std::shared_ptr<Store> store;  // under the generation's prefix
  std::string scope;             // in front of our own keys: a second group in one process needs other names
  bool launcher_store = false;   // the launcher keeps the table, not rank 0
  bool keeps_store = false;      // this process does: with it the table is gone
  // Who came to the store with another secret than this rank has, in words; empty: nobody. It may have been a stranger
  // who only says so: nothing may depend on it but words.
  std::function<std::string()> turned_away;
};

class Health : public std::enable_shared_from_this<Health> {
 public:
  using Clock = std::chrono::steady_clock;

  static std::shared_ptr<Health> start(HealthOptions options);
  ~Health();

  // Says that this rank is here, and waits for all others. Names those who did not come.
  void join(Milliseconds timeout);
  void add(const std::shared_ptr<Watched>& group);

  // What others tell of a group's operations is kept while it is open. The last member to close it removes its keys
  // from the store.
  void open_group(const std::string& name);
  void close_group(const std::string& name, const std::vector<int>& ranks);
  // Keys that nobody will ask for any more: here they are forgotten, in the store those go that this rank has set.
  void forget(const std::string& prefix);
  // Everything that this rank has set, for removal when all others have left, too.
  std::vector<std::string> keys_left_behind() const;

  // Throws what was found wrong with this meeting, by any rank.
  void check_meeting() const;

  // "rank 2 (host b, pid 811)"
  std::string who(int rank) const;
  // "silent for 6 s; last operation: broadcast #41"
  std::string last_seen(int rank) const;

  // Why an operation of this group cannot end: somebody died, left before it, or the store is gone. `settling` means
  // that something happened whose cause may still be told.
  struct Cause {
    std::string words;
    bool settling = false;
  };
  Cause cause(const std::vector<int>& ranks, const std::string& group, const Fingerprint* in_flight) const;
  // One who has left in good order: with words, from then on nothing is to be expected of it.
  struct Gone {
    std::string words;
    Clock::time_point when;
  };
  std::optional<Gone> departure_of(int rank) const;
  // As cause(), for one whose connection broke: waits a moment for the notice, unless `known` says that there is a
  // better explanation.
  std::string wait_for_cause(const std::vector<int>& ranks, const std::string& group, const Fingerprint& in_flight,
                             Milliseconds at_most, const std::function<bool()>& known) const;

  // What stands in the table, as far as this process has heard.
  std::optional<std::string> heard(const std::string& key) const;
  // Waits until `enough` says so, looking again whenever something is heard.
  bool wait_heard(const std::function<bool()>& enough, Clock::time_point deadline) const;
  // Waits until the writer has nothing left to do, but not for long: a store that is stuck must not hold anybody up.
  bool flush(Milliseconds at_most);
  // Written soon, in order, by the writer.
  void post(const std::string& key, const std::string& value);
  // The first sentence for a key wins; all ranks hear it.
  void propose(const std::string& key, const std::string& value);
  std::string key(const std::string& name) const { return options_.scope + name; }

  // Whoever keeps the table must not end before the others have read in it why: waits for that, a second at most.
  // Errors (error/…, and outcomes that are one) are acknowledged by all who hear of them.
  void let_others_hear(const std::string& key) const;
  // The same without waiting; `since` is when the error was found.
  bool others_have_heard(const std::string& key, Clock::time_point since) const;

  // The last operation that this rank began; `group` is the number in the group's name, 0 for the default one.
  void note_operation(const Fingerprint& what, int group) {
    last_group_.store(group, std::memory_order_relaxed);
    last_op_.store(what.name(), std::memory_order_relaxed);
    last_sequence_.store(what.sequence, std::memory_order_relaxed);
    begun_.fetch_add(1, std::memory_order_relaxed);
  }

  // Tells the others how this rank goes: "left", or "exited with status 0".
  void leave_note(const std::string& how);
  // Then, for whoever keeps the table: until all others have left or died.
  void wait_for_others(Milliseconds at_most);
  // Then ends the threads.
  void leave();

 private:
  struct Heard {
    std::string value;
    Clock::time_point when;
  };
  struct Departure {
    int rank;
    bool died;  // otherwise it left a note
    Clock::time_point when;
  };
  struct Task {
    enum Kind { set, propose, will, withdraw, erase, close } kind;
    std::string key, value;
    std::vector<int> ranks = {};  // of a group that is closed
  };

  explicit Health(HealthOptions options);
  void listen(const std::shared_ptr<Store>& store);
  void hear(const std::string& key, const std::string& value);
  void write(const std::shared_ptr<Store>& store);
  void tell_who_was_turned_away();
  void carry_out(Store& store, const Task& task);
  void close_in_store(Store& store, const Task& task) const;
  void look_after();
  void lost_store();
  void ask_writer(Task task);
  Milliseconds beat_interval() const;
  std::string disagreement_of_members() const;
  std::string named(int rank) const;  // who(), with the lock held
  bool failed(const Departure& departure) const;
  std::string words_of(const Departure& departure, const Fingerprint* in_flight) const;
  bool left_before(const Departure& departure, const std::string& group, const Fingerprint* in_flight) const;

  HealthOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, Heard> table_;
  std::vector<Departure> departures_;
  std::deque<Task> tasks_;
  std::vector<std::weak_ptr<Watched>> groups_;
  std::set<std::string> open_groups_{"default"};
  std::set<std::string> posted_;  // keys in the store that this rank has set and not removed
  bool joined_ = false;           // the rank is ours: until then nothing is said in its name
  bool told_turned_away_ = false;
  bool stopping_ = false;
  bool writing_ = false;
  int threads_ = 0;
  std::optional<Clock::time_point> lost_store_;
  std::atomic<int> last_group_{0};
  std::atomic<const char*> last_op_{"barrier"};
  std::atomic<uint64_t> last_sequence_{0};
  std::atomic<uint64_t> begun_{0};  // sends and receives are counted apart, so numbers come twice
};

// "rank 1", "ranks 0, 2"
std::string ranks_in_words(const std::vector<int>& ranks);

}  // namespace cresset::distributed
