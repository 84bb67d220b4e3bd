// The launcher of one node: one loop over signals, workers' output, news from the store and the clock. The first node's
// launcher also keeps the store and has the coordinator; the others send it their events through the store.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "coordinator.h"
#include "cresset/distributed/tcp_store.h"
#include "crew.h"
#include "guardian.h"
#include "link.h"
#include "messages.h"
#include "options.h"
#include "output.h"

namespace cresset::run {

class Launcher {
 public:
  // From the main thread, with the program looked for already. `signals` is the mask that workers start with.
  Launcher(const Options& options, const Program& program, const sigset_t& signals);
  ~Launcher();

  int run();  // the exit status

 private:
  void open_store();
  void wait_for_something();
  void read_signals();
  void read_news();
  void hear_agents(const std::vector<Link::Entry>& news);
  void look_for_silence();
  void look_at_workers();
  void interrupted_by(int signal);
  void tell(const Event& event);
  void take_leave(const std::string& why);
  void obey_coordinator();
  void obey(const Command& command);
  void start(const Command& command);
  void announce(int generation, int rank, const std::string& how);
  void end(int status, const std::string& text);
  void say(const std::string& text);
  // To an endpoint others may come even when this node expects none: they are to hear that they are wrong here.
  bool others_may_come() const { return !options_.host.empty(); }
  bool done() const;
  std::optional<Time> next_tick() const;

  const Options& options_;
  const std::string host_, mark_, id_;
  Guardian guardian_;
  Descriptor wake_, signals_;
  Console out_, err_;
  Crew crew_;
  std::shared_ptr<distributed::TcpStore> store_;
  std::unique_ptr<Link> link_;
  std::unique_ptr<Coordinator> coordinator_;  // on the first node only
  std::map<std::string, Time> heard_;         // the other agents' last signs of life
  Time beaten_;                               // this one's
  Time looked_, awake_since_;
  int events_sent_ = 0, commands_sent_ = 0;
  bool reported_end_ = true;  // of the generation that runs
  std::optional<int> status_;
  std::optional<Time> leave_by_;  // how long the others may take to hear of the end
  int interrupted_ = 0;
  bool leaving_ = false;
  bool took_part_ = false;
};

}  // namespace cresset::run
