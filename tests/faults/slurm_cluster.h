// SlurmCluster: a cluster of two nodes, both on this machine, that lives as long as one trial: its own configuration,
// keys and files in a folder of its own, on a loopback device of its own. The machine's Slurm, if it has one, hears
// nothing of it.
#pragma once

#include <functional>

#include "trial.h"

namespace faults {

class SlurmCluster {
 public:
  // Why there can be none here; empty when there can.
  static std::string missing();

  explicit SlurmCluster(Trial& trial);
  ~SlurmCluster();  // ends the daemons in order, so that the trial finds nothing of theirs
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  // Why the machine lets none start; a cluster that starts and does not come up is a failed check and not ready.
  const std::string& refusal() const { return refusal_; }
  bool ready() const { return ready_; }
  // A command of Slurm's under this name: {"srun", "-n", "4", ...}.
  void start(const std::string& name, const Words& command);

 private:
  void write_configuration() const;
  // Until both nodes are there and no job is left; false, and a failed check, after half a minute.
  bool wait_until_idle();
  void start_daemon(Words& among, const std::string& name, const Words& command);
  // As long as the daemon runs, for 20 s at most.
  void wait_while(const std::string& name, const std::function<bool()>& condition) const;

  Trial& trial_;
  Folder folder_;
  std::map<std::string, std::string> environment_;
  Words nodes_, others_;
  std::string refusal_;
  int asked_ = 0;
  bool ready_ = false;
};

}  // namespace faults
