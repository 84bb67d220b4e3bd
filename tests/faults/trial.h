// Trial: one run of real processes, to which something happens. All output is kept; a deadline ends what does not end
// by itself; and at the end nothing of the run may be left, neither a process (all carry a mark in their environment)
// nor a port that somebody listens on (where the tests may, they run in a network of their own).
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/ports.h"

namespace faults {

using Words = std::vector<std::string>;

std::string launcher();                        // cresset-run
std::string program(const std::string& name);  // bin/faults/NAME

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Trial {
 public:
  Trial();
  ~Trial();  // checks that nothing is left
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // Starts a process whose output is found under `name`.
  void start(const std::string& name, const Words& command, const std::map<std::string, std::string>& environment = {});
  // cresset-run --nproc-per-node N OPTIONS COMMAND, under the name "run".
  void launch(int workers, const Words& options, const Words& command);
  // N processes with RANK and the like in their environment, as mpirun would start them; their names are "0", "1", ...
  void start_ranks(int workers, const Words& command);

  // The exit status, or 128 + the signal; at the deadline the process is killed and the status is -1.
  int finish(const std::string& name, double seconds = 90);
  std::vector<int> finish_ranks(int workers, double seconds = 90);
  bool running(const std::string& name) const;
  void signal(const std::string& name, int number) const;

  std::string output(const std::string& name) const;
  // What a rank said: from the output of the launcher or of srun --label, or from its own.
  std::string said_by(int rank) const;
  // Until the rank has said it, in whole; false (and a failed check) at the end of the time.
  bool wait_for(int rank, const std::string& text, double seconds = 60) const;
  bool wait_for_output(const std::string& name, const std::string& text, double seconds = 60) const;
  pid_t pid_of(int rank) const;  // of its newest start
  std::string everything() const;

  uint16_t port() const { return port_; }  // of start_ranks

 private:
  struct Process {
    pid_t pid = -1;
    std::string file;
    bool ended = false;
    int status = -1;
  };
  Folder folder_;
  std::string mark_;
  std::map<std::string, Process> processes_;
  uint16_t port_ = 0;
};

// What comes after the last `before` up to the end of its line; empty when it is not there.
std::string after_last(const std::string& text, const std::string& before);
// Every "error at T: ..." of a text.
Words errors_in(const std::string& text);
// These, and what a rank said that heard of a death while it was in no operation.
Words named_in(const std::string& text);
// "rank 2 (host h, pid 17)" as it must stand in a survivor's message, for any host.
std::string pattern_of(int rank, pid_t pid);
bool matches(const std::string& text, const std::string& pattern);
// Whether only this rank is blamed.
bool blames_only(const std::string& error, int rank);

bool is_root();
bool has_own_network();
using cresset::testing::free_port;
std::set<int> listening_ports();
// Runs a command to its end; its status.
int shell(const std::string& command);

void pause_ms(int64_t milliseconds);
double seconds_now();

}  // namespace faults
