// Real processes for tests: run_ranks forks one per rank, collects how each ended and what it said, kills all of them
// at the deadline, and checks that none is left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/message_when.h"
#include "tests/support/ports.h"

namespace cresset::testing {

struct RankOutcome {
  int status = -1;        // exit status; -1: killed by a signal
  int signal = 0;         // which
  bool overtime = false;  // killed at the deadline
  std::string text;       // what it said
};

struct Outcome {
  std::vector<RankOutcome> ranks;
  bool succeeded() const;       // every rank exited with 0
  std::string summary() const;  // for messages
  const std::string& operator[](size_t rank) const { return ranks[rank].text; }
};

class Processes {
 public:
  using Body = std::function<void(int rank)>;
  // The body runs in a child with RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set. It ends with status 1 when it
  // throws (the error's text is said) or when a gtest check failed in it, and with 0 otherwise.
  Processes(int count, const Body& body);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void signal(int rank, int number) const;
  // Until the rank has said `text`; false after a generous time.
  bool wait_for(int rank, const std::string& text);
  Outcome wait(std::chrono::milliseconds deadline);
  uint16_t port() const { return port_; }  // rank 0's store
  pid_t pid(int rank) const { return children_[static_cast<size_t>(rank)].pid; }

 private:
  struct Child {
    pid_t pid = -1;
    int fd = -1;
    RankOutcome outcome;
    bool ended = false;
  };
  bool collect(int timeout_ms);
  void read_from(Child& child);
  std::vector<Child> children_;
  uint16_t port_;
};

constexpr std::chrono::milliseconds kDeadline = std::chrono::seconds(60);

Outcome run_ranks(int count, const Processes::Body& body, std::chrono::milliseconds deadline = kDeadline);

// In a child: adds to its outcome's text.
void say(const std::string& text);

void pause_for(int milliseconds);
std::string host();
// "rank 1 (host a, pid 7)": as errors name a process.
std::string who(const Processes& processes, int rank);

bool port_listens(uint16_t port);

}  // namespace cresset::testing
