#include "coordinator.h"

#include <sys/wait.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>

#include "process.h"

namespace cresset::run {
namespace {

std::string counted(int count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string in_seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out;
}

// Death by a signal that no program sends itself when it meets an error.
bool from_outside(const Death& death) {
  return WIFSIGNALED(death.wait_status) && WTERMSIG(death.wait_status) != SIGABRT &&
         WTERMSIG(death.wait_status) != SIGTERM;
}

std::string in_words(int min_nodes, int max_nodes) {
  return (min_nodes == max_nodes ? "" : std::to_string(min_nodes) + ":") + std::to_string(max_nodes);
}

std::string name_of(const Death& death) {
  return "rank " + std::to_string(death.rank) + " (pid " + std::to_string(death.pid) + " on " + death.host + ")";
}

// Whether it is known that the one worker was gone before the other. `lost` are the ranks whose connection to the store
// broke, in that order; where it does not know both, the launchers' looks decide, and between machines, whose
// workers start together, the time since the start.
bool gone_before(const Death& one, const Death& other, const std::vector<int>& lost) {
  const auto place = std::find(lost.begin(), lost.end(), one.rank);
  const auto others_place = std::find(lost.begin(), lost.end(), other.rank);
  if (place != lost.end() && others_place != lost.end()) return place < others_place;
  return one.host == other.host ? one.order < other.order : one.after < other.after;
}

}  // namespace

Coordinator::Coordinator(Rules rules, LostRanks lost_ranks, Time now)
    : rules_(std::move(rules)), lost_ranks_(std::move(lost_ranks)), gathering_since_(now) {
  schedule();
}

Coordinator::Agent* Coordinator::find(const std::string& id) {
  const auto found = std::find_if(agents_.begin(), agents_.end(), [&](const Agent& agent) { return agent.id == id; });
  return found == agents_.end() ? nullptr : &*found;
}

std::vector<Coordinator::Agent*> Coordinator::members() {
  std::vector<Agent*> members;
  for (Agent& agent : agents_)
    if (agent.member) members.push_back(&agent);
  return members;
}

void Coordinator::hear(const std::string& id, const Event& event, Time now) {
  Agent* agent = find(id);
  switch (event.kind) {
    case Event::Kind::hello:
      if (agent == nullptr && !over()) welcome(id, event, now);
      break;
    case Event::Kind::died:
      if (agent != nullptr && agent->member && event.generation == generation_) worker_died(event, now);
      break;
    case Event::Kind::ended:
      if (agent != nullptr && agent->member && event.generation == generation_) node_ended(*agent, event, now);
      break;
    case Event::Kind::bye:
    case Event::Kind::lost:
      if (agent != nullptr) leave(id, event, now);
      break;
  }
  schedule();
}

bool Coordinator::disagrees(const Event& event) const {
  return event.min_nodes != rules_.min_nodes || event.max_nodes != rules_.max_nodes;
}

void Coordinator::welcome(const std::string& id, const Event& event, Time now) {
  std::string why;
  if (event.run_id != rules_.run_id) why = "found --rdzv-id " + event.run_id + " (expected " + rules_.run_id + ")";
  const std::string wanted = run::in_words(rules_.min_nodes, rules_.max_nodes);
  const std::string found = run::in_words(event.min_nodes, event.max_nodes);
  // Before the start nobody knows who is right, and all would wait for, or train with, the wrong number.
  if (why.empty() && disagrees(event) && state_ == State::gathering && !agents_.empty()) {
    agents_.push_back({id, event.host, event.workers, event.node_rank});  // it is to hear of it
    return end(1, "nodes disagree about --nnodes: " + wanted + " on the first node (" + agents_.front().host + "), " +
                      found + " on " + event.host);
  }
  if (disagrees(event)) why += (why.empty() ? "" : ", ") + ("found --nnodes " + found + " (expected " + wanted + ")");
  for (const Agent& other : agents_)
    if (event.node_rank >= 0 && other.wanted_rank == event.node_rank)
      why = "--node-rank " + std::to_string(event.node_rank) + " is taken by " + other.host;
  if (!why.empty()) {
    command(Command::Kind::refuse, why);
    commands_.back().agent = id;
    return;
  }
  agents_.push_back({id, event.host, event.workers, event.node_rank});
  if (state_ == State::gathering) {
    consider_forming(now);
  } else if (state_ == State::running && static_cast<int>(members().size()) < rules_.max_nodes) {
    cause_ = Cause{Cause::Kind::node_came, {}, event.host + " came: the group forms anew", {}};
    stop(0, now);
  }
}

void Coordinator::worker_died(const Event& event, Time now) {
  if (over()) return;
  if (event.death.wait_status == 0) return finished_.push_back(event.death);
  deaths_.push_back(event.death);
  if (state_ == State::running) stop(rules_.grace, now);
}

void Coordinator::node_ended(Agent& agent, const Event& event, Time now) {
  agent.done = true;
  agent.clean = event.clean;
  unclean_ += event.workers;
  conclude_if_done(now);
}

void Coordinator::leave(const std::string& id, const Event& event, Time now) {
  const Agent agent = *find(id);
  std::erase_if(agents_, [&](const Agent& other) { return other.id == id; });
  if (over()) return;
  if (state_ == State::gathering) return consider_forming(now);
  // Nothing is lost with one that had no part, or had done it.
  if (!agent.member || (agent.done && agent.clean)) return conclude_if_done(now);
  if (!gone_) gone_ = "node " + std::to_string(agent.node_rank) + " (" + agent.host + ") " + event.text;
  if (!agent.done) unclean_ += agent.workers;
  command(Command::Kind::announce, "lost with its node " + agent.host);
  commands_.back().members = {{agent.id, agent.host, agent.node_rank, agent.first_rank, agent.workers}};
  if (state_ == State::running) stop(rules_.grace, now);
  conclude_if_done(now);
}

void Coordinator::consider_forming(Time now) {
  const int count = agents_left();
  if (count >= rules_.max_nodes) return form();
  if (count < rules_.min_nodes)
    last_call_.reset();
  else if (!last_call_)
    last_call_ = now + from_seconds(rules_.last_call);
}

void Coordinator::form() {
  std::vector<Agent*> chosen;
  for (Agent& agent : agents_) {
    agent.member = static_cast<int>(chosen.size()) < rules_.max_nodes;
    agent.done = agent.clean = false;
    if (agent.member) chosen.push_back(&agent);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Agent* a, const Agent* b) {
    return (a->wanted_rank < 0 ? INT_MAX : a->wanted_rank) < (b->wanted_rank < 0 ? INT_MAX : b->wanted_rank);
  });
  Command start;
  start.kind = Command::Kind::start;
  world_size_ = 0;
  for (Agent* agent : chosen) {
    agent->node_rank = static_cast<int>(start.members.size());
    agent->first_rank = world_size_;
    start.members.push_back({agent->id, agent->host, agent->node_rank, world_size_, agent->workers});
    world_size_ += agent->workers;
  }
  start.generation = generation_;
  start.restarts = restarts_;
  start.world_size = world_size_;
  if (rules_.max_nodes > 1)
    command(Command::Kind::say, "generation " + std::to_string(generation_) + ": " +
                                    counted(static_cast<int>(chosen.size()), "node") + ", " +
                                    counted(world_size_, "worker") + ": " + who_is_there());
  commands_.push_back(std::move(start));
  last_call_.reset();
  state_ = State::running;
}

void Coordinator::stop(double grace, Time now) {
  state_ = State::stopping;
  // Usually all have ended by then, and one report says everything.
  settle_at_ = now + from_seconds(grace + 0.2);
  command(Command::Kind::stop);
  commands_.back().grace = grace;
}

// Several workers may have died before anyone looked, or a survivor's end may have been reported before the death that
// caused it. The server of the store has seen the connections break one after the other.
Death Coordinator::first_death(const std::vector<int>& lost) const {
  auto place = [&](const Death& death) { return std::find(lost.begin(), lost.end(), death.rank) - lost.begin(); };
  const auto nowhere = static_cast<std::ptrdiff_t>(lost.size());
  const Death* first = &deaths_.front();
  for (const Death& death : deaths_) {
    const bool earlier = place(*first) < nowhere && place(death) < place(*first);
    const bool together = death.host == first->host && death.order == first->order;
    const bool known = place(*first) < nowhere && place(death) < nowhere;
    if (earlier || (together && !known && from_outside(death) && !from_outside(*first))) first = &death;
  }
  return *first;
}

// A worker that ends too early ends well, and it is the others who fail, for want of it.
std::string Coordinator::ended_before(const Death& failed, const std::vector<int>& lost) const {
  if (from_outside(failed)) return {};
  const Death* first = nullptr;
  int others = -1;
  for (const Death& death : finished_) {
    if (!gone_before(death, failed, lost)) continue;
    others++;
    if (first == nullptr || gone_before(death, *first, lost)) first = &death;
  }
  if (first == nullptr) return {};
  char before[64];
  std::snprintf(before, sizeof before, " had ended with status 0, %s%.1f s before", others > 0 ? "the first " : "",
                std::max(0.0, failed.after - first->after));
  return name_of(*first) + (others > 0 ? " and " + counted(others, "other worker") : "") + before +
         ": the likely cause if still needed";
}

void Coordinator::settle_cause() {
  settle_at_.reset();
  if (cause_) return;
  if (gone_) {
    cause_ = Cause{Cause::Kind::node_gone, {}, *gone_, {}};
    return;
  }
  const std::vector<int> lost = lost_ranks_ ? lost_ranks_(generation_) : std::vector<int>();
  const Death first = first_death(lost);
  cause_ = Cause{Cause::Kind::death, first, {}, ended_before(first, lost)};
}

void Coordinator::conclude_if_done(Time now) {
  const std::vector<Agent*> all = members();
  if (!std::all_of(all.begin(), all.end(), [](const Agent* agent) { return agent->done; })) return;
  const bool clean = std::all_of(all.begin(), all.end(), [](const Agent* agent) { return agent->clean; });
  if (state_ == State::running || (clean && !gone_ && deaths_.empty())) {
    std::string text;
    if (!history_.empty()) {
      text = "finished after " + counted(static_cast<int>(history_.size()), "restart");
      for (const std::string& line : history_) text += "\n  " + line;
    }
    return end(0, std::move(text));
  }
  if (state_ != State::stopping) return;
  settle_cause();
  go_on(now);
}

void Coordinator::go_on(Time now) {
  const int left = agents_left();
  if (cause_->kind == Cause::Kind::death && restarts_ >= rules_.max_restarts)
    return end(shell_status(cause_->death.wait_status), summary());
  if (left < rules_.min_nodes)
    return end(1, (gone_ ? *gone_ : in_words(*cause_)) + "; " + counted(left, "node") + " left of at least " +
                      std::to_string(rules_.min_nodes));
  history_.push_back("generation " + std::to_string(generation_) + ": " + in_words(*cause_));
  generation_++;
  std::string next = "generation " + std::to_string(generation_);
  if (cause_->counts()) {
    restarts_++;
    next = "restart " + std::to_string(restarts_) + " of " + std::to_string(rules_.max_restarts) + " (" + next + ")";
  }
  const std::string others = cascade();
  command(Command::Kind::say, (said_ ? "" : in_words(*cause_) + "; ") + (others.empty() ? "" : others + "; ") + next);
  forget_generation();
  state_ = State::gathering;
  gathering_since_ = now;
  form();
}

void Coordinator::forget_generation() {
  deaths_.clear();
  finished_.clear();
  gone_.reset();
  cause_.reset();
  unclean_ = 0;
  said_ = false;
}

void Coordinator::tick(Time now) {
  if (state_ == State::gathering && last_call_ && now >= *last_call_) form();
  if (state_ == State::gathering && now >= gathering_since_ + from_seconds(rules_.rendezvous_timeout))
    end(1, "rendezvous: " + std::to_string(agents_left()) + " of at least " + counted(rules_.min_nodes, "node") +
               " came within " + in_seconds(rules_.rendezvous_timeout) + ": " + who_is_there());
  if (state_ == State::stopping && settle_at_ && now >= *settle_at_) {
    settle_cause();
    command(Command::Kind::say, in_words(*cause_));
    said_ = true;
  }
  schedule();
}

void Coordinator::schedule() {
  wake_.reset();
  if (state_ == State::gathering) {
    wake_ = gathering_since_ + from_seconds(rules_.rendezvous_timeout);
    if (last_call_ && *last_call_ < *wake_) wake_ = last_call_;
  } else if (state_ == State::stopping) {
    wake_ = settle_at_;
  }
}

void Coordinator::give_up(int status, const std::string& why) {
  if (!over()) end(status, why);
}

void Coordinator::end(int status, std::string text) {
  command(Command::Kind::end, std::move(text));
  commands_.back().status = status;
  state_ = State::over;
  schedule();
}

void Coordinator::command(Command::Kind kind, std::string text) {
  Command& command = commands_.emplace_back();
  command.kind = kind;
  command.generation = generation_;
  command.text = std::move(text);
}

std::vector<Command> Coordinator::take_commands() {
  std::vector<Command> commands;
  commands.swap(commands_);
  return commands;
}

std::string Coordinator::who_is_there() const {
  std::string text;
  for (const Agent& agent : agents_)
    text += (text.empty() ? "" : ", ") + agent.host + " (" + counted(agent.workers, "worker") + ")";
  return text.empty() ? "nobody" : text;
}

std::string Coordinator::cascade() const {
  if (!cause_ || cause_->kind != Cause::Kind::death || unclean_ <= 1) return {};
  // Those that failed by themselves may have met the same error, or missed the one that met it first.
  const int failed = std::min(unclean_, static_cast<int>(deaths_.size())) - 1, told = unclean_ - 1 - failed;
  if (failed == 0) return counted(told, "other worker") + " ended because of it";
  return counted(failed, "other worker") + " failed, too" +
         (told > 0 ? "; " + std::to_string(told) + " more ended because of it" : "");
}

std::string Coordinator::in_words(const Cause& cause) {
  if (cause.kind != Cause::Kind::death) return cause.text;
  return in_words(cause.death) + (cause.before.empty() ? "" : "; " + cause.before);
}

std::string Coordinator::in_words(const Death& death) {
  char after[48];
  std::snprintf(after, sizeof after, "%.1f s after its start", death.after);
  const std::string how = end_in_words(death.wait_status, death.last_lines);
  return name_of(death) + (how.starts_with("killed") ? " was " : " ") + how + " at " + death.at + ", " + after;
}

std::string Coordinator::summary() const {
  std::string text = "failed: " + in_words(cause_->death);
  if (generation_ > 0) text += ", in generation " + std::to_string(generation_);
  if (!cause_->death.last_lines.empty())
    text += "\n  its last lines on stderr:\n" + indented(cause_->death.last_lines, "    ");
  if (!cause_->before.empty()) text += "\n  " + cause_->before;
  if (const std::string others = cascade(); !others.empty()) text += "\n  " + others;
  for (const std::string& line : history_) text += "\n  before that, " + line;
  if (rules_.max_restarts > 0) text += "\n  no restart is left of " + std::to_string(rules_.max_restarts);
  return text;
}

}  // namespace cresset::run
