// Groups for tests of what takes too long. Time is short only where it is to run out: a slow machine must not be taken
// for the fault.
#pragma once

#include "cresset/distributed/distributed.h"
#include "tests/distributed/processes.h"

namespace cresset::testing {

constexpr int kPatience = 120'000;  // milliseconds; the test's own deadline comes first

// The ranks meet in peace; then this one's operations have so long.
inline void meet(int milliseconds) {
  distributed::init_process_group();
  distributed::default_group()->set_timeout(std::chrono::milliseconds(milliseconds));
}

// One rank tells the others how far it is, and they wait for that.
inline void tell(const std::string& what) { distributed::default_store()->set(what, ""); }
inline void wait_until(const std::string& what) { distributed::default_store()->wait({what}, kDeadline); }

// Until this rank is known to the store that rank 0, or the test, keeps at the port.
inline void wait_for_member(uint16_t port, int rank) {
  distributed::TcpStoreOptions options;
  options.port = port;
  options.timeout = kDeadline;
  distributed::TcpStore(options).wait({"0/member/" + std::to_string(rank)}, kDeadline);
}

// Until the group has died, whoever found out why.
inline void wait_for_the_end() {
  while (!distributed::default_group()->error()) pause_for(5);
}

}  // namespace cresset::testing
