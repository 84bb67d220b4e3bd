// The coordinator decides for all nodes: when the group forms, who died first, whether to start again, how the run
// ends. It hears events, looks at the clock and gives commands; processes, sockets and the store are others' affair, so
// that it can be tested by itself.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "messages.h"

namespace cresset::run {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
inline Clock::duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

class Coordinator {
 public:
  struct Rules {
    int min_nodes = 1, max_nodes = 1, max_restarts = 0;
    double rendezvous_timeout = 300, last_call = 3;
    double grace = 0.3;  // for survivors to learn of a death by the store and to say what they were doing
    std::string run_id = {};
  };
  // Of a generation's ranks whose connection to the store has broken, in that order.
  using LostRanks = std::function<std::vector<int>(int generation)>;

  Coordinator(Rules rules, LostRanks lost_ranks, Time now);

  void hear(const std::string& agent, const Event& event, Time now);
  // The first node cannot go on: the user stops it, or its workers cannot be started.
  void give_up(int status, const std::string& why);
  void tick(Time now);
  std::optional<Time> next_tick() const { return wake_; }

  std::vector<Command> take_commands();
  bool over() const { return state_ == State::over; }
  int agents_left() const { return static_cast<int>(agents_.size()); }

 private:
  enum class State : uint8_t { gathering, running, stopping, over };
  struct Agent {
    std::string id, host;
    int workers, wanted_rank;
    int node_rank = -1, first_rank = 0;
    bool member = false, done = false, clean = false;
  };
  // Why a generation was stopped.
  struct Cause {
    enum class Kind : uint8_t { death, node_gone, node_came } kind;
    Death death;
    std::string text;    // of a node
    std::string before;  // who had ended well before the death
    bool counts() const { return kind == Kind::death; }
  };

  Agent* find(const std::string& id);
  bool disagrees(const Event& event) const;
  void welcome(const std::string& id, const Event& event, Time now);
  void leave(const std::string& id, const Event& event, Time now);
  void worker_died(const Event& event, Time now);
  void node_ended(Agent& agent, const Event& event, Time now);
  void forget_generation();
  std::vector<Agent*> members();
  void consider_forming(Time now);
  void form();
  void stop(double grace, Time now);
  void settle_cause();
  Death first_death(const std::vector<int>& lost) const;
  std::string ended_before(const Death& failed, const std::vector<int>& lost) const;
  void conclude_if_done(Time now);
  void go_on(Time now);
  void end(int status, std::string text);
  void command(Command::Kind kind, std::string text = {});
  std::string cascade() const;
  std::string summary() const;
  void schedule();
  std::string who_is_there() const;
  static std::string in_words(const Death& death);
  static std::string in_words(const Cause& cause);

  const Rules rules_;
  const LostRanks lost_ranks_;
  State state_ = State::gathering;
  int generation_ = 0, restarts_ = 0, world_size_ = 0;
  int unclean_ = 0;  // workers of this generation that did not end with 0 by themselves
  bool said_ = false;
  std::vector<Agent> agents_;  // in the order of arrival
  Time gathering_since_;
  std::optional<Time> last_call_, settle_at_, wake_;
  std::vector<Death> deaths_;        // of this generation, with an error
  std::vector<Death> finished_;      // of this generation, with status 0
  std::optional<std::string> gone_;  // the member that left this generation
  std::optional<Cause> cause_;
  std::vector<std::string> history_;  // one line per generation that failed
  std::vector<Command> commands_;
};

}  // namespace cresset::run
