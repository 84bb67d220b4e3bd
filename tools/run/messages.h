// What launchers tell each other. Every node's launcher is an agent that has events to report; the first node's also
// coordinates, and answers with commands. Between nodes both travel through the store as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cresset::run {

// One worker's end.
struct Death {
  int rank = -1;
  std::string host;
  int64_t pid = 0;
  int wait_status = 0;
  double after = 0;        // seconds since its start
  std::string at;          // the time of day
  std::string last_lines;  // of its stderr
  int64_t order = 0;       // of the look that found it, by the machine's clock: in the same look, the same
};

struct Event {
  enum class Kind : uint8_t {
    hello,  // an agent is there: host, workers, node_rank, min_nodes, max_nodes, run_id
    died,   // a worker of its own ended, not told to, well or with an error: generation, death
    ended,  // no worker of the generation is left; clean: all ended with 0 by themselves; workers: how many did not
    bye,    // the agent leaves, and why: text
    lost,   // its connection broke, or it has been silent for too long: text
  };
  Kind kind = Kind::hello;
  int generation = 0;
  std::string host, run_id, text;
  int workers = 0;
  int node_rank = -1;
  int min_nodes = 1, max_nodes = 1;
  bool clean = false;
  Death death;
};

struct Member {
  std::string agent, host;
  int node_rank = 0, first_rank = 0, workers = 0;
};

struct Command {
  enum class Kind : uint8_t {
    start,     // generation, restarts, members: start your workers
    stop,      // generation, grace: let no worker of it live
    refuse,    // agent, text: this one cannot take part
    end,       // status, text: the run is over
    announce,  // generation, members: their ranks are lost; for the first node, which tells the workers
    say,       // text, on the first node only
  };
  Kind kind = Kind::say;
  int generation = 0;
  int restarts = 0;  // that were used up by failures
  int world_size = 0;
  std::vector<Member> members;
  double grace = 0;
  int status = 0;
  std::string agent, text;
};

std::string encode(const Event& event);
std::string encode(const Command& command);
// Throw std::runtime_error for text that no launcher has written.
Event decode_event(std::string_view text);
Command decode_command(std::string_view text);

}  // namespace cresset::run
