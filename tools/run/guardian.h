// The guardian: a tiny process that ends what the workers have started when the launcher itself is killed. The workers
// get SIGKILL from the kernel then, but their own children would not. One that is killed is replaced.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

#include "process.h"

namespace cresset::run {

class Guardian {
 public:
  // To be made before any thread. `mark` is the environment variable that all processes of this launcher carry.
  explicit Guardian(const std::string& mark);
  ~Guardian();  // ends it, and waits for it
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  void watch(pid_t group);
  void forget(pid_t group);
  pid_t pid() const { return pid_; }
  // After its death.
  void replace();

 private:
  void start();
  void send(pid_t message);

  const std::string mark_;
  std::set<pid_t> groups_;
  Descriptor line_;
  int replaced_ = 0;
  pid_t pid_ = -1;
};

}  // namespace cresset::run
