// The crew: the workers of this node in one generation. Starts them, passes their output on, finds out at once how each
// one ends, and stops them. A worker's end is also the end of what it has left running in its process group.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator.h"
#include "guardian.h"
#include "options.h"
#include "output.h"

namespace cresset::run {

// What a generation gives to all its workers.
struct Assignment {
  int generation = 0;
  int restarts = 0;
  int world_size = 0, nodes = 0;
  int node_rank = 0, first_rank = 0;
  std::string master_addr;
  uint16_t master_port = 0;
};

class Crew {
 public:
  struct Tools {
    const Options& options;
    const Program& program;
    Guardian& guardian;
    Console& out;
    Console& err;
    std::string mark;  // NAME=VALUE in every worker's environment
    std::string host;
    sigset_t signals;  // the mask that workers start with
  };
  explicit Crew(Tools tools) : tools_(std::move(tools)) {}
  ~Crew();  // leaves no worker behind
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start(const Assignment& assignment);
  bool empty() const { return alive_ == 0; }
  const Assignment& assignment() const { return assignment_; }

  // After SIGCHLD. The deaths since the last look, with the status 0 among them.
  std::vector<Death> collect();

  void signal(int signal);
  // SIGTERM after `grace` seconds, SIGKILL after the --stop-grace.
  void stop(double grace, Time now);
  // This signal now, SIGKILL after the --stop-grace.
  void stop_by(int signal, Time now);
  void kill();
  void tick(Time now);
  std::optional<Time> next_tick() const;
  // Whether it was the launcher that told the workers to end.
  bool told_to_end() const { return told_; }
  int unclean() const { return unclean_; }

  void add_to(std::vector<pollfd>& polled);  // streams that may be read
  void pump(const std::vector<pollfd>& polled);

  const std::string& log_folder() const { return log_folder_; }  // of all generations; empty while nothing is in it

 private:
  struct Worker {
    int rank = 0;
    pid_t pid = -1;
    bool alive = true;
    Time started;
    std::unique_ptr<LineStream> out, err;
  };
  void start_worker(int local_rank);
  void reap_orphans() const;
  void end_orphans() const;
  std::vector<std::string> environment_of(int local_rank) const;
  std::string prefix_of(int rank, const Console& console) const;
  bool has_the_terminal(int local_rank) const;
  Descriptor open_log(int rank, const char* name);

  Tools tools_;
  Assignment assignment_;
  std::vector<Worker> workers_;
  std::vector<LineStream*> polled_;  // the last that were added, at the end of the list
  int alive_ = 0, unclean_ = 0;
  bool told_ = false;
  std::string log_folder_;
  std::optional<Time> term_at_, kill_at_;
};

}  // namespace cresset::run
