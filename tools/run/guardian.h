// The guardian: a tiny process that ends what the workers have started when the launcher itself is killed. The workers
// get SIGKILL from the kernel then, but their own children would not.
#pragma once

#include <sys/types.h>

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

 private:
  Descriptor line_;
  pid_t pid_ = -1;
};

}  // namespace cresset::run
