// The connections between the ranks of a group, each proved by both sides before anybody else sees it (peer_proof.h). A
// rank listens at one port, which stands in the store, and visits all ranks below its own; whoever comes and is none of
// the ranks that are waited for is turned away, and listening goes on.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cresset/distributed/socket.h"

namespace cresset::distributed {

struct MeetingOptions {
  int rank = 0;
  int size = 1;
  std::vector<int> names;        // what messages call the ranks; empty: as they are
  std::shared_ptr<Store> store;  // of this group alone
  std::string host;              // the address to listen at, in numbers
  std::string token;             // may be empty
  std::string group;             // in every proof
  Milliseconds timeout = kDefaultTimeout;
};

class CRESSET_API Meeting {
 public:
  explicit Meeting(MeetingOptions options);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  // The connection to each rank; the own place stays empty. Throws DistributedError at the timeout, when a rank does
  // not listen any more, or soon after abandon().
  std::vector<Socket> run();
  // From another thread.
  void abandon() { abandoned_ = true; }

 private:
  struct Arrival;
  struct Visit;

  void publish();
  void look_for_addresses();
  void set_out();
  int next_pause() const;
  void wait_and_serve();
  void accept_some();
  bool serve(Arrival& arrival);
  void serve(Visit& visit, short events);
  void advance(Visit& visit, short events);
  void turn_away(const Arrival& arrival, const char* why);
  void drop_late_arrivals();
  void settle(int peer, Socket socket);
  std::string who_is_missing() const;

  MeetingOptions options_;
  std::string ticket_;
  Socket listener_;
  TimePoint deadline_, accept_after_{}, look_after_{};
  Milliseconds look_pause_{2};
  std::vector<Socket> settled_;
  int missing_ = 0;
  std::vector<std::unique_ptr<Arrival>> arrivals_;  // have not proved anything yet; the oldest first
  std::vector<std::unique_ptr<Visit>> visits_;      // to the ranks below, in their order
  int turned_away_ = 0;
  std::string last_turned_away_;
  std::atomic<bool> abandoned_{false};
};

}  // namespace cresset::distributed
