// What the command line of cresset-run asks for. torchrun's names, with dashes or underscores; a wrong value is an
// error whose text names the option, what was found and what was expected.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cresset::run {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Which of a worker's streams something holds for.
struct Streams {
  bool out = false;
  bool err = false;
};

struct Options {
  enum class Asked : uint8_t { run, help, version };
  Asked asked = Asked::run;

  std::string program;
  std::vector<std::string> arguments;

  int workers = 1;  // of this node
  int min_nodes = 1;
  int max_nodes = 1;
  int node_rank = -1;  // -1: the order of arrival decides
  std::string host;    // of the store; empty: loopback, for one node
  uint16_t port = 0;
  std::string run_id;
  std::string token;

  int max_restarts = 0;
  double monitor_interval = 1;      // seconds between two signs of life to the other nodes
  double stop_grace = 5;            // from SIGTERM to SIGKILL
  double rendezvous_timeout = 300;  // for the nodes to come together
  double last_call = 3;             // how long MIN nodes wait for more

  std::string log_dir;
  std::vector<Streams> shown;  // on the console, per local rank
  bool prefix = true;

  std::vector<std::string> notes;  // to be said once
};

// The arguments without the program's own name. Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);
const char* help_text();

// The cores that this process may run on.
int available_cores();

}  // namespace cresset::run
